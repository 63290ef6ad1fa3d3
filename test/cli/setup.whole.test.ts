import { spawnSync } from 'node:child_process'
import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { switched } from '../../src/cli/setup/choice.js'
import { foreignHome } from '../../src/cli/setup/foreign-home.js'
import { lastingPath } from '../../src/cli/setup/register.js'
import { ALL_CHOICES, USUAL_CHOICES } from '../../src/hosts/entries.js'
import { engineEntries, packEntries } from '../hosts/grouped.js'
import { Project, programFile, withProgram } from './program.js'

withProgram()

let project: Project
beforeEach(() => {
  project = new Project()
})
afterEach(() => project.remove())

const program = () => ({ node: process.execPath, script: realpathSync(programFile()) })
const user = () => join(project.home, '.claude/settings.json')
const setup = (...args: string[]) => project.call(['setup', 'claude-code', ...args])
const read = (path: string) => readFileSync(path, 'utf8')
const hooksIn = (path: string) => JSON.parse(read(path)).hooks

function userFile(text: string): string {
  mkdirSync(join(project.home, '.claude'), { recursive: true })
  writeFileSync(user(), text)
  return user()
}

describe('carabiner setup claude-code', () => {
  it("C1: registers the usual hooks in the user's settings, and says what each does", async () => {
    const { code, stdout, stderr } = await setup()
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout.split('\n')).toEqual([
      expect.stringMatching(/^ {2}\+ guard +PreToolUse +Blocks commands /),
      expect.stringMatching(/^ {2}\+ stop +Stop +Keeps the agent working /),
      expect.stringMatching(/^ {2}\+ start +SessionStart +Tells the agent /),
      expect.stringMatching(/^ {2}\+ preferences +UserPromptSubmit +Adds your /),
      'registered 4 hooks in ~/.claude/settings.json',
      'service off: every hook starts Node. CARABINER_SERVICE=off is set.',
      'next Restart Claude Code: /hooks lists them there',
      expect.stringMatching(/^next echo '.*' \| carabiner hook pre-tool-use {3}# see it block a call$/),
      'next carabiner setup claude-code --with reminder   # off: reminder, memory, transcript',
      'next carabiner verify claude-code   # prove that it obeys hooks',
      'next carabiner doctor   # check that all of it works',
      '',
    ])
    const entries = packEntries(program(), USUAL_CHOICES)
    expect(Object.values(hooksIn(user())).flat()).toEqual(entries.map(({ group }) => group))
    expect(read(user())).not.toContain('--memory')
    expect(existsSync(project.path('.claude'))).toBe(false)
  })

  it('registers commands that a shell starts', async () => {
    await setup('--engine')
    const [{ hooks }] = hooksIn(user()).PreToolUse
    const version = hooks[0].command.replace(/ fire .*/, ' --version')
    const { status, stdout } = spawnSync('sh', ['-c', version], { encoding: 'utf8', env: project.env() })
    expect([status, stdout]).toEqual([0, expect.stringMatching(/^\d+\.\d+\.\d+\n$/)])
  })

  it.each(['NODE_OPTIONS', 'NODE_PATH'])('E2: registers commands that load nothing by %s', async (name) => {
    await setup()
    const [{ hooks }] = hooksIn(user()).PreToolUse
    const load = project.file('load.cjs', 'process.exit(0)')
    const env = project.env({ [name]: name === 'NODE_PATH' ? project.folder : `--require "${load}"` })
    const input = JSON.stringify({ tool_name: 'Bash', tool_input: { command: 'git commit --no-verify' } })
    const { status, stdout } = spawnSync('sh', ['-c', hooks[0].command], { encoding: 'utf8', env, input })
    expect([status, stdout]).toEqual([2, expect.stringContaining('"deny"')])
  })

  it('replaces commands that an older version registered', async () => {
    await setup('--engine')
    const now = read(user())
    const older = now.replaceAll('NODE_OPTIONS= NODE_PATH= OPENSSL_CONF= ', '')
    expect(older).not.toBe(now)
    writeFileSync(user(), older)
    expect((await setup('--engine')).code).toBe(0)
    expect(read(user())).toBe(now)
    expect((await setup('--engine')).stdout).toContain('nothing to do')
  })

  describe('where the settings of a project set variables for hooks', () => {
    const ENV = { CARABINER_OFF: '1' }
    const CALL = { tool_name: 'Bash', tool_input: { command: 'git commit --no-verify' } }
    /** As Claude Code runs it: by a shell, with what the project sets on top of what the user has. */
    const asked = (more = '', set: Readonly<Record<string, string>> = ENV) => {
      const [{ hooks }] = hooksIn(user()).PreToolUse
      return spawnSync('sh', ['-c', hooks[0].command + more], {
        cwd: project.folder,
        encoding: 'utf8',
        env: { ...project.env(), CLAUDE_PROJECT_DIR: project.folder, ...set },
        input: JSON.stringify({
          hook_event_name: 'PreToolUse',
          cwd: project.folder,
          session_id: 's',
          ...CALL,
        }),
      })
    }

    it('the guard is not switched off by what it registered', async () => {
      await setup()
      expect(asked()).toMatchObject({ status: 0, stdout: expect.stringContaining('nothing is guarded') })
      project.file('.claude/settings.json', { env: ENV })
      expect(asked()).toMatchObject({
        status: 2,
        stdout: expect.stringContaining('has no effect: it may come from'),
      })
    })

    it('nor are the hooks of the project', async () => {
      await setup('--engine')
      project.hooks({ PreToolUse: [['Bash', 'echo no >&2; exit 2']] })
      expect(asked(' --trust-all')).toMatchObject({ status: 0 })
      project.file('.claude/settings.json', { env: ENV })
      expect(asked(' --trust-all')).toMatchObject({ status: 2 })
    })

    it('it is told', async () => {
      project.file('.claude/settings.json', { env: { CARABINER_HOME: '/x', EDITOR: 'vi' } })
      const { stdout } = await setup('--dry-run')
      expect(stdout.replace(/\s+/g, ' ')).toContain('sets CARABINER_HOME for hooks')
    })
  })

  it('has nothing to do the second time', async () => {
    await setup()
    const before = read(user())
    const { code, stdout } = await setup()
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^ {4}guard .*\n {4}stop /)])
    expect(stdout).toContain('\n4 hooks registered in ~/.claude/settings.json: nothing to do\n')
    expect(read(user())).toBe(before)
  })

  it('--project registers them in this project', async () => {
    project.file('.claude/settings.json', '{\n\t"model": "x"\n}')
    const { code, stdout } = await setup('--project')
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining('registered 4 hooks in .claude/settings.json'),
    ])
    expect(existsSync(user())).toBe(false)
    await setup('--project', '--remove')
    expect(project.read('.claude/settings.json')).toBe('{\n\t"model": "x"\n}')
  })

  it('--engine registers one entry for each event', async () => {
    const { stdout } = await setup('--engine')
    const entries = engineEntries(program())
    expect(stdout).toContain(`registered ${entries.length} hooks`)
    const hooks = hooksIn(user())
    expect(Object.keys(hooks).sort()).toEqual(entries.map(({ event }) => event).sort())
    for (const { event, group } of entries) expect(hooks[event]).toEqual([group])
  })

  it.each([
    [['--only', 'guard,stop'], ['--engine']],
    [['--engine'], ['--with', 'guard,stop']],
    [['--engine', '--with', 'guard,stop'], ['--yes']],
  ])('%j, then %j: whatever is registered and not named stays', async (first, second) => {
    await setup(...first)
    await setup(...second)
    for (const args of [['--engine'], [], ['--engine', '--with', 'guard']])
      expect((await setup(...args)).stdout).toContain(
        `${engineEntries(program()).length + 2} hooks registered in ~/.claude/settings.json: nothing`,
      )
    expect((await project.call(['doctor'])).stdout).toContain(
      'ok claude-code  guard, stop, the hooks of projects registered in ~/.claude/settings.json',
    )
    expect((await setup('--engine', '--without', 'guard')).stdout).toMatch(/ {2}- guard /)
    expect((await setup('--only', 'guard')).stdout).toContain(
      'note Claude Code no longer runs the hooks of projects. To have both: carabiner setup claude-code --engine',
    )
  })

  it('--without may leave only the engine', async () => {
    await setup('--engine', '--with', 'guard')
    expect((await setup('--without', 'guard')).stdout).toMatch(/^ {2}- guard .*\n {4}engine /)
    for (const args of [[], ['--without', 'all'], ['--engine', '--without', 'all']])
      expect((await setup(...args)).stdout).toContain(
        `${engineEntries(program()).length} hooks registered in ~/.claude/settings.json: nothing`,
      )
    expect((await setup('--only', ',')).stderr).toContain('No hook would be left')
  })

  it("an event of somebody else's is not the engine", async () => {
    const handler = { type: 'command', command: 'carabiner fire WorktreeCreate --as claude-code' }
    userFile(JSON.stringify({ hooks: { WorktreeCreate: [{ hooks: [handler] }] } }))
    expect((await setup()).stdout).toContain('registered 4 hooks in')
    expect((await setup('--without', 'all')).stderr).toContain('No hook would be left')
  })

  it('repairs an entry whose hook it does not know', async () => {
    userFile('{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "carabiner hook nope"}]}]}}')
    expect((await setup()).stdout).toContain('registered 4 hooks in')
    expect(read(user())).not.toContain('nope')
  })

  it('names the command for the same file', async () => {
    await setup('--project', '--engine', '--with', 'guard')
    expect((await setup('--project', '--only', 'stop')).stdout).toContain(
      'To have both: carabiner setup claude-code --project --engine',
    )
    expect((await project.call(['doctor'])).stdout).toContain(
      '&& carabiner setup claude-code --project --with guard\n',
    )
    expect((await setup('--project', '--without', 'all')).stderr).toContain(
      'No hook would be left\n  carabiner setup claude-code --project --remove removes all of them.',
    )
  })

  it('--dry-run shows it and writes nothing at all', async () => {
    userFile('{}\n')
    for (const args of [[], ['--engine'], ['--project']]) {
      const { code, stdout } = await setup('--dry-run', ...args)
      expect([code, stdout]).toEqual([0, expect.stringContaining('nothing was written')])
      expect(stdout).toMatch(/^ {2}\+ (?:guard|engine) /)
      expect(stdout).not.toContain('"PreToolUse"')
      expect((await setup('--dry-run', '--diff', ...args)).stdout).toContain('+    "PreToolUse": [')
    }
    expect(read(user())).toBe('{}\n')
    expect(readdirSync(project.home)).toEqual(['.claude'])
    expect(readdirSync(project.folder)).toEqual([])
  })

  it('--remove gives back the bytes, and what it replaced is kept', async () => {
    const original = '\uFEFF{ "permissions": {},\r\n  "hooks": {} }'
    userFile(original)
    await setup()
    const installed = read(user())
    const { stdout } = await setup('--remove')
    expect(read(user())).toBe(original)
    expect(stdout).toContain('removed the hooks from ~/.claude/settings.json')
    const kept = /^before ~(.*)$/m.exec(stdout)?.[1] ?? ''
    expect(read(project.home + kept)).toBe(installed)
    expect((await setup('--remove')).stdout).toBe('~/.claude/settings.json has no hooks of Carabiner\n')
  })

  it('no agent takes it away', async () => {
    await setup()
    const before = read(user())
    for (const mark of ['CLAUDECODE', 'CODEX_THREAD_ID', 'QWEN_CODE']) {
      const args = ['setup', 'claude-code', '--remove']
      const { code, stderr } = await project.call(args, { env: { [mark]: '1' } })
      expect([code, stderr]).toEqual([
        1,
        `carabiner: Removing the guard is for a person, but ${mark} says that an agent is running this\n` +
          '  Run the same command in your own terminal.\n',
      ])
      expect((await project.call([...args, '--dry-run'], { env: { [mark]: '1' } })).code).toBe(0)
    }
    expect(read(user())).toBe(before)
  })

  it('--remove takes away a file that was made for it', async () => {
    await setup()
    const { stdout } = await setup('--remove')
    expect(stdout).toContain('removed ~/.claude/settings.json, which setup had created')
    expect(existsSync(join(project.home, '.claude'))).toBe(false)
  })

  it('goes where CLAUDE_CONFIG_DIR says', async () => {
    const folder = join(project.base, 'elsewhere')
    const env = { CLAUDE_CONFIG_DIR: folder }
    const { code } = await project.call(['setup', 'claude-code'], { env })
    expect(code).toBe(0)
    expect(hooksIn(join(folder, 'settings.json'))).toHaveProperty('Stop')
    await project.call(['setup', 'claude-code', '--remove'], { env })
    expect([existsSync(folder), existsSync(user())]).toEqual([false, false])
  })

  it('says where all hooks are switched off', async () => {
    userFile('{"disableAllHooks": true}')
    expect((await setup()).stdout).toContain(
      'broken hooks-off ~/.claude/settings.json:1: "disableAllHooks" is true, so Claude Code runs no hook at all\n  fix Remove',
    )
    project.file('.claude/settings.local.json', { disableAllHooks: true })
    userFile('{}')
    expect((await setup()).stdout).toContain('so Claude Code runs no hook in this project')
  })

  it('shows what could control a terminal as numbers', async () => {
    userFile('{\n  "note": "\u009b2J\u202e",\n  "model": "x"\n}')
    const { stdout } = await setup('--diff')
    expect(stdout).toContain('⟨U+009B⟩2J⟨U+202E⟩')
    expect(stdout).not.toContain('\u009b')
  })

  it('is one document under --json', async () => {
    userFile('{}')
    const { stdout } = await setup('--json')
    expect(JSON.parse(stdout)).toEqual({
      agent: 'claude-code',
      file: user(),
      files: [user()],
      changes: true,
      written: true,
      hooks: 4,
      chosen: [...USUAL_CHOICES],
      abilities: expect.arrayContaining([{ wish: 'deny a tool call', how: 'yes', text: 'yes' }]),
      diff: expect.stringContaining('+    "Stop": ['),
      backup: expect.stringContaining(project.home),
      service: { on: false, why: 'CARABINER_SERVICE=off is set.' },
      notes: [],
    })
    const again = JSON.parse((await setup('--json', '--dry-run')).stdout)
    expect(again).toMatchObject({ changes: false, written: false, diff: '', backup: null })
  })

  it('of several at once all end well, with each hook registered once', async () => {
    userFile('{"model": "x"}')
    const own = () => project.carabiner(['setup', 'claude-code'])
    const runs = await Promise.all([own(), own(), own(), own()])
    for (const { code, stderr } of runs) expect([code, stderr]).toEqual([0, ''])
    for (const groups of Object.values(hooksIn(user())))
      expect((groups as unknown[]).length).toBeLessThanOrEqual(2)
    expect(hooksIn(user()).Stop).toHaveLength(1)
    await setup('--remove')
    expect(read(user())).toBe('{"model": "x"}')
  })
})

