// Variables that a project's files set: they reach the project's own hooks, and nobody else's.

import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadsCode } from '../../src/effects/shell/loading-variables.js'
import { PROJECT_VARIABLES } from '../../src/files/project-env.js'
import { BASH, GUARD, Project, withProgram } from './program.js'

withProgram()

let project: Project
beforeEach(() => {
  project = new Project()
})
afterEach(() => project.remove())

/** The user's own hooks. */
function userHooks(command: string, more: object = {}): void {
  const path = join(project.home, '.amplifier', 'hooks', 'hooks.json')
  mkdirSync(dirname(path), { recursive: true })
  const hooks = { PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command, ...more }] }] }
  writeFileSync(path, JSON.stringify({ hooks }))
}

/** As Claude Code starts us: what the project's settings set is in the environment. */
async function fired(env: Readonly<Record<string, string>>, file = '.claude/settings.json') {
  project.file(file, { env })
  return project.carabiner(['fire', '--as', 'claude-code'], {
    input: { hook_event_name: 'PreToolUse', session_id: 's', cwd: project.folder, ...BASH },
    env: { CLAUDECODE: '1', CLAUDE_PROJECT_DIR: project.folder, ...env },
  })
}

const usualPath = () => process.env.PATH ?? ''
/** A program of the project's that tells on itself, and finds nothing. */
const fake = (name: string) => project.file(name, `#!/bin/sh\n: > '${project.path('ran')}'\nexit 1\n`, 0o755)
const SETTINGS = ['.claude/settings.json', '.claude/settings.local.json']

describe("E1: a project's PATH", () => {
  const PATHS: readonly (readonly [string, () => string])[] = [
    ['a relative folder', () => `.bin${delimiter}${usualPath()}`],
    ['a folder of the project', () => `${project.path('.bin')}${delimiter}${usualPath()}`],
    ['nothing else', () => project.path('.bin')],
  ]

  it.each(SETTINGS.flatMap((file) => PATHS.map(([what, path]) => [what, file, path] as const)))(
    'with %s in %s does not reach a gate of the user',
    async (_, file, path) => {
      fake('.bin/grep')
      userHooks(GUARD)
      expect(await fired({ PATH: path() }, file)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('rm -rf is not allowed here'),
      })
      expect(project.has('ran')).toBe(false)
    },
  )

  it('reaches a hook of the project that is no gate', async () => {
    project.hooks({ SessionEnd: [['', `[ "$TOKEN" = of-project ] && echo "$PATH" > seen`]] })
    project.file('.claude/settings.json', { env: { TOKEN: 'of-project' } })
    await project.carabiner(['fire', 'SessionEnd', '--as', 'claude-code', '--trust-all'], {
      input: { session_id: 's', cwd: project.folder, reason: 'other' },
      env: {
        CLAUDE_PROJECT_DIR: project.folder,
        TOKEN: 'of-project',
        PATH: `.bin${delimiter}${usualPath()}`,
      },
    })
    expect(project.read('seen')).toContain('.bin')
  })
})

