// `carabiner serve --stdio` as a process: trust and settings, a host that is killed, the engine that is killed, its output.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Project, programFile, withProgram } from './program.js'

withProgram()

let project: Project
const started: ChildProcess[] = []

beforeEach(() => {
  project = new Project()
})
afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL')
  project.remove()
})

// biome-ignore lint/suspicious/noExplicitAny: tests read what they expect
type Any = any

/** A host over pipes. */
class Agent {
  readonly child: ChildProcess
  /** Every line of standard output. */
  readonly lines: string[] = []
  stderr = ''
  readonly #waiting = new Map<number, (message: Any) => void>()
  #last = 0

  constructor(args: readonly string[] = [], env: Readonly<Record<string, string>> = {}) {
    const command = [programFile(), 'serve', '--stdio', ...args]
    this.child = spawn(process.execPath, command, { cwd: project.folder, env: project.env(env) })
    started.push(this.child)
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text
    })
    createInterface({ input: this.child.stdout as never }).on('line', (line) => {
      this.lines.push(line)
      const message = JSON.parse(line)
      this.#waiting.get(message.id)?.(message)
    })
  }

  call(method: string, params: object = {}): Promise<Any> {
    this.#last++
    const id = this.#last
    this.child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
    return new Promise((resolve) => this.#waiting.set(id, resolve))
  }

  async greeted(hello: object = {}): Promise<Any> {
    return this.call('hello', { version: 1, host: 'test', ...hello })
  }

  async ended(): Promise<number | null> {
    const [code] = await once(this.child, 'close')
    return code
  }
}

const BASH = { session: 's1', name: 'Bash', input: { command: 'ls' } }

/** A hook of the user, which needs no trust. */
function userHook(event: string, command: string): void {
  project.file(
    `../home/.amplifier/hooks/hooks.json`,
    JSON.stringify({ hooks: { [event]: [{ hooks: [{ type: 'command', command }] }] } }),
  )
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 20))
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ')
  } catch {
    return false
  }
}