describe('a choice of hooks', () => {
  const registered = () =>
    (Object.values(hooksIn(user())).flat() as { hooks: { command: string }[] }[]).map(({ hooks: [one] }) =>
      one?.command.replace(/.* hook /, ''),
    )

  it('--only registers exactly these, by short names or names of hooks', async () => {
    await setup('--only', 'guard,stop')
    expect(registered()).toEqual(['stop', 'pre-tool-use'])
    await setup('--only', 'pre-tool-use')
    expect(registered()).toEqual(['pre-tool-use'])
    await setup('--only=all')
    expect(registered()).toHaveLength(8)
  })

  it('--with and --without change single hooks, and nothing else', async () => {
    await setup('--only', 'guard')
    expect((await setup('--with', 'reminder,transcript')).stdout).toMatch(
      /^ {4}guard .*\n {2}\+ reminder .*\n {2}\+ transcript /,
    )
    expect(registered()).toEqual(['pre-tool-use', 'workflow-classification-reminder', 'pre-compact'])
    const { stdout: less } = await setup('--without', 'reminder')
    expect(less).toContain('\n  - reminder ')
    expect(less).toMatch(/\n\d hooks stay registered in ~\/\.claude\/settings\.json\n/)
    expect(registered()).toEqual(['pre-tool-use', 'pre-compact'])
    expect((await setup()).stdout).toContain('2 hooks registered in ~/.claude/settings.json: nothing to do')
  })

  it('memory is asked for, and tells the hooks that take part in it', async () => {
    await setup('--with', 'memory')
    expect(registered()).toEqual([
      'session-start --memory',
      'stop --memory',
      'pre-tool-use',
      'post-tool-use --memory',
      'user-prompt-submit --memory',
      'session-end --memory',
    ])
    for (const more of [[], ['--engine']])
      expect(await setup('--without', 'start', ...more)).toMatchObject({
        code: 64,
        stderr: expect.stringContaining(
          'memory does not work without start\n  Add memory to --without start.',
        ),
      })
    await setup('--without', 'memory')
    expect(registered()).toEqual(['session-start', 'stop', 'pre-tool-use', 'user-prompt-submit'])
  })

  it('all that an older version registered stays chosen', async () => {
    await setup('--only', 'all')
    const all = read(user())
    writeFileSync(user(), all.replaceAll(' --memory', ''))
    expect((await setup()).stdout).toContain('  ~ memory ')
    expect(read(user())).toBe(all)
  })

  it('no agent takes the guard away', async () => {
    await setup()
    const before = read(user())
    for (const args of [
      ['--only', 'stop'],
      ['--without', 'guard'],
      ['--engine', '--without', 'guard'],
    ]) {
      const env = { CLAUDECODE: '1' }
      const { code, stderr } = await project.call(['setup', 'claude-code', ...args], { env })
      expect([code, stderr]).toEqual([1, expect.stringContaining('Removing the guard is for a person')])
    }
    expect(read(user())).toBe(before)
    expect((await setup('--without', 'guard')).code).toBe(0)
    expect((await project.call(['doctor'])).stdout).toContain('but not the guard: no tool call is checked')
  })

  it('no agent takes out the engine or stop, or has another program run the guard', async () => {
    const agent = (...args: string[]) =>
      project.call(['setup', 'claude-code', ...args], { env: { CLAUDECODE: '1' } })
    const refused = async (...args: string[]) => {
      const before = read(user())
      const { code, stderr } = await agent(...args)
      expect([args, code, stderr]).toEqual([
        args,
        1,
        expect.stringContaining('Removing or changing hooks that can block is for a person'),
      ])
      expect(read(user())).toBe(before)
    }
    await setup('--engine', '--yes')
    await refused('--only', 'reminder')
    expect((await agent('--engine', '--with', 'guard')).code).toBe(0)
    await setup('--only', 'guard,stop,reminder')
    await refused('--without', 'stop')
    expect((await agent('--without', 'reminder')).code).toBe(0)
    expect((await agent('--with', 'transcript')).code).toBe(0)
    writeFileSync(user(), read(user()).replaceAll(process.execPath, '/opt/other/bin/node'))
    await refused()
    await refused('--with', 'memory')
    expect((await agent('--dry-run')).code).toBe(0)
    expect((await setup()).code).toBe(0)
  })

  it('an agent keeps entries that name the same program by a link', async () => {
    await setup('--only', 'guard')
    const link = join(project.home, 'node')
    symlinkSync(process.execPath, link)
    writeFileSync(user(), read(user()).replaceAll(process.execPath, link))
    const { code } = await project.call(['setup', 'claude-code'], { env: { CLAUDECODE: '1' } })
    expect([code, read(user()).includes(process.execPath)]).toEqual([0, true])
  })

  it.each([
    [['--only', 'guard,stp'], 'There is no hook "stp"; did you mean stop?\n  Choose from guard, stop, '],
    [['--only', 'guard', '--with', 'stop'], '--only names all hooks'],
    [['--only', 'memory', '--engine'], 'Give --only or --engine, not both'],
    [['--with', 'memory', '--remove'], 'choose from the standard pack'],
    [['--with', 'memory', '--without', 'stop'], 'memory does not work without stop'],
    [['--only', ','], 'No hook would be left'],
  ])('%j exits 64', async (args, why) => {
    const { code, stderr } = await setup(...args)
    expect([code, stderr]).toEqual([64, expect.stringContaining(why)])
    expect(existsSync(user())).toBe(false)
  })

  it.each([
    ['', [], ['guard', 'stop', 'start', 'preferences']],
    ['memory', ['guard'], ['guard', 'stop', 'start', 'preferences', 'memory']],
    ['2, 5 9', ['guard', 'stop'], ['guard', 'reminder']],
    ['stop', ALL_CHOICES, ['guard', 'start', 'preferences', 'reminder', 'transcript']],
  ] as const)('typed %j into the list', (typed, chosen, wanted) => {
    expect(switched(chosen.length > 0 ? chosen : USUAL_CHOICES, typed)).toEqual(wanted)
  })

  const onTerminal = (input: string, args: readonly string[] = [], env = {}) =>
    project.onTerminal(['setup', 'claude-code', ...args], {
      // No preset is chosen before the list.
      input: `\n${input}`,
      columns: 120,
      env: { NO_COLOR: '1', ...env },
      prompt: 'q to leave: ',
    })

  it('at a terminal it lists them, and takes what is picked', async () => {
    const { code, stdout } = await onTerminal('2 7\n\n')
    expect(code).toBe(0)
    expect(stdout).toContain('1 [x]  guard        Blocks commands')
    expect(stdout).toContain('7 [ ]  transcript ')
    expect(stdout).toContain('7 [x]  transcript ')
    expect(registered()).toEqual(['session-start', 'pre-tool-use', 'user-prompt-submit', 'pre-compact'])
  })

  it('answers what is not on the list', async () => {
    const { code, stdout } = await onTerminal('x 9\n1 2 3 4\n\nq\n')
    expect(code).toBe(1)
    expect(stdout).toContain('"x", "9": not on the list. Type numbers from 1 to 7.')
    expect(stdout).toContain('Switch on at least one hook.')
  })

  it('takes an empty list next to the engine', async () => {
    await setup('--engine', '--with', 'guard')
    expect((await onTerminal('1\n\n')).code).toBe(0)
    expect(registered().filter((command) => command === 'pre-tool-use')).toEqual([])
    expect(registered()).toHaveLength(engineEntries(program()).length)
  })

  it.each(['\u0004', 'q\n'])('writes nothing if the list is left with %j', async (typed) => {
    const { code, stdout } = await onTerminal(typed)
    expect([code, stdout]).toEqual([1, expect.stringContaining('Nothing was written')])
    expect(existsSync(user())).toBe(false)
  })

  it.each([
    [['--yes'], {}],
    [['--only', 'guard'], {}],
    [[], { CLAUDECODE: '1' }],
  ])('asks nothing with %j %j', async (args, env) => {
    const { code, stdout } = await onTerminal('', args, env)
    expect([code, stdout]).toEqual([0, expect.stringContaining('registered')])
    expect(stdout).not.toContain('[x]')
  })
})