describe('E2: a variable that makes programs load code', () => {
  /** A gate that a variable opens, with what the project must bring for it. */
  const OPENED: Readonly<Record<string, readonly [gate: () => string, value: () => string]>> = {
    BASH_ENV: [bashGate, () => project.file('env.sh', 'exit 0\n')],
    SHELLOPTS: [bashGate, () => 'noexec'],
    PYTHONPATH: [
      () =>
        `python3 -c 'import json, sys; sys.exit(2 if "rm -rf" in json.load(sys.stdin)["tool_input"]["command"] else 0)'`,
      () => dirname(project.file('py/json.py', 'import os\nos._exit(0)\n')),
    ],
    NODE_OPTIONS: [
      () => `"${process.execPath}" -e 'process.exit(2)'`,
      () => `--require "${project.file('load.cjs', "if (process.execArgv.includes('-e')) process.exit(0)")}"`,
    ],
    LD_LIBRARY_PATH: [() => `[ -z "$LD_LIBRARY_PATH" ] && exit 2 || exit 0`, () => project.path('lib')],
    GIT_CONFIG_GLOBAL: [
      () => '[ "$(git guard)" = open ] && exit 0; exit 2',
      () => project.file('gitconfig', '[alias]\n\tguard = "!echo open"\n'),
    ],
  }
  function bashGate(): string {
    writeFileSync(join(project.home, 'gate.sh'), `grep -q 'rm -rf' && exit 2 || exit 0\n`)
    return 'bash ~/gate.sh'
  }

  it.each(Object.keys(OPENED))('%s does not open a gate of the user', async (name) => {
    const [gate, value] = OPENED[name] as (typeof OPENED)[string]
    userHooks(gate())
    expect(await fired({ [name]: value() })).toMatchObject({ code: 2 })
  })

  it('or any other variable is put back to what the user had, or dropped', async () => {
    writeFileSync(join(project.home, 'seen'), '')
    mkdirSync(join(project.home, '.claude'))
    writeFileSync(
      join(project.home, '.claude', 'settings.json'),
      JSON.stringify({ env: { TOKEN: 'of-user' } }),
    )
    userHooks(`printf '%s|%s' "$TOKEN" "\${OTHER-dropped}" > "$HOME/seen"`)
    await fired({ TOKEN: 'of-project', OTHER: 'of-project' })
    const { stdout } = await project.run('cat', [join(project.home, 'seen')])
    expect(stdout).toBe('of-user|dropped')
  })

  it('is dropped where the settings of the project cannot be read', async () => {
    userHooks('[ -n "$PYTHONPATH" ] && exit 0; exit 2')
    project.file('.claude/settings.json', 'x'.repeat(5 * 1024 * 1024))
    const { code } = await project.carabiner(['fire', '--as', 'claude-code'], {
      input: { hook_event_name: 'PreToolUse', session_id: 's', cwd: project.folder, ...BASH },
      env: { CLAUDE_PROJECT_DIR: project.folder, PYTHONPATH: project.folder },
    })
    expect(code).toBe(2)
  })

  it('of the user stays', async () => {
    userHooks('[ "$PYTHONPATH" = /mine ] && exit 2; exit 0')
    project.file('.claude/settings.json', { env: { OTHER: 'x' } })
    const { code } = await project.carabiner(['fire', '--as', 'claude-code'], {
      input: { hook_event_name: 'PreToolUse', session_id: 's', cwd: project.folder, ...BASH },
      env: { CLAUDE_PROJECT_DIR: project.folder, PYTHONPATH: '/mine' },
    })
    expect(code).toBe(2)
  })
})

describe('E3: our own programs', () => {
  const ENTRIES: readonly (readonly [string, () => string])[] = [
    ['.', () => '.'],
    ['an empty entry', () => ''],
    ['a relative folder', () => 'node_modules/.bin'],
    ['a folder of the project', () => project.path('node_modules/.bin')],
    [
      'a link into the project',
      () => {
        symlinkSync(project.path('node_modules/.bin'), join(project.home, 'bin'))
        return join(project.home, 'bin')
      },
    ],
  ]

  it.each(ENTRIES)('are not taken from %s', async (_, entry) => {
    await project.run('git', ['init', '-q'])
    for (const name of ['git', 'node_modules/.bin/git']) fake(name)
    const PATH = [entry(), usualPath()].join(delimiter)
    const { stdout } = await project.carabiner(['hook', 'session-start'], {
      input: { hook_event_name: 'SessionStart', session_id: 's', cwd: project.folder, source: 'startup' },
      env: { CLAUDE_PROJECT_DIR: project.folder, PATH },
    })
    expect([existsSync(project.path('ran')), stdout]).toEqual([false, expect.stringContaining('untracked')])
  })

  it('get none of the variables that load code', async () => {
    await project.run('git', ['init', '-q'])
    const trace = project.path('ran')
    const exec = dirname(project.file('exec/git-status', `#!/bin/sh\ntouch '${trace}'\n`, 0o755))
    await project.carabiner(['hook', 'session-start'], {
      input: { hook_event_name: 'SessionStart', session_id: 's', cwd: project.folder, source: 'startup' },
      env: { CLAUDE_PROJECT_DIR: project.folder, GIT_EXEC_PATH: exec, GIT_TRACE: trace },
    })
    expect(project.has('ran')).toBe(false)
  })
})

