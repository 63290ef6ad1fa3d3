import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isLarge } from '../property/runs.js'
import { BASH, GUARD, Project, programFile, withProgram } from './program.js'

withProgram()

let project: Project
beforeEach(() => {
  project = new Project()
})
afterEach(() => project.remove())

/** Clears the screen, sets the title, hides text, overwrites the line, reverses it, as C1 as well. */
const HOSTILE =
  'evil\u001b[2J\u001b]0;pwned\u0007\u001b[8mhidden\roverwritten\u202Ereversed\u009b31mred\u0000'
/** What no line for people and no JSON document may contain. */
const controls = (text: string) => text.match(/(?![\t\n])\p{Cc}|\p{Bidi_Control}/gu) ?? []

describe('text from strangers', () => {
  beforeEach(() => {
    const hook = { type: 'command', command: `echo ${JSON.stringify(HOSTILE).slice(1, -1)}` }
    const group = { matcher: HOSTILE, hooks: [hook, { type: HOSTILE }] }
    project.file('.amplifier/hooks/hooks.json', {
      [HOSTILE]: [],
      hooks: { PreToolUse: [group], [HOSTILE]: [group], Stop: [{ hooks: [hook] }] },
    })
    project.file(`${'\u001b[2J'}plug/hooks/hooks.json`, { hooks: { Stop: [{ hooks: [hook] }] } })
    const answer = JSON.stringify({ decision: 'block', reason: HOSTILE, systemMessage: HOSTILE })
    project.file('answer.json', answer)
    project.file('answering.json', {
      hooks: { PreToolUse: [{ hooks: [{ type: 'command', command: 'cat answer.json' }] }] },
    })
  })

  const plugin = ['--plugin', '\u001b[2Jplug', '--config', 'answering.json', '--trust-all']

  it.each([
    ['the bare command', plugin],
    ['list', ['list', ...plugin]],
    ['explain', ['explain', 'PreToolUse', '--tool', HOSTILE.replaceAll('\0', ''), ...plugin]],
    ['explain of an unknown event', ['explain', HOSTILE.replaceAll('\0', ''), ...plugin]],
    ['fire', ['fire', 'PreToolUse', ...plugin]],
    ['a usage error', ['list', `--${HOSTILE.replaceAll('\0', '')}`]],
    ['an unknown command', [HOSTILE.replaceAll('\0', '')]],
    ['a missing project', ['list', '--project', HOSTILE.replaceAll('\0', '')]],
  ])('%s: controls no terminal, nor does its JSON', async (_, args) => {
    const input = { ...BASH, tool_name: HOSTILE, tool_input: { [HOSTILE]: HOSTILE } }
    for (const more of [[], ['--json']]) {
      const { stdout, stderr } = await project.carabiner([...args, ...more], { input })
      expect(stdout + stderr).toContain('evil')
      expect(controls(stdout + stderr)).toEqual([])
    }
  })

  it('is whole in JSON', async () => {
    const { stdout } = await project.carabiner(['fire', 'PreToolUse', '--json'], {
      input: { ...BASH, extra: HOSTILE },
    })
    expect(JSON.parse(stdout).data.extra).toBe(HOSTILE)
  })
})

describe('a reader that stops reading', () => {
  it('ends list quietly', async () => {
    project.hooks({ Stop: Array.from({ length: 500 }, (_, i) => ['', `echo ${i} ${'x'.repeat(500)}`]) })
    const script = `"$0" "$1" list 2>err | head -1; cat err`
    const { stdout } = await project.run('sh', ['-c', script, process.execPath, programFile()])
    expect(stdout).toBe('.amplifier/hooks/hooks.json\n')
  })

  it('loses no deny', async () => {
    project.hooks({ PreToolUse: [['Bash', `sleep 0.2; ${GUARD}`]] })
    const child = spawn(process.execPath, [programFile(), 'fire', 'PreToolUse', '--trust-all', '--json'], {
      cwd: project.folder,
      env: project.env(),
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    child.stdout.destroy()
    child.stdin.end(JSON.stringify(BASH))
    const [code] = await once(child, 'exit')
    expect(code).toBe(2)
  })

  it.skipIf(!existsSync('/dev/full'))('a full disk is no success', async () => {
    const { code, stderr } = await project.run('sh', [
      '-c',
      `"$0" "$1" list --json > /dev/full`,
      process.execPath,
      programFile(),
    ])
    expect(code).toBe(74)
    expect(stderr).toContain('The output could not be written')
  })
})

describe('large output', () => {
  it('arrives whole', async () => {
    const text = 'x'.repeat(5_000_000)
    const { code, stdout } = await project.carabiner(['fire', 'Stop', '--json'], { input: { extra: text } })
    expect([code, JSON.parse(stdout).data.extra.length]).toEqual([0, text.length])
  })

  it('arrives whole through a pipe that does not block', async () => {
    const script = `
import fcntl, os, subprocess, sys, time
r, w = os.pipe()
fcntl.fcntl(w, fcntl.F_SETFL, os.O_NONBLOCK)
p = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=w)
os.close(w)
size = 0
while chunk := os.read(r, 4096):
    size += len(chunk)
print(size, p.wait())`
    project.hooks({ Stop: Array.from({ length: 300 }, (_, i) => ['', `echo ${i} ${'x'.repeat(1000)}`]) })
    const program = [process.execPath, programFile(), 'list', '--json']
    const whole = await project.carabiner(['list', '--json'])
    const { stdout } = await project.run('python3', ['-c', script, ...program])
    expect(stdout).toBe(`${whole.stdout.length} 0\n`)
  })
})

describe.runIf(isLarge)('colours', () => {
  const ESCAPE = '\u001b['
  beforeEach(() => {
    project.hooks({ Stop: [['', 'true']] })
  })

  it('are on at a terminal', async () => {
    const { code, stdout } = await project.onTerminal(['list'], { env: { TERM: 'xterm' } })
    expect([code, stdout.includes(ESCAPE)]).toEqual([0, true])
  })

  it.each([[{ TERM: 'xterm', NO_COLOR: '1' }], [{ TERM: 'dumb' }]])('are off with %j', async (env) => {
    expect((await project.onTerminal(['list'], { env })).stdout).not.toContain(ESCAPE)
  })

  it('are off in a pipe, whatever FORCE_COLOR or CI say', async () => {
    const { stdout } = await project.carabiner(['list'], { env: { FORCE_COLOR: '1', CI: '1' } })
    expect(stdout).not.toContain(ESCAPE)
  })
})
