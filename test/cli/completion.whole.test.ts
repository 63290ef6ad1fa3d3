// The completion scripts, run by the shells themselves where they are installed.

import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Commands, choiceOf } from '../../src/cli/command.js'
import { COMMANDS } from '../../src/cli/commands.js'
import { CATALOGUE } from '../../src/core/events/catalogue.js'
import { HOST_NAMES } from '../../src/hosts/hosts.js'
import { SHELLS, tabbed } from './completing-shell.js'
import { Project, programFile, withProgram } from './program.js'
import { isInstalled } from './script.js'

withProgram()

let project: Project
let bin: string

beforeAll(() => {
  project = new Project()
  bin = join(project.base, 'bin')
  mkdirSync(bin)
  const program = `#!/bin/sh\nexec '${process.execPath}' '${programFile()}' "$@"\n`
  writeFileSync(join(bin, 'carabiner'), program, { mode: 0o755 })
  project.file('.amplifier/hooks/guard/hooks.json', { hooks: {} })
  project.file('.amplifier/hooks/formatter/hooks.json', { hooks: {} })
  project.file('.amplifier/hooks/.staging-1/hooks.json', { hooks: {} })
  project.file('.amplifier/hooks/$(touch hacked)/hooks.json', { hooks: {} })
  project.file('.amplifier/hooks/two words/hooks.json', { hooks: {} })
  project.file('.amplifier/hooks/hooks.json', { hooks: {} })
  mkdirSync(join(project.home, '.amplifier/hooks/mine'), { recursive: true })
  symlinkSync(project.path('.amplifier/hooks/guard'), join(project.home, '.amplifier/hooks/linked'))
})
afterAll(() => project.remove())

const env = () => ({ PATH: `${bin}:${process.env.PATH}` })

interface Listed {
  readonly commands: readonly { readonly name: string }[]
}

async function helpOf<T = Listed>(...words: readonly string[]): Promise<T> {
  const { stdout } = await project.call(['help', ...words, '--json'])
  return JSON.parse(stdout) as T
}

interface Help {
  readonly options: readonly { readonly option: string }[]
}

describe('what a command says a shell may offer', () => {
  it('is for positionals and values that there are', async () => {
    for (const load of Object.values<Commands[string]>(COMMANDS)) {
      const { name, options, positionals, completes = [] } = (await load()).command
      expect(completes.length, name).toBeLessThanOrEqual(positionals.length)
      for (const [option, { completes: offered, value }] of Object.entries(options))
        if (offered) expect(value, `${name} --${option}`).toBeDefined()
    }
  })

  it.each(['approvals', 'catalog', 'audit', 'setup'] as const)('is all that %s has', async (name) => {
    const { stderr } = await project.call([name, 'qqqqqqqq'])
    const [words] = (await COMMANDS[name]()).command.completes ?? []
    expect(stderr).toMatch(`${choiceOf(words as string[])}\n`)
  })
})

describe('names of plugins', () => {
  it('are the project’s and the user’s, and nothing that a shell would run', async () => {
    const { stdout, code } = await project.call(['completion', '--names', 'plugins'])
    expect(stdout.trim().split('\n')).toEqual(['formatter', 'guard', 'linked', 'mine'])
    expect(code).toBe(0)
  })

  it('are none where there is no folder', async () => {
    const { stdout, code, stderr } = await project.call(['completion', '--names', 'plugins'], {
      cwd: project.base,
      env: { HOME: project.base },
    })
    expect([stdout, stderr, code]).toEqual(['', '', 0])
  })
})

describe('a shell that is none', () => {
  it.each([
    [[], 'carabiner: Which shell? Give its name\n  Choose bash, zsh or fish.\n'],
    [
      ['bahs'],
      'carabiner: There is no completion for "bahs"; did you mean bash?\n  Choose bash, zsh or fish.\n',
    ],
    [['--name', 'x'], 'carabiner: carabiner completion has no option --name; did you mean --names?\n'],
  ])('%j', async (args, said) => {
    const { code, stderr, stdout } = await project.call(['completion', ...args])
    expect(stderr).toContain(said)
    expect([code, stdout]).toEqual([64, ''])
  })
})

// ---- bash -----------------------------------------------------------------------------------------------------

/** Types the words, the last one not finished, and asks as bash does. */
const ASK = `
set -u
source <(carabiner completion bash)
complete -p carabiner | grep -q -- '-F _carabiner carabiner' || exit 9
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_carabiner "$1" "\${COMP_WORDS[COMP_CWORD]#=}" "\${COMP_WORDS[COMP_CWORD - 1]}"
if [ "\${#COMPREPLY[@]}" -gt 0 ]; then printf '%s\\n' "\${COMPREPLY[@]}"; fi
`

const typed = (...words: readonly string[]) => typedTo('carabiner', ...words)