describe('D10: a hook that asks whether it runs under Claude Code', () => {
  const ASKS = '[ "$CLAUDECODE" = 1 ] || exit 0; echo "$CLAUDE_CODE_ENTRYPOINT" >&2; exit 2'
  const hooks = { PreToolUse: [{ hooks: [{ type: 'command', command: ASKS }] }] }
  const fire = () => project.carabiner(['fire', 'PreToolUse', '--trust-all'], { input: BASH })

  it("does in a plugin of Claude Code's", async () => {
    project.file('.amplifier/hooks/guard/hooks/hooks.json', { hooks })
    expect(await fire()).toMatchObject({ code: 2, stdout: expect.stringContaining('cli') })
  })

  it("does not in a file of Amplifier's", async () => {
    project.file('.amplifier/hooks/hooks.json', { hooks })
    expect((await fire()).code).toBe(0)
  })
})

describe('a gate of the project that the user trusted', () => {
  /** What opens a gate, and what the project must bring for it. */
  const OPENED: Readonly<Record<string, readonly [gate: string, value: () => string]>> = {
    BASH_ENV: ["#!/bin/bash\ngrep -q 'rm -rf' && exit 2\nexit 0\n", () => project.file('env.sh', 'exit 0\n')],
    PYTHONPATH: [
      '#!/usr/bin/env python3\nimport json, sys\nsys.exit(2 if "rm -rf" in sys.stdin.read() else 0)\n',
      () => dirname(project.file('py/json.py', 'import os\nos._exit(0)\n')),
    ],
    MODE: ['#!/bin/sh\n[ "$MODE" = lax ] && exit 0\nexit 2\n', () => 'lax'],
  }
  const guard = async (script: string, more: object = {}) => {
    const command = '"$CLAUDE_PLUGIN_ROOT/check"'
    const hooks = { PreToolUse: [{ hooks: [{ type: 'command', command, ...more }] }] }
    project.file('.amplifier/hooks/guard/hooks.json', { hooks })
    project.file('.amplifier/hooks/guard/check', script, 0o755)
    await project.call(['trust', 'guard', '--yes'])
  }

  it.each(Object.keys(OPENED))('is not opened by %s of unreviewed settings', async (name) => {
    const [script, value] = OPENED[name] as (typeof OPENED)[string]
    await guard(script)
    expect((await fired({})).code).toBe(2)
    expect((await fired({ [name]: value() })).code).toBe(2)
    project.file('.claude/settings.json', {})
    expect((await fired({ [name]: value() }, '.claude/settings.local.json')).code).toBe(2)
  })

  it.each(Object.keys(OPENED))('is not opened by %s of a repository in the project', async (name) => {
    const [script, value] = OPENED[name] as (typeof OPENED)[string]
    await guard(script)
    project.file('inner/.git/HEAD', '')
    const env = { [name]: value() }
    project.file('inner/.claude/settings.json', { env })
    const cwd = project.path('inner')
    const { code } = await project.call(['fire', 'PreToolUse', '--as', 'claude-code'], {
      cwd,
      input: { session_id: 's', cwd, ...BASH },
      env: { CLAUDE_PROJECT_DIR: cwd, ...env },
    })
    expect(code).toBe(2)
  })

  it('has the variables that were reviewed with it, and those of the user', async () => {
    await guard('#!/bin/sh\n[ "$MODE $MINE" = "strict 1" ] && exit 2\nexit 0\n', { env: { MODE: 'strict' } })
    project.file('.claude/settings.json', { env: { MODE: 'lax' } })
    const { code } = await project.call(['fire', 'PreToolUse', '--as', 'claude-code'], {
      input: { session_id: 's', cwd: project.folder, ...BASH },
      env: { CLAUDE_PROJECT_DIR: project.folder, MODE: 'lax', MINE: '1' },
    })
    expect(code).toBe(2)
  })
})