describe('settings that are left alone', () => {
  it.each([
    ['[1]', 'is not a JSON object'],
    ['{', ':1 is not valid JSON: the text ends too early'],
    ['{"hooks": 1}', ':1 "hooks" is not an object'],
  ])('%j exits 1, says why, and changes nothing', async (text, why) => {
    userFile(text)
    const { code, stdout, stderr } = await setup()
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toContain(why)
    expect(stderr).toContain(user())
    expect(read(user())).toBe(text)
  })

  it('where what they were could not be kept', async () => {
    userFile('{}')
    const env = { CARABINER_HOME: project.file('no-folder', '') }
    const { code, stderr } = await project.call(['setup', 'claude-code'], { env })
    expect([code, stderr]).toEqual([1, expect.stringContaining('The record of setup in')])
    expect(stderr).not.toContain('bug')
    expect(read(user())).toBe('{}')
  })

  it('a link that leads out of the project, for a program too', async () => {
    const outside = join(project.base, 'outside.json')
    writeFileSync(outside, '{}')
    mkdirSync(project.path('.claude'))
    symlinkSync(outside, project.path('.claude/settings.json'))
    const { code, stdout } = await setup('--project', '--json')
    expect(code).toBe(1)
    expect(JSON.parse(stdout)).toEqual({
      error: {
        code: 'SETTINGS_UNUSABLE',
        message: expect.stringContaining(outside),
        hint: expect.stringContaining('by hand'),
      },
    })
    expect(read(outside)).toBe('{}')
  })
})

