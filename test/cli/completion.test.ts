// The completion scripts, run by the shells themselves where they are installed.

import { spawnSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { KNOWN } from '../../src/cli/completion/completable.js'
import { CATALOGUE } from '../../src/core/catalogue.js'
import { HOST_NAMES } from '../../src/dialects/hosts.js'
import { Project, programFile, withProgram } from './program.js'

withProgram()

let project: Project
let bin: string
const has = (shell: string) => spawnSync(shell, ['-c', 'exit 0']).status === 0

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
  const { stdout } = await project.carabiner(['help', ...words, '--json'])
  return JSON.parse(stdout) as T
}

interface Help {
  readonly options: readonly { readonly option: string; readonly value?: string }[]
  readonly positionals: readonly string[]
}

describe('what is known of places', () => {
  it('is of commands and options that there are', async () => {
    for (const place of Object.keys(KNOWN)) {
      const [command = '', what = ''] = place.split(' ')
      const { options, positionals } = await helpOf<Help>(command)
      if (what.startsWith('--'))
        expect(options.find(({ option }) => option === what)?.value, place).toBeDefined()
      else expect(positionals.length, place).toBeGreaterThanOrEqual(Number(what))
    }
  })

  it.each(['approvals', 'catalog'])('is all that %s has', async (command) => {
    const { stderr } = await project.carabiner([command, 'qqqqqqqq'])
    const kind = KNOWN[`${command} 1`]
    expect(stderr).toContain(`There is ${kind?.type === 'words' ? kind.words.join(', ') : ''}.`)
  })
})

describe('names of plugins', () => {
  it('are the project’s and the user’s, and nothing that a shell would run', async () => {
    const { stdout, code } = await project.carabiner(['completion', '--names', 'plugins'])
    expect(stdout.trim().split('\n')).toEqual(['formatter', 'guard', 'linked', 'mine'])
    expect(code).toBe(0)
  })

  it('are none where there is no folder', async () => {
    const { stdout, code, stderr } = await project.carabiner(['completion', '--names', 'plugins'], {
      cwd: project.base,
      env: { HOME: project.base },
    })
    expect([stdout, stderr, code]).toEqual(['', '', 0])
  })
})

describe('a shell that is none', () => {
  it.each([
    [[], 'carabiner: Give the shell\n  There is bash, zsh, fish.\n'],
    [
      ['bahs'],
      'carabiner: There is no completion for "bahs"; did you mean bash?\n  There is bash, zsh, fish.\n',
    ],
    [['--name', 'x'], 'carabiner: carabiner completion has no option --name; did you mean --names?\n'],
  ])('%j', async (args, said) => {
    const { code, stderr, stdout } = await project.carabiner(['completion', ...args])
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
_carabiner carabiner "\${COMP_WORDS[COMP_CWORD]}" "\${COMP_WORDS[COMP_CWORD - 1]}"
if [ "\${#COMPREPLY[@]}" -gt 0 ]; then printf '%s\\n' "\${COMPREPLY[@]}"; fi
`

async function typed(...words: readonly string[]): Promise<readonly string[]> {
  const { code, stdout, stderr } = await project.run('bash', ['-c', ASK, 'bash', 'carabiner', ...words], {
    env: env(),
  })
  expect([code, stderr]).toEqual([0, ''])
  return stdout === '' ? [] : stdout.trimEnd().split('\n')
}

describe.skipIf(!has('bash'))('bash', () => {
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
    expect(await typed('uninstall', 'mine', 'gu')).toEqual([])
    expect(project.has('hacked')).toBe(false)
  })

  it('leaves paths to bash, and knows nothing of what it does not know', async () => {
    expect(await typed('list', '--project', '')).toEqual([])
    expect(await typed('nonsense', '')).toEqual([])
    expect(await typed('nonsense', '--')).toEqual([])
  })

  it('needs no newer bash than macOS has', async () => {
    const { stdout } = await project.carabiner(['completion', 'bash'])
    expect(stdout).not.toMatch(/mapfile|readarray|compopt|declare -A|local -A|\$\{\w+,,/)
  })
})

// ---- zsh and fish ---------------------------------------------------------------------------------------------

describe('zsh', () => {
  it.skipIf(!has('zsh'))('understands its script', async () => {
    const check =
      'autoload -Uz compinit && compinit -u -D && source <(carabiner completion zsh) && print $_comps[carabiner]'
    const { stdout, stderr } = await project.run('zsh', ['-fc', check], { env: env() })
    expect([stdout, stderr]).toEqual(['_carabiner\n', ''])
  })

  it('has a line for every command', async () => {
    const { stdout } = await project.carabiner(['completion', 'zsh'])
    expect(stdout).toMatch(/^#compdef carabiner\n/)
    for (const { name } of (await helpOf()).commands) expect(stdout).toContain(`    ${name}) _arguments `)
    expect(stdout).toContain(`'*--as[`)
    expect(stdout).toContain(`'1: :{_carabiner_names plugins}'`)
  })

  it.skipIf(has('zsh'))('is not installed: nobody ran its script', () => {})
})

describe('fish', () => {
  it.skipIf(!has('fish'))('completes', async () => {
    const ask = (line: string) =>
      project.run('fish', ['-c', `carabiner completion fish | source; complete -C ${JSON.stringify(line)}`], {
        env: env(),
      })
    expect((await ask('carabiner expl')).stdout).toMatch(/^explain\t/)
    expect((await ask('carabiner explain PreT')).stdout).toBe('PreToolUse\n')
    expect((await ask('carabiner disable gu')).stdout).toBe('guard\n')
    expect((await ask('carabiner list --tru')).stdout).toMatch(/^--trust-all\t/)
  })

  it('has a line for every command', async () => {
    const { stdout } = await project.carabiner(['completion', 'fish'])
    for (const { name } of (await helpOf()).commands) {
      expect(stdout).toContain(`complete -c carabiner -n __fish_use_subcommand -a ${name} -d '`)
    }
    expect(stdout).toMatch(/__fish_seen_subcommand_from fire' -l as -x -a '.*claude-code/)
  })

  it.skipIf(has('fish'))('is not installed: nobody ran its script', () => {})
})

describe('--json', () => {
  it('holds the script', async () => {
    const { stdout } = await project.carabiner(['completion', 'bash', '--json'])
    const plain = await project.carabiner(['completion', 'bash'])
    expect(JSON.parse(stdout)).toEqual({ shell: 'bash', script: plain.stdout })
  })
})