describe('a variable that names the project', () => {
  const guard = async () => {
    project.hooks({ PreToolUse: [['Bash', GUARD]] })
    await project.call(['trust', '--yes'])
  }
  const call = (env: Readonly<Record<string, string>>, host = 'claude-code') =>
    project.call(['fire', 'PreToolUse', '--as', host], {
      cwd: project.home,
      input: { session_id: 's', cwd: project.home, ...BASH },
      env,
    })

  it.each(PROJECT_VARIABLES)('%s is refused where a file of the project sets it', async (name) => {
    await guard()
    const file = project.file('.claude/settings.json', { env: { [name]: project.base } })
    const env = { [name]: project.base, CLAUDE_PROJECT_DIR: project.folder }
    expect(await call(env)).toMatchObject({
      code: 2,
      stdout: expect.stringContaining(`${file} sets ${name} for hooks`),
    })
  })

  it('does not keep the variables of the real project from being taken out for a gate of the user', async () => {
    writeFileSync(join(project.home, 'gate.sh'), `grep -q 'rm -rf' && exit 2 || exit 0\n`)
    userHooks('bash ~/gate.sh')
    const env = { BASH_ENV: project.file('env.sh', 'exit 0\n') }
    project.file('.claude/settings.json', { env })
    const more = { AMPLIFIER_PROJECT_DIR: project.base, CLAUDE_PROJECT_DIR: project.folder }
    expect((await call({ ...env, ...more })).code).toBe(2)
  })

  it.each([
    ['claude-code', 'CLAUDE_PROJECT_DIR'],
    ['gemini', 'GEMINI_PROJECT_DIR'],
    ['qwen', 'QWEN_PROJECT_DIR'],
    ['cursor', 'CURSOR_PROJECT_DIR'],
    ['droid', 'FACTORY_PROJECT_DIR'],
    ['copilot', 'COPILOT_PROJECT_DIR'],
    ['crush', 'CRUSH_PROJECT_DIR'],
  ])("counts for %s only if it is the agent's own, %s", async (host, own) => {
    await guard()
    const others = PROJECT_VARIABLES.filter((name) => name !== own).map((name) => [name, project.base])
    const { stdout } = await call({ ...Object.fromEntries(others), [own]: project.folder }, host)
    expect(stdout).toContain('rm -rf is not allowed here')
  })
})

describe('a list of trusted digests', () => {
  /** A hook that nobody reviewed, in a folder of a repository that has the list. */
  const listed = async () => {
    mkdirSync(project.path('.git'))
    project.file('.git/HEAD', '')
    project.file('pkg/.amplifier/hooks/hooks.json', {
      hooks: { PreToolUse: [{ hooks: [{ type: 'command', command: `: > '${project.path('ran')}'` }] }] },
    })
    const { stdout } = await project.call(['trust', '--show'], { cwd: project.path('pkg') })
    return /^[0-9a-f]{64} {2}# .*$/m.exec(stdout)?.[0] as string
  }
  const call = (list: string) =>
    project.call(['fire', 'PreToolUse', '--as', 'claude-code'], {
      cwd: project.path('pkg'),
      input: { session_id: 's', cwd: project.path('pkg'), ...BASH },
      env: { CLAUDE_PROJECT_DIR: project.path('pkg'), CARABINER_PRE_TRUSTED: list },
    })

  it('counts if the user names it, outside every project', async () => {
    const list = join(project.home, 'list')
    writeFileSync(list, await listed())
    expect([(await call(list)).code, project.has('ran')]).toEqual([0, true])
  })

  it('is refused if a file of the project names it', async () => {
    const list = join(project.home, 'list')
    writeFileSync(list, await listed())
    project.file('pkg/.claude/settings.json', { env: { CARABINER_PRE_TRUSTED: list } })
    const { code, stdout } = await call(list)
    expect([code, project.has('ran')]).toEqual([2, false])
    expect(stdout).toContain('settings.json sets CARABINER_PRE_TRUSTED for hooks')
    const shown = await project.call(['list'], {
      cwd: project.path('pkg'),
      env: { CARABINER_PRE_TRUSTED: list },
    })
    expect(shown).toMatchObject({ stderr: expect.stringContaining('sets CARABINER_PRE_TRUSTED for hooks') })
  })

  it('is refused if its path is relative', async () => {
    writeFileSync(join(project.base, 'list'), await listed())
    const { code, stdout } = await call('../../list')
    expect([code, project.has('ran')]).toEqual([2, false])
    expect(stdout).toContain('CARABINER_PRE_TRUSTED must be an absolute path')
  })

  it('is refused if it lies in the repository around the project', async () => {
    const list = project.file('list', await listed())
    const { code, stdout } = await call(list)
    expect([code, project.has('ran')]).toEqual([2, false])
    expect(stdout).toContain('is inside the project')
  })
})