describe('usage', () => {
  it.each([
    [['setup', 'claude-code', '--all'], 'Give --all or names of agents, not both'],
    [['setup', 'claudecode'], 'There is no agent "claudecode"; did you mean claude-code?'],
    [['setup', 'claude-code', '--user', '--project'], 'Give --user or --project, not both'],
    [['setup', 'claude-code', '--remove', '--engine'], '--remove takes everything out'],
    [['setup', 'claude-code', '--project', 'dir'], 'There is no agent "dir"'],
  ])('%j exits 64', async (args, why) => {
    const { code, stderr } = await project.call(args)
    expect([code, stderr]).toEqual([64, expect.stringContaining(why)])
  })
})

describe('--prune', () => {
  it('takes out hooks of the pack whose program is gone, and registers nothing', async () => {
    const dead = packEntries({ node: '/nowhere/node', script: '/nowhere/carabiner.js' })[1]?.group
    const engine = engineEntries({ node: '/nowhere/node', script: '/nowhere/carabiner.js' })[0]
    userFile(JSON.stringify({ hooks: { Stop: [dead], [engine?.event ?? '']: [engine?.group] } }))
    const { code, stdout } = await setup('--user', '--prune', '--json')
    expect([code, JSON.parse(stdout)]).toEqual([
      0,
      expect.objectContaining({ written: true, backup: expect.any(String) }),
    ])
    expect(hooksIn(user())).toEqual({ [engine?.event ?? '']: [engine?.group] })
    expect(JSON.parse((await setup('--prune', '--json')).stdout)).toMatchObject({
      written: false,
      changes: false,
    })
    expect((await setup('--prune', '--remove')).code).toBe(64)
    expect((await setup('--help')).stdout).not.toContain('--prune')
  })
})

