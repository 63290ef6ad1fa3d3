import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CATALOGUE } from 'carabiner/core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ENGINE_EVENTS } from '../../src/hosts/claude-code/setup.js'
import { gemini } from '../../src/hosts/gemini/host.js'
import {
  filesOf,
  formerCall,
  ifGone,
  looseCall,
  type OwnCommand,
  ownCommand,
} from '../../src/hosts/own-command.js'
import { PACK_NAMES } from '../../src/hosts/pack-names.js'
import { engineEntries, packEntries } from './grouped.js'

const PROGRAM = { node: '/n/node', script: '/c/carabiner.js' }
/** Nothing that a project sets loads code into the program. */
const START = (exit: 1 | 2) =>
  `${ifGone(['"/n/node"', '"/c/carabiner.js"'], exit)} NODE_OPTIONS= NODE_PATH= OPENSSL_CONF= "/n/node" "/c/carabiner.js"`
const ENGINE = engineEntries(PROGRAM)
const handler = (event: string) => ENGINE.find((one) => one.event === event)?.group.hooks[0]

describe('the entries of the engine', () => {
  it('are for every event of Claude Code, except where listening already changes what happens', () => {
    const left = Object.keys(CATALOGUE).filter((event) => !ENGINE_EVENTS.includes(event))
    expect(left.sort()).toEqual([
      'MessageDisplay',
      'ModelRequest',
      'ModelResponse',
      'ToolsListed',
      'WorktreeCreate',
      'WorktreeRemove',
    ])
    expect(ENGINE.map(({ event }) => event)).toEqual(ENGINE_EVENTS)
  })

  it('fire that event, for that host, for every tool', () => {
    for (const { event, group } of ENGINE) {
      const { command, onFailure, timeout = 0 } = group.hooks[0]
      const start = START(onFailure === 'block' ? 2 : 1)
      expect(command).toBe(`${start} fire --as claude-code --timeout ${timeout * 0.9} ${event}`)
      expect(group).not.toHaveProperty('matcher')
    }
  })

  it('are given the time that fire takes for granted', () => {
    expect(handler('PreToolUse')?.timeout).toBe(600)
    expect(handler('UserPromptSubmit')?.timeout).toBe(30)
    expect(handler('SessionEnd')?.timeout).toBe(60)
  })

  it('close gates that cannot be asked, and nothing that only tells', () => {
    for (const gate of ['PreToolUse', 'PermissionRequest', 'UserPromptSubmit', 'ConfigChange']) {
      expect(handler(gate)?.onFailure).toBe('block')
    }
    // An agent that may not stop, or a tool that has run, is no gate.
    for (const other of ['Stop', 'SubagentStop', 'PostToolUse', 'SessionStart', 'SessionEnd']) {
      expect(handler(other)).not.toHaveProperty('onFailure')
    }
  })
})

describe('the entries of the pack', () => {
  it('are all its hooks, each once and in order; if the guard cannot run, nothing does', () => {
    const handlers = packEntries(PROGRAM).map(({ group }) => group.hooks[0])
    expect(handlers.map(({ command }) => command.replace(/.* hook | --memory$/g, ''))).toEqual([
      ...PACK_NAMES,
    ])
    expect(handlers.filter((one) => 'onFailure' in one)).toEqual([
      { type: 'command', command: `${START(2)} hook pre-tool-use`, onFailure: 'block' },
    ])
  })

  it('name paths that a shell would take apart as they are', () => {
    const files = ['"/a b/\\$HOME/\\`x\\`/node"', '"/c\\"d\\\\e/carabiner.js"']
    const [first] = packEntries({ node: '/a b/$HOME/`x`/node', script: '/c"d\\e/carabiner.js' })
    expect(first?.group.hooks[0].command).toBe(
      `${ifGone(files, 1)} NODE_OPTIONS= NODE_PATH= OPENSSL_CONF= ${files.join(' ')} hook session-start --memory`,
    )
  })
})