describe('settings of a project that cannot be read', () => {
  const MOVED: readonly (readonly [string, () => string])[] = [
    ['HOME', () => project.base],
    ['CARABINER_HOME', () => join(project.base, 'store')],
    ['XDG_DATA_HOME', () => join(project.base, 'data')],
    ['XDG_STATE_HOME', () => join(project.base, 'state')],
    ['CARABINER_PRE_TRUSTED', () => join(project.base, 'list')],
    ['AMPLIFIER_PROJECT_DIR', () => project.base],
  ]

  it.each(MOVED)('may have set %s, so nothing is judged', async (name, value) => {
    project.file('.claude/settings.json', ' '.repeat(5 * 1024 * 1024))
    const { code, stdout } = await project.call(['fire', 'PreToolUse', '--as', 'claude-code'], {
      input: { session_id: 's', cwd: project.folder, ...BASH },
      env: { CLAUDE_PROJECT_DIR: project.folder, [name]: value() },
    })
    expect(code).toBe(2)
    expect(stdout).toContain(`settings.json is larger`)
    expect(stdout).toContain(name)
  })

  it('may be no file at all', async () => {
    mkdirSync(project.path('.claude'))
    await project.run('mkfifo', [project.path('.claude/settings.json')])
    const { code, stdout } = await project.call(['fire', 'PreToolUse', '--as', 'claude-code'], {
      input: { session_id: 's', cwd: project.folder, ...BASH },
      env: { CLAUDE_PROJECT_DIR: project.folder },
    })
    expect([code, stdout]).toEqual([2, expect.stringContaining('HOME')])
  })
})

describe('the table of variables that load code', () => {
  it.each(
    `BASH_ENV ENV SHELLOPTS BASHOPTS PYTHONPATH PYTHONSTARTUP PYTHONHOME NODE_OPTIONS NODE_PATH LD_PRELOAD LD_AUDIT
    DYLD_INSERT_LIBRARIES PERL5OPT PERL5LIB RUBYOPT RUBYLIB GIT_EXEC_PATH GIT_SSH GIT_SSH_COMMAND GIT_CONFIG_GLOBAL
    GIT_CONFIG_COUNT GIT_CONFIG_KEY_0 GIT_EXTERNAL_DIFF GIT_PAGER GIT_EDITOR GIT_ASKPASS GIT_PROXY_COMMAND SSH_ASKPASS
    PAGER EDITOR npm_config_script_shell npm_config_node_options JAVA_TOOL_OPTIONS LUA_INIT PHPRC AWKPATH
    BASH_FUNC_grep%% PROMPT_COMMAND PS4 CDPATH LESSOPEN MAKEFLAGS DOTNET_STARTUP_HOOKS BUN_OPTIONS`.split(
      /\s+/,
    ),
  )('has %s', (name) => {
    expect(loadsCode(name)).toBe(true)
  })

  it.each(['HOME', 'LANG', 'TERM', 'GIT_AUTHOR_NAME', 'ANTHROPIC_API_KEY', 'HTTPS_PROXY'])(
    'has not %s',
    (name) => {
      expect(loadsCode(name)).toBe(false)
    },
  )
})