describe('the paths that are registered', () => {
  it('are links, where the files themselves move with an update', () => {
    const cellar = project.file('Cellar/node/20.1/bin/node', '')
    const store = project.file('.pnpm/carabiner@1.0.0/carabiner.js', '')
    const [node, other] = [project.path('bin/node'), project.path('bin/other')]
    mkdirSync(project.path('bin'))
    symlinkSync(cellar, node)
    symlinkSync(store, other)
    expect(lastingPath(cellar, [other, node])).toBe(node)
    expect(lastingPath(cellar, [other, project.path('bin/none')])).toBe(cellar)
    expect(lastingPath(store, [store, other])).toBe(other)
    expect(lastingPath('/usr/bin/node', [node])).toBe('/usr/bin/node')
  })
})

describe('several agents', () => {
  const found = () => {
    for (const folder of ['.codex', '.gemini', '.kimi-code']) mkdirSync(join(project.home, folder))
  }
  const home = (path: string) => join(project.home, path)
  const call = (...args: string[]) => project.call(['setup', ...args])

  it('are found, and nothing is written unless somebody says so', async () => {
    found()
    const { code, stdout } = await call()
    expect(code).toBe(0)
    expect(stdout).toMatch(
      /^found 3 agents\n {2}Codex +codex +~\/\.codex\/hooks\.json, .*\n {2}Gemini CLI .*\n {2}Kimi Code /,
    )
    expect(stdout).toContain('next carabiner setup --yes   # write it')
    expect(readdirSync(home('.codex'))).toEqual([])
  })

  it('all get the same hooks, in their own forms, and lose them again', async () => {
    found()
    expect(await call('--yes', '--engine', '--with', 'guard')).toMatchObject({ code: 0 })
    expect(hooksIn(home('.codex/hooks.json')).PreToolUse).toHaveLength(2)
    expect(read(home('.codex/config.toml'))).toContain('trusted_hash')
    expect(hooksIn(home('.gemini/settings.json')).BeforeTool[1].hooks[0]).toMatchObject({
      timeout: 60_000,
      command: expect.stringContaining(' fire --as gemini --timeout 54 PreToolUse'),
    })
    expect(read(home('.kimi-code/config.toml'))).toContain('[[hooks]]')
    expect((await project.call(['doctor'])).stdout).toContain(
      'ok agents  Codex, Gemini CLI, Kimi Code ask Carabiner',
    )
    const { stdout } = await call('--all', '--remove', '--json')
    expect(JSON.parse(stdout)).toMatchObject({ agents: [{ agent: 'codex', written: true }, {}, {}] })
    for (const folder of ['.codex', '.gemini', '.kimi-code']) expect(readdirSync(home(folder))).toEqual([])
  })

  it('one with broken settings does not keep the others from being set up', async () => {
    found()
    writeFileSync(home('.gemini/settings.json'), '{')
    const { code, stdout } = await call('--yes')
    expect(code).toBe(1)
    expect(stdout).toContain('left alone')
    expect(read(home('.gemini/settings.json'))).toBe('{')
    expect(existsSync(home('.kimi-code/config.toml'))).toBe(true)
    const { agents } = JSON.parse((await call('--yes', '--json')).stdout)
    expect(agents[1]).toMatchObject({ agent: 'gemini', error: { code: 'SETTINGS_UNUSABLE' } })
  })

  it('Codex is told to trust what changed', async () => {
    await call('codex')
    const text = read(home('.codex/hooks.json'))
    writeFileSync(home('.codex/hooks.json'), text.replace('"timeout": 120', '"timeout": 121'))
    expect((await project.call(['doctor'])).stdout).toMatch(
      /broken registration .*Codex does not trust 1 of its hooks, and skips them without a word\n +fix carabiner setup codex/,
    )
  })

  it('--all --remove --project takes out those of the project, and no others', async () => {
    const call = (...args: string[]) => project.call(['setup', ...args])
    await call('codex', '--only', 'guard')
    await call('cursor', 'claude-code', '--only', 'guard', '--project')
    const { code, stdout } = await call('--all', '--remove', '--project')
    expect(code).toBe(0)
    expect(stdout).toContain('found 2 agents')
    expect(stdout).not.toContain('Codex')
    expect(existsSync(join(project.home, '.codex/hooks.json'))).toBe(true)
    expect(existsSync(join(project.folder, '.cursor/hooks.json'))).toBe(false)
    expect((await call('--all', '--remove', '--project')).stdout).toBe(
      'No agent has hooks of Carabiner in this project.\n',
    )
  })

  it('are said to be missing', async () => {
    expect((await call()).stdout).toContain('No agent was found on this machine.')
  })

  it('that only have projects, or do not run hooks of projects, say so', async () => {
    expect((await call('cline')).stderr).toContain('In a project, type carabiner setup cline --project.')
    expect((await call('gemini', '--project')).stderr).toContain('Leave out --project')
    await call('cline', '--project')
    const script = project.path('.clinerules/hooks/PreToolUse')
    const { status, stdout } = spawnSync(script, {
      encoding: 'utf8',
      env: project.env(),
      input:
        '{"clineVersion":"3","hookName":"PreToolUse","preToolUse":{"toolName":"execute_command","parameters":{"command":"git commit --no-verify"}}}',
    })
    expect([status, JSON.parse(stdout)]).toEqual([0, { cancel: true, errorMessage: expect.any(String) }])
  })
})

