import { spawn } from 'node:child_process'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ended, Project, programFile, type RunOptions, withProgram } from './program.js'

withProgram()

let project: Project
beforeEach(() => {
  project = new Project()
})
afterEach(() => project.remove())

const explain = (args: readonly string[], options?: RunOptions) =>
  project.carabiner(['explain', ...args], options)

/** The answer for people, line by line, without indentation. */
const lines = async (args: readonly string[], options?: RunOptions) => {
  const { code, stdout } = await explain(args, options)
  expect(code).toBe(0)
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.trim())
}

describe('who would run', () => {
  it('in which order, from where, and what; who would not, and why', async () => {
    project.hooks({
      PreToolUse: [
        ['Bash', './a.sh', './b.sh'],
        ['Write', './c.sh'],
      ],
    })
    const { code, stdout, stderr } = await explain(['PreToolUse', '--tool', 'Bash', '--trust-all'])
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toBe(`PreToolUse  tool_name "Bash"
would run, the same number at once
  1  project:PreToolUse#1  .amplifier/hooks/hooks.json:7
      ./a.sh
  1  project:PreToolUse#2  .amplifier/hooks/hooks.json:11
      ./b.sh
would not run
  matcher  project:PreToolUse#3  .amplifier/hooks/hooks.json:20
      matcher "Write" does not match tool_name "Bash"
`)
  })

  it('hooks of a sequential group one after another', async () => {
    const hooks = ['a', 'b'].map((command) => ({ type: 'command', command }))
    project.file('.amplifier/hooks/hooks.json', { hooks: { Stop: [{ sequential: true, hooks }] } })
    const told = await lines(['Stop', '--trust-all'])
    expect(told).toContainEqual(expect.stringMatching(/^1 +project:Stop#1/))
    expect(told).toContainEqual(expect.stringMatching(/^then +project:Stop#2/))
  })

  it('runs nothing', async () => {
    project.hooks({ PreToolUse: [['Bash', 'touch ran']] })
    await explain(['PreToolUse', '--tool', 'Bash', '--trust-all'])
    expect(project.has('ran')).toBe(false)
  })

  it('takes the input of the call, and a payload', async () => {
    project.hooks({ PreToolUse: [['Bash', 'a']], SessionStart: [['resume', 'b']] })
    const bash = await lines(['tool:pre', '--tool', 'Bash', '--input', '{"command":"ls"}', '--trust-all'])
    expect(bash).toContain('would run')
    const input = { hook_event_name: 'SessionStart', source: 'resume' }
    expect(await lines(['--payload', '-', '--trust-all'], { input })).toContain('would run')
  })

  it('does not wait for a standard input that nobody asked for', async () => {
    project.hooks({ Stop: [['', 'a']] })
    const child = spawn(process.execPath, [programFile(), 'explain', 'Stop'], {
      cwd: project.folder,
      env: project.env(),
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    const { code } = await ended(child)
    expect(code).toBe(0)
  })

  it('as JSON: the plan and the diagnostics', async () => {
    project.hooks({ PreToolUse: [['Bash', 'a']] })
    const { stdout } = await explain(['PreToolUse', '--tool', 'Bash', '--trust-all', '--json'])
    expect(JSON.parse(stdout)).toMatchObject({
      event: 'PreToolUse',
      steps: [{ priority: 20, lanes: [['project:PreToolUse#1']] }],
      candidates: [{ name: 'project:PreToolUse#1', matched: true }],
      diagnostics: [],
    })
  })
})

describe('why nothing would run', () => {
  const why = async (args: readonly string[], options?: RunOptions) => {
    const told = await lines(args, options)
    const at = told.findIndex((line) => line.startsWith('nothing would run: '))
    expect(at).toBeGreaterThanOrEqual(0)
    return { reason: told[at]?.slice('nothing would run: '.length), next: told.slice(at + 1) }
  }

  it('nobody trusted it: what it runs, and what to type', async () => {
    project.hooks({ PreToolUse: [['Bash', './guard.sh']] })
    const { reason, next } = await why(['PreToolUse', '--tool', 'Bash'])
    expect(reason).toBe('1 hook would, but came with the project, and nobody trusted it yet')
    expect(next).toEqual([
      'next carabiner trust project   # shows what it runs, and asks; for one call:',
      'next carabiner explain PreToolUse --tool Bash --trust-all',
    ])
    expect(await lines(['PreToolUse', '--tool', 'Bash'])).toContain('./guard.sh')
  })

  it.each([
    ['Bash', 'bash', 'upper and lower case count'],
    ['Edit', 'MultiEdit', 'write Edit|MultiEdit, or the pattern .*Edit.*'],
    ['mcp__files', 'mcp__files__write', 'the pattern mcp__files__.*'],
    ['Wirte|Read', 'Write', 'it has Wirte, not Write'],
  ])('the matcher %s nearly takes %s', async (matcher, tool, expected) => {
    project.hooks({ PreToolUse: [[matcher, 'a']] })
    const { reason, next } = await why(['PreToolUse', '--tool', tool])
    expect(reason).toContain('project:PreToolUse#1 nearly matches')
    expect(reason).toContain(expected)
    expect(next).toEqual(['next Correct the matcher at .amplifier/hooks/hooks.json:7'])
  })

  it('no matcher takes the tool', async () => {
    project.hooks({ PreToolUse: [['Write|Edit', 'a']] })
    const { reason, next } = await why(['PreToolUse', '--tool', 'Bash'])
    expect(reason).toBe('no matcher takes tool_name "Bash"; there are matchers for "Write|Edit"')
    expect(next).toEqual(['next carabiner explain PreToolUse --tool Write'])
  })

  it('no tool was given', async () => {
    project.hooks({ PreToolUse: [['Bash', 'a']] })
    const { reason, next } = await why(['PreToolUse'])
    expect(reason).toContain('which hooks run depends on tool_name, and none was given')
    expect(next).toEqual(['next carabiner explain PreToolUse --tool Bash'])
  })

  it('it is switched off', async () => {
    project.hooks({ Stop: [['', 'a']] })
    project.file('../home/.amplifier/settings.json', { hooks: { allow_project_hooks: false } })
    const { reason } = await why(['Stop'])
    expect(reason).toContain('"allow_project_hooks": false')
    expect(reason).toContain('settings.json:3')
  })

  it('there is no such event', async () => {
    const { reason, next } = await why(['PreToolUes'])
    expect(reason).toContain('there is no event "PreToolUes"')
    expect(next).toEqual(['next carabiner explain PreToolUse'])
  })

  it('the event is misspelt in the file', async () => {
    project.hooks({ PreTooluse: [['Bash', 'a']] })
    const { reason, next } = await why(['PreToolUse', '--tool', 'Bash'])
    expect(reason).toContain('there is no event "PreTooluse"')
    expect(next).toEqual(['next Correct .amplifier/hooks/hooks.json:3'])
  })

  it('the file is broken', async () => {
    project.file('.amplifier/hooks/hooks.json', '{\n"hooks": oops\n}')
    const { reason, next } = await why(['PreToolUse', '--tool', 'Bash'])
    expect(reason).toContain('is not valid JSON')
    expect(next).toEqual(['next Correct .amplifier/hooks/hooks.json:2'])
  })

  it('the hooks are for other events', async () => {
    project.hooks({ Stop: [['', 'a', 'b']] })
    const { reason, next } = await why(['PreToolUse', '--tool', 'Bash'])
    expect(reason).toBe('none of the 2 hooks listens to PreToolUse; they listen to Stop (2)')
    expect(next).toEqual(['next carabiner explain Stop'])
  })

  it('nothing was found: where it was looked for', async () => {
    const { reason } = await why(['PreToolUse'])
    expect(reason).toContain(
      '.amplifier/hooks/hooks.json, .amplifier/hooks/*/hooks.json, .amplifier/settings.json',
    )
    expect(reason).toContain('~/.amplifier/hooks/hooks.json')
  })

  it('nothing was found here: there is a project further up', async () => {
    project.hooks({ Stop: [['', 'a']] })
    project.file('src/deep/file', '')
    const { next } = await why(['Stop'], { cwd: project.path('src/deep') })
    expect(next[0]).toContain('next carabiner list --project ../..')
  })

  it('everything is bypassed', async () => {
    project.hooks({ Stop: [['', 'a']] })
    const { reason, next } = await why(['Stop', '--trust-all'], { env: { CARABINER_OFF: '1' } })
    expect(reason).toContain('CARABINER_OFF=1 is set')
    expect(next).toEqual(['next unset CARABINER_OFF'])
  })

  it('what to type carries over where to look', async () => {
    project.file("it's/hooks.json", { hooks: { Stop: [{ hooks: [{ type: 'command', command: 'a' }] }] } })
    const { next } = await why(['Stop', '--config', "it's/hooks.json"])
    expect(next[1]).toBe(`next carabiner explain Stop --config 'it'\\''s/hooks.json' --trust-all`)
    const typed = (next[1] ?? '').replace('next carabiner', '"$0" "$1"')
    const again = await project.run('sh', ['-c', typed, process.execPath, programFile()])
    expect(again.stdout).toContain('would run')
  })

  it('as JSON, too', async () => {
    const { stdout } = await explain(['Stop', '--json'])
    expect(JSON.parse(stdout).advice).toMatchObject({
      reason: expect.stringContaining('there are no hooks here'),
    })
  })
})

describe('what is refused', () => {
  it.each([
    ['no event', [], 'Which event?'],
    ['an input that is no JSON', ['PreToolUse', '--input', 'ls'], '--input must be a JSON object'],
    ['an input that is no object', ['PreToolUse', '--input', '[]'], '--input must be a JSON object'],
  ])('%s', async (_, args, expected) => {
    const { code, stdout, stderr } = await explain(args)
    expect([code, stdout]).toEqual([64, ''])
    expect(stderr).toContain(expected)
  })

  it('a payload with a field of the wrong type', async () => {
    const { code, stderr } = await explain(['Stop', '--payload', '-'], { input: { cwd: 7 } })
    expect(code).toBe(1)
    expect(stderr).toContain('cwd must be a string')
  })
})