describe('with the client of the service', () => {
  const warm = { ...PROGRAM, clip: '/d $/clip' }

  it('all entries begin with it, and are otherwise the same', () => {
    const commands = (program: typeof PROGRAM) =>
      [...packEntries(program), ...engineEntries(program)].map(({ group }) => group.hooks[0].command)
    const clip = '"/d \\$/clip"'
    expect(commands(warm)).toEqual(
      commands(PROGRAM).map((command) =>
        command
          .replace('test -x', `test -x ${clip} && test -s ${clip} && test -x`)
          .replace("' sh ", `' sh ${clip} `)
          .replace('OPENSSL_CONF= ', `OPENSSL_CONF= ${clip} `),
      ),
    )
  })

  it('they are recognised, with every file that they need', () => {
    for (const { group } of [...packEntries(warm), ...engineEntries(warm)]) {
      const own = ownCommand(group.hooks[0])
      expect(own).toMatchObject(warm)
      expect(filesOf(own as OwnCommand)).toEqual(['/d $/clip', '/n/node', '/c/carabiner.js'])
      expect(looseCall(group.hooks[0].command)).toBe(own?.call)
      expect(formerCall(group.hooks[0].command)?.script).toBe('/c/carabiner.js')
    }
  })
})

const SHELLS = ['sh', 'bash', 'zsh', 'fish'].filter((shell) => spawnSync(shell, ['-c', ':']).status === 0)

describe('a program that does not come to an answer', () => {
  let folder = ''
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'carabiner-crash-'))
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  it.each(SHELLS)('refuses under agents that would go on, in %s', (shell) => {
    const program = { node: join(folder, 'node'), script: join(folder, 'carabiner.js') }
    const [gate, other] = engineEntries(program, { host: gemini, events: ['PreToolUse', 'Stop'] })
    const run = (text: string, command = '') => {
      for (const file of Object.values(program)) writeFileSync(file, `#!/bin/sh\n${text}\n`, { mode: 0o755 })
      const { status, stdout, stderr } = spawnSync(shell, ['-c', command], { encoding: 'utf8' })
      return [status, stdout.trim(), stderr.trim()]
    }
    const failed = (code: number) =>
      `Carabiner ended with ${code} before it could answer, so this is refused. Run carabiner doctor.`
    expect(run('cat; echo said', gate?.command)).toEqual([0, 'said', ''])
    expect(run('echo no >&2; exit 2', gate?.command)).toEqual([2, '', 'no'])
    expect(run('exit 134', gate?.command)).toEqual([2, '', failed(134)])
    expect(run('kill -9 $$', gate?.command)).toEqual([2, '', expect.stringContaining(failed(137))])
    expect(run('exit 134', other?.command)[0]).toBe(134)
    for (const command of [gate?.command, other?.command])
      expect(ownCommand({ command })).toMatchObject({ call: 'fire', host: 'gemini', ...program })
  })
})

describe('a program of which something is gone', () => {
  let folder = ''
  beforeEach(() => {
    folder = join(mkdtempSync(join(tmpdir(), 'carabiner-gone-')), 'a $b "c"')
    mkdirSync(folder)
  })
  afterEach(() => rmSync(join(folder, '..'), { recursive: true }))

  it.each(SHELLS)('says so in one sentence and closes gates, whatever it is, in %s', (shell) => {
    const program = {
      clip: join(folder, 'clip'),
      node: join(folder, 'node'),
      script: join(folder, 'carabiner.js'),
    }
    const entries = engineEntries(program).filter(({ event }) => ['PreToolUse', 'Stop'].includes(event))
    const run = () => {
      return entries.map(({ group }) => {
        const { status, stdout, stderr } = spawnSync(shell, ['-c', group.hooks[0].command], {
          encoding: 'utf8',
        })
        return [status, stdout.trim() || stderr.trim()]
      })
    }
    for (const file of Object.values(program)) writeFileSync(file, '#!/bin/sh\necho ran\n', { mode: 0o755 })
    expect(run()).toEqual([
      [0, 'ran'],
      [0, 'ran'],
    ])
    const gone = `Carabiner is gone: one of ${Object.values(program).join(' ')} cannot be run. Install it again, then run carabiner setup.`
    for (const file of [program.clip, program.node]) {
      chmodSync(file, 0o644)
      expect(run()).toEqual([
        [2, gone],
        [1, gone],
      ])
      chmodSync(file, 0o755)
    }
    for (const file of Object.values(program)) {
      writeFileSync(file, '')
      expect(run()).toEqual([
        [2, gone],
        [1, gone],
      ])
      rmSync(file)
      expect(run()).toEqual([
        [2, gone],
        [1, gone],
      ])
      writeFileSync(file, '#!/bin/sh\necho ran\n', { mode: 0o755 })
    }
  })
})
