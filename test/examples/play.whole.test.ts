// The played session: what it prints, its own hooks, and how it refuses a script that is none.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { createHooks, deny } from 'carabiner'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createJournal, createTestsFirst, forceWithLease } from '../../examples/play/hooks.mjs'
import { eventLines, painter, resultLine, summaryLine } from '../../examples/play/print.mjs'
import { parseScript } from '../../examples/play/script.mjs'
import { hasGit, hasJq, hasPython, pathWith, TOOLS } from './plugin-project.js'
import { type Run, runExample, runExampleIn } from './run-example.js'

let dir: string
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'play-test-'))
})
afterAll(() => rm(dir, { recursive: true }))

const program = new URL('../../examples/play/play.mjs', import.meta.url)
const ESC = String.fromCharCode(0x1b)

/** Writes files beside each other and plays the first. */
async function playFiles(files: Record<string, unknown>): Promise<Run> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(dir, name)), { recursive: true })
    await writeFile(join(dir, name), typeof content === 'string' ? content : JSON.stringify(content))
  }
  return runExample('play/play.mjs', join(dir, Object.keys(files)[0] ?? ''))
}

/** Hooks of plugins are processes; how fast they are must not matter. */
const PATIENCE = 120_000

/** What was printed for one step, without columns and with times left out: they differ. */
function stepOf(stdout: string, number: number): string[] {
  const blocks = stdout.split('\n\n')
  const block = blocks.find((text) => text.trimStart().startsWith(`${number}  `)) ?? ''
  const lines = block.split('\n').map((line) => line.replace(/\s+\d+(\.\d+)? ms$/, '').trim())
  return lines.map((line) => line.replace(/^([\w:#-]+) {2,}/, '$1 '))
}

describe('npm start', () => {
  it('tours what hooks do, in at most 40 lines with those that npm prints', async () => {
    const { code, stdout, stderr } = await runExample('play/play.mjs')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const lines = stdout.trimEnd().split('\n')
    expect(lines.length).toBeLessThanOrEqual(36)
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(130)
    const scenes = stdout.split('\n\n').map((scene) => scene.split('\n').map((line) => line.trim()))
    const shown = scenes.map(([call = '', , reads = '']) => [
      call.split(/ {2,}/)[0],
      reads.replace(/^agent +/, ''),
    ])
    expect(shown.slice(1, -1)).toEqual([
      ['denied', 'use --force-with-lease'],
      ['rewritten', 'ran npm install left-pad --ignore-scripts'],
      ['asked', 'User denied: Publish this package?'],
      ['answered', '12 apples for 3 dollars'],
      ['crashed, so denied', 'hook crashed (fail-safe deny): checkDeploy: deploy.yml is missing'],
      ['removed, still denied', 'use --force-with-lease'],
      ['verified', ''],
    ])
    expect(scenes.at(-1)?.[0]).toContain('npm start -- --all')
  })
})

describe('npm start -- --all', () => {
  let run: Run
  beforeAll(async () => {
    run = await runExample('play/play.mjs', '--all')
  }, PATIENCE)
  const withPython = it.skipIf(!hasPython)

  it('plays the whole session and ends well', () => {
    expect({ code: run.code, stderr: run.stderr }).toEqual({ code: 0, stderr: '' })
  })

  withPython('ends with what came of it (needs python3)', () => {
    expect(run.stdout).not.toContain('is not installed')
    expect(run.stdout.trimEnd().split('\n').at(-1)).toBe(
      'the audit of this session has 33 entries and is whole',
    )
    expect(run.stdout.trimEnd().split('\n').at(-2)).toBe(
      '33 events, 56 hooks run, 6 denied, 2 asked, 3 changed, 2 injected, 2 failed',
    )
  })

  it('shows a hook that came with a project: blocked, trusted, and guarding on when it is changed', () => {
    const scene = run.stdout.split('\nTrust: ')[1]?.split('\n\n')[0]?.split('\n') ?? []
    expect(scene.slice(2)).toEqual([
      '    $ carabiner fire PreToolUse',
      '      bash-validator:PreToolUse#1 skipped: untrusted',
      '      went on, unguarded, and says so',
      '    $ carabiner trust bash-validator --yes',
      '      (shows all of it; without --yes it asks)',
      '      trusted bash-validator',
      '    $ carabiner fire PreToolUse',
      '      bash-validator:PreToolUse#1 ran',
      expect.stringMatching(/^ {6}denied: This command deletes /),
      '    somebody weakens the script; the copy that you trusted still runs',
      "    $ echo 'exit 0' >> .amplifier/hooks/bash-validator/validate.sh",
      '    $ carabiner fire PreToolUse',
      '      bash-validator:PreToolUse#1 ran',
      expect.stringMatching(/^ {6}denied: This command deletes /),
    ])
  })

  const sceneOf = (title: string) => run.stdout.split(`\n${title}: `)[1]?.split('\n\n')[0]?.split('\n') ?? []

  it('shows a question that a person answers elsewhere, and the record of it', () => {
    expect(sceneOf('Approval').slice(2)).toEqual([
      '    $ carabiner fire --as kimi',
      expect.stringMatching(/^ {6}denied: A person must approve this.*Deploy to production\?$/),
      expect.stringMatching(/^ {4}\$ carabiner approvals allow \S+$/),
      expect.stringMatching(/^ {6}\S+ allowed once, the next time the agent makes the same call$/),
      '    $ carabiner fire --as kimi',
      '      went on',
      '    $ carabiner audit verify',
      '      whole: 3 entries',
    ])
  })

  it.skipIf(!hasGit)('shows a plugin from its repository to its end (needs git)', () => {
    expect(sceneOf('Plugins').slice(1)).toEqual([
      '    $ carabiner install ./guard#v1 --here --no-trust --yes',
      '      installed guard  .amplifier/hooks/guard',
      '    $ carabiner fire PreToolUse',
      expect.stringMatching(/^ {6}guard:PreToolUse#1 +skipped: untrusted$/),
      '      went on',
      '    $ carabiner trust guard --yes',
      '      trusted guard',
      '    $ carabiner fire PreToolUse',
      expect.stringMatching(/^ {6}denied: This command deletes /),
      '    $ carabiner test',
      '      4 cases: 4 passed',
      '    $ carabiner disable guard --for 1h',
      '      next carabiner enable guard --here',
      '    $ carabiner fire PreToolUse',
      expect.stringMatching(/^ {6}guard:PreToolUse#1 +skipped: disabled$/),
      expect.stringMatching(/^ {6}went on, unguarded by guard:PreToolUse#1: all of guard is switched off /),
      '    $ carabiner migrate --write',
      '      migrated 1 hook',
      '    $ carabiner fire Stop',
      '      refused to stop: run the tests',
    ])
  })

  it('shows a hook that asks a model', () => {
    expect(sceneOf('Prompt').slice(3)).toEqual([
      '    git push',
      '      ran',
      '    git push --force',
      '      denied: Others may have that history: use --force-with-lease',
    ])
  })

  it.skipIf(!hasPython || !hasJq)('plays resident hooks in three languages (needs python3 and jq)', () => {
    const scene = run.stdout.split('\nResident hooks: ')[1]?.split('\n\n')[0]?.split('\n') ?? []
    const inEach = [
      '      tool-provider: changed tools/0; the model was offered 1 tool',
      '      tool-provider: responded word_count: 4 words',
      expect.stringMatching(/^ {6}review-gate: denied: This command deletes a folder/),
      '      audit-observer: wrote 5 events: llm_request, llm_response, tool_exec_start, tool_exec_end, tool_exec_skipped',
    ]
    const languages = ['Python', 'Node', 'POSIX shell and jq']
    expect(scene.slice(1)).toEqual(languages.flatMap((language) => [`    ${language}`, ...inEach]))
  })

  it('has no colours without a terminal, and no path of this machine', () => {
    expect(run.stdout).not.toContain(ESC)
    expect(run.stdout).not.toContain(tmpdir())
    expect(run.stdout).not.toContain(process.cwd())
  })

  withPython('says how long every event and every hook that ran took (needs python3)', () => {
    const lines = run.stdout.split('\n')
    expect(lines.filter((line) => /^ {4}[A-Z]\w+ +\d+(\.\d+)? ms$/.test(line))).toHaveLength(32)
    expect(lines.filter((line) => /^ {6}[\w:#-]+ .* \d+(\.\d+)? ms$/.test(line))).toHaveLength(56)
  })

  it('shows an observer', () => {
    expect(stepOf(run.stdout, 1).slice(2)).toEqual(['SessionStart', '(observed by journal)', 'went on'])
  })

  it('shows a tool that is offered to the model, and answered', () => {
    expect(stepOf(run.stdout, 3)).toContain('offer_count_lines modify tools')
    expect(stepOf(run.stdout, 3).at(-1)).toBe('= the model got 1 message and 1 tool')
    const answered = stepOf(run.stdout, 11)
    expect(answered).toContain('answer_count_lines respond')
    expect(answered.at(-1)).toBe('= a hook answered in place of the tool')
  })

  it('shows a plugin that formats a file, and a function that warns the user alone', () => {
    const lines = stepOf(run.stdout, 4)
    expect(lines).toContain('formatter:PostToolUse#1 continue')
    expect(lines.join('\n')).toContain('to the user, info (formatter:PostToolUse#1) Formatted src/sum.mjs: ')
    expect(lines).toContain('to the user, warning (comprehensive) Found 1 warning: a TODO')
    expect(lines.at(-1)).toBe('= the tool ran')
  })

  withPython('shows an injection of a plugin, which the next model call gets (needs python3)', () => {
    const lines = stepOf(run.stdout, 5)
    expect(lines).toContain('lint-feedback:PostToolUse#1 inject_context')
    expect(lines).toContain(
      'to the model (lint-feedback:PostToolUse#1) lint-feedback found in tools/check.py:',
    )
    expect(stepOf(run.stdout, 6).at(-1)).toBe('= the model got 5 messages and 1 tool')
    expect(stepOf(run.stdout, 7)).toContain('lint-feedback:PostToolUse#1 continue')
  })

  it('shows a plugin that checks what is written before it is', () => {
    const lines = stepOf(run.stdout, 8)
    expect(lines).toContain('format-check:PreToolUse#1 deny')
    expect(lines.at(-2)).toMatch(/^denied: release\.json was not written: .* not valid JSON/)
    expect(lines.at(-1)).toBe('= the tool did not run')
  })

  it('shows a deny of a shell script, beside another that logs', () => {
    expect(stepOf(run.stdout, 9).slice(2, 6)).toEqual([
      'PreToolUse',
      'force_with_lease continue',
      'bash-validator:PreToolUse#1 deny',
      'command-logger:PreToolUse#1 continue',
    ])
    expect(stepOf(run.stdout, 9).at(-2)).toMatch(/^denied: This command deletes a top-level folder/)
    expect(stepOf(run.stdout, 9).at(-1)).toBe('= the tool did not run')
    expect(stepOf(run.stdout, 11)).toContain('answered: {"for_llm":"bash-commands.log: lines 2"}')
  })

  it('shows a rewrite', () => {
    const lines = stepOf(run.stdout, 10)
    expect(lines).toContain('force_with_lease modify tool_input')
    expect(lines).toContain('changed tool_input: {"command":"git push --force-with-lease origin main"}')
    expect(lines.at(-1)).toBe('= the tool ran')
  })

  withPython('shows a guarded file (needs python3)', () => {
    const lines = stepOf(run.stdout, 12)
    expect(lines).toContain('file-guard:PreToolUse#1 deny')
    expect(lines.at(-2)).toMatch(/^denied: \.env\.production is a protected file/)
  })

  it('shows an approval that a person gave, and one that was refused', () => {
    const options = 'among Allow once, Allow always, Deny'
    const allowed = stepOf(run.stdout, 13)
    expect(allowed).toContain('asked Allow write to production file: deploy/production/app.yaml?')
    expect(allowed).toContain(`answered allow by person "Allow once" ${options}`)
    expect(allowed.at(-1)).toBe('= the tool ran')
    const refused = stepOf(run.stdout, 14)
    expect(refused).toContain(`answered deny by person "Deny" ${options}`)
    expect(refused.at(-1)).toBe('= the tool did not run')
  })

  it('shows a gate that crashed and stays closed', () => {
    const lines = stepOf(run.stdout, 15)
    expect(lines).toContain('deploy_gate failed: HOOK_FAILED')
    expect(lines.join('\n')).toContain('Hook deploy_gate failed; its gate stays closed.')
    expect(lines.join('\n')).toContain('denied: hook crashed (fail-safe deny): deploy_gate: ')
    expect(lines.at(-1)).toBe('= the tool did not run')
  })

  it('shows a hook that took too long, and that the operation went on', () => {
    const lines = stepOf(run.stdout, 16)
    expect(lines).toContain('slow_pager failed: HOOK_TIMEOUT')
    expect(lines.join('\n')).toContain('Hook slow_pager failed; the operation went on without it.')
    expect(lines.at(-1)).toBe('went on')
  })

  it('shows a tool that failed', () => {
    expect(stepOf(run.stdout, 18)).toContain('PostToolUseFailure')
    expect(stepOf(run.stdout, 18).at(-1)).toBe('= the tool failed: 503 Service Unavailable')
  })

  it('shows a stop that is refused, then one that is not', () => {
    expect(stepOf(run.stdout, 20).slice(-2)).toEqual([
      'refused to stop: Files were changed; run the tests before you stop',
      '= the agent goes on',
    ])
    expect(stepOf(run.stdout, 22).slice(-2)).toEqual(['went on', '= the turn is over'])
  })

  it('skips, visibly, what needs python3 where there is none, and ends well', {
    timeout: PATIENCE,
  }, async () => {
    const { code, stdout, stderr } = await runExampleIn(
      { PATH: pathWith(dir, ['node', ...TOOLS]) },
      'play/play.mjs',
      '--all',
    )
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const lines = stdout.trimEnd().split('\n')
    expect(lines.slice(1, 3)).toEqual([
      '../file-guard is skipped: python3 is not installed',
      '../lint-feedback is skipped: python3 is not installed',
    ])
    for (const step of [5, 6, 7, 12]) {
      expect(stepOf(stdout, step).at(-1)).toBe('= skipped: python3 is not installed')
    }
    expect(lines.at(-2)).toBe('26 events, 33 hooks run, 5 denied, 2 asked, 2 changed, 1 injected, 2 failed')
  })
})

describe('another script', { timeout: PATIENCE }, () => {
  const prompt = { prompt: 'Go.' }

  it('is played without any hook', async () => {
    const { code, stdout } = await playFiles({ 'bare.json': { steps: [prompt, { stop: 'Done.' }] } })
    expect(code).toBe(0)
    expect(stdout.split('\n')[0]).toBe(join(dir, 'bare.json'))
    expect(stdout.trimEnd().split('\n').at(-2)).toBe(
      '2 events, 0 hooks run, 0 denied, 0 asked, 0 changed, 0 injected, 0 failed',
    )
  })

  it('does not play the rest of a turn that a hook ended', async () => {
    const { stdout } = await playFiles({
      'aborted.json': {
        hooks: ['./abort.mjs'],
        steps: [
          prompt,
          { tool: 'Bash', person: 'Allow' },
          { model: 'On we go.' },
          prompt,
          { model: 'Hello.' },
        ],
      },
      'abort.mjs': `export const register = (hooks) =>
        hooks.register('PreToolUse', () => ({ action: 'abort_turn', reason: 'enough' }), { name: 'abort' })`,
    })
    expect(stepOf(stdout, 2).slice(1)).toEqual([
      'PreToolUse',
      'abort abort_turn',
      'ended the turn: enough',
      '= the person was not asked',
    ])
    expect(stepOf(stdout, 3).at(-1)).toBe('= not played: a hook ended the turn')
    expect(stepOf(stdout, 5).at(-1)).toBe('= the model got 2 messages and 0 tools')
  })

  it('plays nothing but the end once a hook ended the agent', async () => {
    const { stdout } = await playFiles({
      'over.json': { hooks: ['./over.mjs'], steps: [prompt, prompt, { end: 'logout' }] },
      'over.mjs': `export const register = (hooks) =>
        hooks.register('UserPromptSubmit', () => ({ action: 'hard_abort', reason: 'enough' }))`,
    })
    expect(stepOf(stdout, 1).slice(-2)).toEqual(['ended the agent: enough', '= the prompt was not sent'])
    expect(stepOf(stdout, 2).at(-1)).toBe('= not played: a hook ended the agent')
    expect(stepOf(stdout, 3)).toContain('SessionEnd')
  })

  it('takes the default of a question that nobody answers, and says so', async () => {
    const { stdout } = await playFiles({
      'alone.json': { hooks: ['./ask.mjs'], steps: [{ tool: 'Bash' }] },
      'ask.mjs': `export const register = (hooks) =>
        hooks.register('PreToolUse', () => ({ action: 'ask_user', approvalPrompt: 'Sure?' }))`,
    })
    const lines = stepOf(stdout, 1)
    expect(lines).toContain('answered deny by default')
    expect(lines.join('\n')).toContain('the script has no "person" in this step')
    expect(lines.at(-1)).toBe('= the tool did not run')
  })

  it('shows a hook that answers in place of the model, and an observer that failed', async () => {
    const { stdout } = await playFiles({
      'aside.json': { hooks: ['./aside.mjs'], steps: [{ model: 'Never said.' }] },
      'aside.mjs': `export const register = (hooks) => {
        hooks.register('ModelRequest', () => ({ action: 'respond', response: { content: 'From a hook' } }))
        hooks.register('*', () => { throw new Error('no disk') }, { name: 'log', role: 'observe' })
      }`,
    })
    expect(stepOf(stdout, 1).slice(-2)).toEqual([
      'answered: {"content":"From a hook"}',
      '= a hook answered in place of the model',
    ])
    expect(stdout).toContain('note late-failed log on ModelRequest: no disk.')
  })

  it('plays a plugin in a folder with an odd name, beside hooks of its own', async () => {
    const hooks = {
      SessionStart: [{ hooks: [{ type: 'command', command: 'echo "$AMPLIFIER_PROJECT_DIR"' }] }],
    }
    const { code, stdout } = await playFiles({
      'odd.json': { plugins: [`./it's "odd"`], steps: [{ start: 'startup' }] },
      'it\'s "odd"/hooks.json': { hooks },
    })
    expect(code).toBe(0)
    expect(stepOf(stdout, 1).join('\n')).toMatch(/SessionStart#1\) \S*carabiner-play-\w+$/m)
  })

  it('says what is wrong with a plugin, and plays on', async () => {
    const { code, stdout } = await playFiles({
      'broken.json': { plugins: ['./broken'], steps: [{ start: 'startup' }] },
      'broken/hooks.json': '{ "hooks": ',
    })
    expect(code).toBe(0)
    expect(stdout).toContain('note config-invalid ')
    expect(stdout.trimEnd().split('\n').at(-2)).toMatch(/^1 events, 0 hooks run, /)
  })

  it('runs none of the reader’s own hooks', async () => {
    const home = join(dir, 'home')
    const hooks = { SessionStart: [{ hooks: [{ type: 'command', command: 'true' }] }] }
    await mkdir(join(home, '.amplifier/hooks'), { recursive: true })
    await writeFile(join(home, '.amplifier/hooks/hooks.json'), JSON.stringify({ hooks }))
    await writeFile(join(dir, 'alone.json'), JSON.stringify({ steps: [{ start: 'startup' }] }))
    const { stdout } = await runExampleIn({ HOME: home }, 'play/play.mjs', join(dir, 'alone.json'))
    expect(stdout).toContain('1 events, 0 hooks run, ')
  })

  it('skips steps that need what is not there', async () => {
    const { code, stdout } = await playFiles({
      'needs.json': {
        plugins: [{ path: './never', needs: 'no-such-program' }],
        steps: [
          { start: 'startup', needs: 'no-such-program' },
          { end: 'logout', needs: 'node' },
        ],
      },
    })
    expect(code).toBe(0)
    expect(stdout.split('\n')[1]).toBe('./never is skipped: no-such-program is not installed')
    expect(stepOf(stdout, 1)).toEqual(['1 start startup', '= skipped: no-such-program is not installed'])
    expect(stepOf(stdout, 2)).toContain('SessionEnd')
  })

  it('writes nowhere but in its workspace', async () => {
    const outside = join(dir, 'outside.txt')
    const steps = ['../outside.txt', outside, ''].map((file_path) => ({
      tool: 'Write',
      input: { file_path, content: 'x' },
    }))
    const { code, stdout } = await playFiles({ 'escape.json': { steps } })
    expect(code).toBe(0)
    expect(stdout.match(/= the tool failed: file_path must lie in the workspace/g)).toHaveLength(3)
  })
})

describe('a script that is none', { timeout: PATIENCE }, () => {
  it.for<[string, string]>([
    ['[]', 'a script must be an object, got a list'],
    ['{}', '"steps" must be a list of at least one step'],
    ['{"steps":[]}', '"steps" must be a list of at least one step'],
    ['{"step":[],"steps":[{"end":"x"}]}', 'unknown key "step"; choose from title, hooks, plugins, steps'],
    ['{"title":1,"steps":[{"end":"x"}]}', '"title" must be a string, got a number'],
    ['{"hooks":"a.mjs","steps":[{"end":"x"}]}', '"hooks" must be a list of module paths'],
    ['{"plugins":"a","steps":[{"end":"x"}]}', '"plugins" must be a list of folders'],
    ['{"plugins":["a",7],"steps":[{"end":"x"}]}', 'plugin 2: must be a folder or an object, got a number'],
    [
      '{"plugins":[{"needs":"python3"}],"steps":[{"end":"x"}]}',
      'plugin 1: "path" must be a non-empty string, got nothing',
    ],
    [
      '{"plugins":[{"path":"a","need":"b"}],"steps":[{"end":"x"}]}',
      'plugin 1: unknown key "need"; choose from path, needs',
    ],
    [
      '{"steps":[{"end":"x","needs":"rm -rf"}]}',
      'step 1 (end): "needs" must be the name of a program, got a string',
    ],
    ['{"steps":["stop"]}', 'step 1: must be an object, got a string'],
    [
      '{"steps":[{"note":"x"}]}',
      'step 1: needs one verb of start, prompt, model, tool, fire, stop, end; it has "note"',
    ],
    [
      '{"steps":[{"end":"x"},{"tool":"Bash","prompt":"x"}]}',
      'step 2: needs one verb of start, prompt, model, tool, fire, stop, end; it has "tool" and "prompt"',
    ],
    [
      '{"steps":[{"prompt":""}]}',
      'step 1 (prompt): "prompt" must be a non-empty string, got an empty string',
    ],
    [
      '{"steps":[{"model":7}]}',
      'step 1 (model): "model" must be a non-empty string or an object, got a number',
    ],
    ['{"steps":[{"tool":"Bash","input":"ls"}]}', 'step 1 (tool): "input" must be an object, got a string'],
    [
      '{"steps":[{"tool":"Bash","reslt":1}]}',
      'step 1 (tool): unknown key "reslt"; choose from tool, input, result, fails, person, note, needs',
    ],
    [
      '{"steps":[{"tool":"Bash","result":1,"fails":"no"}]}',
      'step 1 (tool): a tool has a "result" or "fails", not both',
    ],
    [
      '{"steps":[{"end":"x","person":"Allow"}]}',
      'step 1 (end): unknown key "person"; choose from end, note, needs',
    ],
  ])('%s', ([text, problem]) => {
    expect(() => parseScript(text, 'my.json')).toThrow(
      expect.objectContaining({ message: `my.json: ${problem}` }),
    )
  })

  it('is told all its problems at once', () => {
    const text = '{"steps":[{"stop":1},{"end":2}]}'
    expect(() => parseScript(text, 'my.json')).toThrow(
      'my.json: step 1 (stop): "stop" must be a non-empty string, got a number\n' +
        'my.json: step 2 (end): "end" must be a non-empty string, got a number',
    )
  })

  it('is told the line where it is no JSON', () => {
    const text = '{\n  "steps": [\n    { "stop" 1 }\n  ]\n}'
    expect(() => parseScript(text, 'my.json')).toThrow(/^my\.json:3: is not valid JSON: /)
  })

  it('is told on one line that it is no JSON, also where the parser names no place', () => {
    expect(() => parseScript('{\n  oops\n', 'my.json')).toThrow(/^my\.json(:2)?: is not valid JSON: .*$/)
  })

  it.for<[string, Record<string, unknown>, string]>([
    ['is not valid', { 'bad.json': { steps: [{ stop: 1 }] } }, 'bad.json: step 1 (stop): '],
    [
      'lacks what an event needs',
      { 'lacks.json': { steps: [{ fire: 'PreToolUse' }] } },
      'lacks.json: step 1 (fire): PreToolUse: the required field tool_name is missing',
    ],
    [
      'names a module that is not there',
      { 'gone.json': { hooks: ['./gone.mjs'], steps: [{ end: 'x' }] } },
      'gone.json: hooks: ./gone.mjs: there is no such module',
    ],
    [
      'names a plugin that is not there',
      { 'lost.json': { plugins: ['./lost'], steps: [{ end: 'x' }] } },
      'lost.json: plugins: ./lost: there is no such folder',
    ],
    [
      'names a module that registers nothing',
      { 'idle.json': { hooks: ['./idle.mjs'], steps: [{ end: 'x' }] }, 'idle.mjs': 'export const a = 1' },
      'idle.json: hooks: ./idle.mjs: the module must export a function register(hooks)',
    ],
    [
      'names a module with a mistake in it',
      { 'wrong.json': { hooks: ['./wrong.mjs'], steps: [{ end: 'x' }] }, 'wrong.mjs': 'nonsense()' },
      'wrong.json: hooks: ./wrong.mjs: nonsense is not defined',
    ],
    [
      'names a module that registers wrongly',
      {
        'late.json': { hooks: ['./late.mjs'], steps: [{ end: 'x' }] },
        'late.mjs': "export const register = (hooks) => hooks.register('Stop', () => {}, { timeout: -1 })",
      },
      'late.json: hooks: ./late.mjs: Hook ',
    ],
  ])('that %s: a message and exit 1', async ([, files, problem]) => {
    const { code, stderr } = await playFiles(files)
    expect(code).toBe(1)
    expect(stderr.startsWith(join(dir, problem))).toBe(true)
    expect(stderr).not.toContain('    at ')
  })

  it('that does not exist: a message and exit 1', async () => {
    expect(await runExample('play/play.mjs', 'no-such.json')).toEqual({
      code: 1,
      stdout: '',
      stderr: 'no-such.json: there is no such file\n',
    })
  })
})

describe('the command line', { timeout: PATIENCE }, () => {
  it('explains itself', async () => {
    const { code, stdout, stderr } = await runExample('play/play.mjs', '--help')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toContain('Usage: node examples/play/play.mjs [--all | SCRIPT]')
    expect(stdout).toContain('Examples:\n  npm start -- --all\n  node examples/play/play.mjs my-session.json')
  })

  it('ends well also if its reader leaves early', async () => {
    const child = spawn(process.execPath, [fileURLToPath(program)], { stdio: ['ignore', 'pipe', 'pipe'] })
    child.stdout.once('data', () => child.stdout.destroy())
    const stderr = text(child.stderr)
    const [code] = await once(child, 'exit')
    expect({ code, stderr: await stderr }).toEqual({ code: 0, stderr: '' })
  })

  it.for([[['--loud']], [['a.json', 'b.json']]])('refuses %j with exit 64', async ([args]) => {
    const { code, stdout, stderr } = await runExample('play/play.mjs', ...(args ?? []))
    expect({ code, stdout }).toEqual({ code: 64, stdout: '' })
    expect(stderr).toContain('Try: node examples/play/play.mjs --help')
  })
})

describe('print', () => {
  const played = async () => {
    await using hooks = await createHooks({ globals: false })
    hooks.register('PreToolUse', () => ({ action: 'deny', reason: `no${ESC}[2J\nreally` }), { name: 'no' })
    const outcome = await hooks.session().fire('PreToolUse', { tool_name: 'Bash', tool_input: {} })
    return { event: 'PreToolUse', outcome, ms: 1234.5, observers: [] }
  }

  it('colours for a terminal', async () => {
    const coloured = eventLines(await played(), painter(true)).join('\n')
    const plain = eventLines(await played(), painter(false)).join('\n')
    expect(coloured).toContain(`${ESC}[31m`)
    expect(plain).not.toContain(ESC)
  })

  it('keeps what a hook says on its line and off the terminal', async () => {
    expect(eventLines(await played(), painter(false)).at(-1)).toBe('      denied: no really')
    expect(resultLine(`a${ESC}b`)).toBe('    = a b')
  })

  it('counts', async () => {
    const one = await played()
    expect(summaryLine([one, one])).toBe(
      '2 events, 2 hooks run, 2 denied, 0 asked, 0 changed, 0 injected, 0 failed',
    )
  })
})

describe('the hooks of the session', () => {
  const bash = (command: string) => ({ tool_name: 'Bash', tool_input: { command, description: 'd' } })

  it('rewrite a forced push and keep the rest of the input', () => {
    expect(forceWithLease('PreToolUse', bash('git push -f origin')).data).toEqual({
      tool_input: { command: 'git push --force-with-lease origin', description: 'd' },
    })
    expect(forceWithLease('PreToolUse', bash('git push --force-with-lease')).action).toBe('continue')
    expect(forceWithLease('PreToolUse', bash('git push')).action).toBe('continue')
  })

  it('keep a session going until its changes are tested', () => {
    const { watch, check } = createTestsFirst()
    const stop = { session_id: 's' }
    expect(check('Stop', stop).action).toBe('continue')
    watch('PostToolUse', { tool_name: 'Write', tool_input: {}, session_id: 's' })
    expect(check('Stop', stop).action).toBe('deny')
    expect(check('Stop', { session_id: 'another' }).action).toBe('continue')
    watch('PostToolUse', { ...bash('npm test'), session_id: 's' })
    expect(check('Stop', stop).action).toBe('continue')
  })

  it('observe what came of every event', async () => {
    const lines: string[] = []
    const hooks = await createHooks({ globals: false })
    hooks.register('*', createJournal(lines), { role: 'observe' })
    hooks.register('PreToolUse', () => deny('no'))
    const session = hooks.session()
    await session.fire('PreToolUse', bash('rm -rf /'))
    await session.fire('SessionEnd')
    await hooks.close()
    expect(lines).toEqual(['PreToolUse Bash deny', 'SessionEnd continue'])
  })
})