async function typedTo(program: string, ...words: readonly string[]): Promise<readonly string[]> {
  const { code, stdout, stderr } = await project.run('bash', ['-c', ASK, 'bash', program, ...words], {
    env: env(),
  })
  expect([code, stderr]).toEqual([0, ''])
  return stdout === '' ? [] : stdout.trimEnd().split('\n')
}

describe.skipIf(!isInstalled('bash'))('bash', () => {
  it('completes every command', async () => {
    const { commands } = await helpOf()
    expect((await typed('')).toSorted()).toEqual([...commands.map(({ name }) => name), 'help'].sort())
    expect(await typed('expl')).toEqual(['explain'])
    expect(await typed('help', 'expl')).toEqual(['explain'])
  })

  it('completes every option of a command, and of none', async () => {
    for (const command of ['list', 'migrate', 'fire']) {
      const { options } = await helpOf<Help>(command)
      expect(await typed(command, '--')).toEqual(options.map(({ option }) => option))
    }
    expect(await typed('list', '--tru')).toEqual(['--trust-all'])
    expect(await typed('--js')).toEqual(['--json'])
    expect(await typed('setup', '--pru')).toEqual([])
  })

  it('completes events', async () => {
    expect(await typed('fire', '')).toEqual(Object.keys(CATALOGUE))
    expect(await typed('explain', 'PreT')).toEqual(['PreToolUse'])
    expect(await typed('fire', '--json', 'PreT')).toEqual(['PreToolUse'])
    expect(await typed('fire', '--project', 'x', 'PreT')).toEqual(['PreToolUse'])
    expect(await typed('fire', 'Stop', 'PreT')).toEqual([])
  })

  it('completes values, also behind =', async () => {
    expect(await typed('fire', '--as', '')).toEqual(HOST_NAMES)
    expect(await typed('fire', '--as', '=', 'claude')).toEqual(['claude-code'])
    expect((await typed('fire', '--as', '=')).length).toBe(HOST_NAMES.length)
    expect(await typed('migrate', '--to', 'cl')).toEqual(['claude-code'])
    expect(await typed('new', 'x', '--event', 'SessionS')).toEqual(['SessionStart'])
    expect(await typed('schema', 'ho')).toEqual(['hooks', 'hooks.test'])
    expect(await typed('completion', 'z')).toEqual(['zsh'])
  })

  it('completes names of plugins', async () => {
    expect(await typed('disable', '')).toEqual(['formatter', 'guard', 'linked', 'mine'])
    expect(await typed('update', 'mine', 'gu')).toEqual(['guard'])
    expect(await typed('disable', 'mine', 'gu')).toEqual([])
    expect(project.has('hacked')).toBe(false)
  })

  it('runs no program of the folder, whatever is typed', async () => {
    const file = project.file('carabiner', '#!/bin/sh\ntouch hacked\n')
    chmodSync(file, 0o755)
    expect(await typedTo('./carabiner', 'disable', '')).toEqual(['formatter', 'guard', 'linked', 'mine'])
    expect(project.has('hacked')).toBe(false)
  })

  it('leaves paths to bash, and knows nothing of what it does not know', async () => {
    expect(await typed('list', '--project', '')).toEqual([])
    expect(await typed('nonsense', '')).toEqual([])
    expect(await typed('nonsense', '--')).toEqual([])
  })

  it('needs no newer bash than macOS has', async () => {
    const { stdout } = await project.call(['completion', 'bash'])
    expect(stdout).not.toMatch(/mapfile|readarray|declare -A|local -A|\$\{\w+,,/)
    // Where it is missing, that must not be seen.
    expect(stdout.match(/compopt [^;\n]*/g)?.every((call) => call.endsWith('2> /dev/null'))).toBe(true)
  })
})

// ---- at a terminal --------------------------------------------------------------------------------------------

/** Typed up to here, and what Tab makes of it. */
const TYPED: Readonly<Record<string, string>> = {
  'carabiner expl': 'carabiner explain ',
  'carabiner help expl': 'carabiner help explain ',
  'carabiner help list expl': 'carabiner help list expl',
  'carabiner --js': 'carabiner --json ',
  'carabiner --json li': 'carabiner --json li',
  'carabiner list --tru': 'carabiner list --trust-all ',
  'carabiner list no': 'carabiner list no',
  'carabiner nonsense PreT': 'carabiner nonsense PreT',
  // events
  'carabiner fire PreT': 'carabiner fire PreToolUse ',
  'carabiner fire "PreT': 'carabiner fire "PreToolUse" ',
  "carabiner fire 'PreT": "carabiner fire 'PreToolUse' ",
  'carabiner fire --json PreT': 'carabiner fire --json PreToolUse ',
  'carabiner fire -h PreT': 'carabiner fire -h PreToolUse ',
  'carabiner fire Stop PreT': 'carabiner fire Stop PreT',
  'carabiner new x --event PreC': 'carabiner new x --event PreCompact ',
  // behind --
  'carabiner fire -- PreT': 'carabiner fire -- PreToolUse ',
  'carabiner fire -- --pay': 'carabiner fire -- --pay',
  // values
  'carabiner fire --as cla': 'carabiner fire --as claude-code ',
  'carabiner fire --as=cla': 'carabiner fire --as=claude-code ',
  'carabiner fire --as "cla': 'carabiner fire --as "claude-code" ',
  'carabiner fire --as claude-code PreT': 'carabiner fire --as claude-code PreToolUse ',
  'carabiner fire --as=claude-code PreT': 'carabiner fire --as=claude-code PreToolUse ',
  'carabiner migrate --to cl': 'carabiner migrate --to claude-code ',
  'carabiner setup cla': 'carabiner setup claude-code ',
  'carabiner hook pre-t': 'carabiner hook pre-tool-use ',
  'carabiner catalog sea': 'carabiner catalog search ',
  // plugins
  'carabiner disable gu': 'carabiner disable guard ',
  'carabiner disable --hook x gu': 'carabiner disable --hook x guard ',
  'carabiner disable -- gu': 'carabiner disable -- guard ',
  'carabiner disable mine gu': 'carabiner disable mine gu',
  'carabiner disable two': 'carabiner disable two',
  'carabiner new --lang py': 'carabiner new --lang python ',
  'carabiner new x --matcher no': 'carabiner new x --matcher no',
  'carabiner update guard mi': 'carabiner update guard mine ',
  // paths
  'carabiner list --project sub': 'carabiner list --project sub\\ folder/',
  'carabiner list --project=sub': 'carabiner list --project=sub\\ folder/',
  'carabiner fire --project "sub folder" PreT': 'carabiner fire --project "sub folder" PreToolUse ',
  'carabiner fire --project sub\\ folder PreT': 'carabiner fire --project sub\\ folder PreToolUse ',
  'carabiner list --config my': 'carabiner list --config my\\ file.json ',
  'carabiner list --config "my f': 'carabiner list --config "my file.json" ',
  "carabiner list --config 'my f": "carabiner list --config 'my file.json' ",
  'carabiner fire --payload=no': 'carabiner fire --payload=notes.txt ',
  'carabiner install sub': 'carabiner install sub\\ folder/',
  'carabiner migrate sub': 'carabiner migrate sub\\ folder/',
  'carabiner catalog add sub': 'carabiner catalog add sub\\ folder/',
}

describe('at a terminal', { timeout: 300_000 }, () => {
  beforeAll(() => {
    mkdirSync(project.path('sub folder'))
    project.file('my file.json', '{}')
    project.file('notes.txt', 'x')
  })

  it.for(SHELLS)('%s makes of a line', async (shell, { skip }) => {
    for (const program of [shell, 'python3']) skip(!isInstalled(program), `needs ${program}`)
    const lines = Object.keys(TYPED)
    const become = await tabbed(shell, lines, project, bin)
    expect(Object.fromEntries(lines.map((line, i) => [line, become[i]]))).toEqual(TYPED)
    expect(project.has('hacked')).toBe(false)
  })

  it.for(SHELLS)('%s knows every command, and that it has --json', async (shell, { skip }) => {
    for (const program of [shell, 'python3']) skip(!isInstalled(program), `needs ${program}`)
    const lines = (await helpOf()).commands.flatMap(({ name }) => [
      `carabiner ${name}`,
      `carabiner ${name} --js`,
    ])
    const finished = lines.map((line) => `${line.replace(/--js$/, '--json')} `)
    expect(await tabbed(shell, lines, project, bin)).toEqual(finished)
  })

  it.for(['zsh', 'fish'] as const)('%s finds the script in a file, too', async (shell, { skip }) => {
    skip(!isInstalled(shell), `needs ${shell}`)
    const { stdout: script } = await project.call(['completion', shell])
    const [file, ask] = {
      zsh: [
        '_carabiner',
        'fpath=("$1" $fpath); autoload -Uz compinit && compinit -u -D; print $_comps[carabiner]',
      ],
      fish: ['carabiner.fish', "set fish_complete_path $argv[2]; complete -C 'carabiner expl'"],
    }[shell] as [string, string]
    const folder = dirname(project.file(`../found/${file}`, script))
    const run = await project.run(shell, [...(shell === 'zsh' ? ['-f'] : []), '-c', ask, shell, folder], {
      env: env(),
    })
    expect(run).toMatchObject({ code: 0, stderr: '' })
    expect(run.stdout).toMatch(shell === 'zsh' ? /^_carabiner\n$/ : /^explain\t/)
  })
})

describe('--json', () => {
  it('holds the script', async () => {
    const { stdout } = await project.call(['completion', 'bash', '--json'])
    const plain = await project.call(['completion', 'bash'])
    expect(JSON.parse(stdout)).toEqual({ shell: 'bash', script: plain.stdout })
  })
})