describe('serve', () => {
  it('runs nothing of the project before a person has trusted it, and no message can', async () => {
    project.file(
      '.amplifier/hooks/hooks.json',
      JSON.stringify({ hooks: { PreToolUse: [{ hooks: [{ type: 'command', command: 'exit 2' }] }] } }),
    )
    const agent = new Agent()
    const { result } = await agent.greeted()
    expect([result.hooks, result.untrusted.length]).toEqual([0, 1])
    await agent.call('session.open')
    expect((await agent.call('tool.begin', BASH)).result.status).toBe('run')
    const { code } = await project.carabiner(['trust', '--yes'])
    expect(code).toBe(0)
    expect((await agent.call('hooks.reload')).result.hooks).toBe(1)
    expect((await agent.call('tool.begin', BASH)).result.status).toBe('denied')
    agent.child.stdin?.end()
    expect(await agent.ended()).toBe(0)
  })

  it('lets a host tighten settings, and refuses to loosen them', async () => {
    project.file(
      '../home/.amplifier/settings.json',
      JSON.stringify({ hooks: { on_failure: 'block', max_timeout: 20 } }),
    )
    const agent = new Agent()
    for (const settings of [
      { on_failure: 'continue' },
      { max_timeout: 30 },
      { enabled: false },
      { audit: 'off' },
    ]) {
      const { error } = await agent.greeted({ settings })
      expect([error.data.code, error.message]).toEqual([
        'OPTIONS_INVALID',
        expect.stringContaining(`settings.${Object.keys(settings)[0]} would loosen`),
      ])
    }
    expect((await agent.greeted({ settings: { max_timeot: 5 } })).error.message).toContain('max_timeot')
    expect((await agent.greeted({ settings: { max_timeout: 5 } })).result.version).toBe(1)
    agent.child.stdin?.end()
    expect(await agent.ended()).toBe(0)
  })

  it('ends every hook process and tells hooks of unfinished calls when its host is killed', async () => {
    const told = `${project.folder}/told.json`
    userHook('PostToolUseFailure', `cat > '${told}'`)
    const pids = `${project.folder}/pids`
    project.file(
      'host.mjs',
      `import { spawn } from 'node:child_process'
      import { appendFileSync } from 'node:fs'
      const child = spawn(process.execPath, [${JSON.stringify(programFile())}, 'serve', '--stdio'], { stdio: ['pipe', 'pipe', 'inherit'] })
      appendFileSync(${JSON.stringify(pids)}, child.pid + '\\n')
      const send = (id, method, params) => child.stdin.write(JSON.stringify({ id, method, params }) + '\\n')
      send(1, 'hello', { version: 1, host: 'h' })
      send(2, 'session.open', {})
      send(3, 'tool.begin', { session: 's1', name: 'Bash', input: { command: 'sleep' }, id: 't1' })
      child.stdout.on('data', (text) => String(text).includes('"run"') && process.stdout.write('begun'))`,
    )
    const host = spawn(process.execPath, ['host.mjs'], { cwd: project.folder, env: project.env() })
    started.push(host)
    await once(host.stdout, 'data')
    const pid = Number(readFileSync(pids, 'utf8'))
    expect(isAlive(pid)).toBe(true)
    host.kill('SIGKILL')
    await until(() => !isAlive(pid))
    expect(JSON.parse(readFileSync(told, 'utf8'))).toMatchObject({ tool_use_id: 't1', is_interrupt: true })
  })

  it('ends hooks that are still judging when its host is gone', async () => {
    const pids = `${project.folder}/pids`
    userHook('PreToolUse', `echo $$ > '${pids}'; exec sleep 300`)
    const agent = new Agent()
    await agent.greeted()
    await agent.call('session.open')
    void agent.call('tool.begin', BASH)
    await until(() => existsSync(pids) && readFileSync(pids, 'utf8').endsWith('\n'))
    agent.child.stdin?.end()
    expect(await agent.ended()).toBe(0)
    expect(isAlive(Number(readFileSync(pids, 'utf8')))).toBe(false)
    expect(agent.lines.join()).not.toContain('"run"')
  })

  it('that is killed leaves the host with the end of the stream, not with a run', async () => {
    const pids = `${project.folder}/pids`
    userHook('PreToolUse', `echo $$ > '${pids}'; exec sleep 300`)
    const agent = new Agent()
    await agent.greeted()
    await agent.call('session.open')
    void agent.call('tool.begin', BASH)
    await until(() => existsSync(pids) && readFileSync(pids, 'utf8').endsWith('\n'))
    agent.child.kill('SIGKILL')
    expect(await agent.ended()).toBe(null)
    // Nobody is left to end it.
    process.kill(Number(readFileSync(pids, 'utf8')), 'SIGKILL')
    expect(agent.lines.join()).not.toContain('"status"')
  })

  it('wakes the host when an async hook finds something', async () => {
    const hook = { type: 'command', command: 'echo look here >&2; exit 2', async: true, asyncRewake: true }
    project.file('../home/.amplifier/hooks/hooks.json', { hooks: { PostToolUse: [{ hooks: [hook] }] } })
    const agent = new Agent()
    await agent.greeted()
    await agent.call('session.open')
    const { result } = await agent.call('tool.begin', BASH)
    await agent.call('tool.finish', { call: result.call, result: 'ok' })
    await until(() => agent.lines.some((line) => line.includes('"method":"wake"')))
    const [wake] = agent.lines.map((line) => JSON.parse(line)).filter(({ method }) => method === 'wake')
    expect(wake.params).toMatchObject({
      session: 's1',
      message: { content: expect.stringContaining('look here') },
    })
    agent.child.stdin?.end()
    expect(await agent.ended()).toBe(0)
  })

  it('ends orderly by SIGTERM', async () => {
    const agent = new Agent()
    await agent.greeted()
    agent.child.kill('SIGTERM')
    expect(await agent.ended()).toBe(143)
    expect(agent.stderr).toContain('SIGTERM')
  })

  it('keeps going while its host does not read, and answers when it reads again', async () => {
    const agent = new Agent()
    await agent.greeted()
    await agent.call('session.open')
    agent.child.stdout?.pause()
    const data = { text: 'x'.repeat(500_000) }
    const answers = Array.from({ length: 20 }, () =>
      agent.call('session.fire', { session: 's1', event: 'my:event', data }),
    )
    agent.child.stdout?.resume()
    expect((await Promise.all(answers)).every(({ result }) => result.outcome.action === 'continue')).toBe(
      true,
    )
    agent.child.stdin?.end()
    expect(await agent.ended()).toBe(0)
  })

  it('records decisions before it tells them, and the bypass', async () => {
    userHook('PreToolUse', 'echo no >&2; exit 2')
    const agent = new Agent()
    await agent.greeted()
    await agent.call('session.open')
    expect((await agent.call('tool.begin', BASH)).result).toMatchObject({ status: 'denied' })
    agent.child.kill('SIGKILL')
    await agent.ended()
    const audit = async () => JSON.parse((await project.carabiner(['audit', '--json'])).stdout)
    expect(JSON.stringify(await audit())).toContain('"action":"deny"')
    const bypassing = new Agent([], { CARABINER_OFF: '1' })
    expect((await bypassing.greeted()).result.diagnostics[0].code).toBe('bypassed')
    await bypassing.call('session.open')
    expect((await bypassing.call('tool.begin', BASH)).result.status).toBe('run')
    bypassing.child.stdin?.end()
    await bypassing.ended()
    expect(JSON.stringify(await audit())).toContain('"kind":"bypass"')
  })
})