describe('agents that cannot do everything', () => {
  const setUp = (...args: string[]) => project.call(['setup', ...args])

  it.each([
    ['cline-core', 'stop', 'Cline 3'],
    ['goose', 'stop, start, preferences', 'goose'],
    ['opencode', 'stop', 'opencode'],
  ])('%s gets no hooks that cannot work there, which is said once', async (agent, idle, title) => {
    const first = await setUp(agent, '--yes')
    expect(first.code).toBe(0)
    expect(first.stdout).toContain(`note ${idle} cannot work under ${title}: left out`)
    expect(first.stdout).not.toMatch(/# off: .*stop/)
    const again = await setUp(agent, '--yes')
    expect(again.stdout).toContain('nothing to do')
    expect(again.stdout).not.toContain('left out')
  })

  it('nothing else was asked for: an error', async () => {
    const { code, stderr } = await setUp('goose', '--only', 'start,preferences')
    expect(code).toBe(1)
    expect(stderr).toContain('goose does not let hooks do what start, preferences would do')
  })

  it('memory needs no more than to be asked', async () => {
    expect((await setUp('goose', '--with', 'memory')).stdout).not.toContain('left out')
  })
})

describe('Copilot CLI and VS Code, which read one file', () => {
  const file = () => join(project.home, '.copilot/hooks/carabiner.json')
  const setUp = (...args: string[]) => project.call(['setup', ...args])

  it.each([
    ['copilot', 'vscode'],
    ['vscode', 'copilot'],
  ])('%s, then %s', async (first, second) => {
    const titles: Record<string, string> = { copilot: 'Copilot CLI', vscode: 'VS Code' }
    expect((await setUp(first, '--yes')).stdout).toContain(
      `note ${titles[second]} reads this file too, and runs the same hooks`,
    )
    const before = read(file())
    expect((await setUp(second, '--yes')).stdout).toContain('nothing to do')
    expect(read(file())).toBe(before)
    expect(readdirSync(join(project.home, '.copilot/hooks'))).toEqual(['carabiner.json'])
    expect((await setUp(first, '--remove')).stdout).toContain(
      `note ${titles[second]} reads this file too, and has no hooks of Carabiner without it either`,
    )
    expect(existsSync(file())).toBe(false)
    const { code, stdout } = await setUp(second, '--remove')
    expect(code).toBe(0)
    expect(stdout).toContain('has no hooks of Carabiner')
  })
})

describe('a setup that cannot be finished', () => {
  it('of two files leaves both as they were', async () => {
    const folder = join(project.home, '.codex')
    mkdirSync(folder, { recursive: true })
    // A draft beside it would have a name that is too long.
    const target = join(project.home, 'x'.repeat(240))
    writeFileSync(target, '{}')
    symlinkSync(target, join(folder, 'hooks.json'))
    writeFileSync(join(folder, 'config.toml'), 'model = "x"\n')
    const { code, stderr } = await project.call(['setup', 'codex', '--yes'])
    expect(code).toBe(1)
    expect(stderr).toContain('cannot be written')
    expect(read(join(folder, 'config.toml'))).toBe('model = "x"\n')
    expect(read(target)).toBe('{}')
  })

  it('may have left a draft, which the next one removes', async () => {
    userFile('{}')
    const [old, young] = ['a', 'b'].map((letter) =>
      `${user()}`.replace(/settings\.json$/, `.settings.json.${letter.repeat(16)}.tmp`),
    ) as [string, string]
    for (const draft of [old, young]) writeFileSync(draft, '{"ha')
    utimesSync(old, 0, 0)
    await setup('--only', 'guard')
    expect([existsSync(old), existsSync(young)]).toEqual([false, true])
  })

  it('because root works in the home of somebody else', () => {
    const { uid } = statSync(project.home)
    if (uid === 0) chownSync(project.home, 1000, 1000)
    expect(foreignHome(project.home, 0)).toMatch(/^Root runs this, but .* belongs to another user/)
    expect(foreignHome(project.home, 1000)).toBeUndefined()
    expect(foreignHome('/', 0)).toBeUndefined()
    expect(foreignHome(project.home, undefined)).toBeUndefined()
    if (uid === 0) chownSync(project.home, 0, 0)
  })
})
