// The service under bad conditions: every call gets the cold path's outcome or a loud refusal, in time, and no hook runs twice.

import { spawn, spawnSync } from 'node:child_process'
import {
  appendFileSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { connect, type Socket } from 'node:net'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { encodeFromCaller, PROTOCOL } from '../../src/rpc/frames.js'
import { findServices, stopService } from '../../src/service/socket/running-services.js'
import { ended, isRunning, programFile, type Run, withProgram } from '../cli/program.js'
import { quoted } from '../conformance/shell-project.js'
import { eventually, isServable, NO_NODE, Scene } from './scene.js'

withProgram('own')

const FIRE = ['fire', '--as', 'claude-code']
const REASON = 'not allowed here'
/** Says which call it ran for, takes a moment, and denies. */
const GATE = `id=$(sed -n 's/.*"command":"\\([^"]*\\)".*/\\1/p'); echo "$id" >> "$HOME/ran"; sleep "$(cat "$HOME/moment" 2>/dev/null || echo 0)"; echo '${REASON}' >&2; exit 2`

let scene: Scene
let count = 0
beforeEach(() => {
  scene = new Scene()
  gate()
})
afterEach(async () => {
  await scene.remove()
})

function gate(): void {
  const hooks = [{ type: 'command', command: GATE }]
  scene.file('home/.amplifier/hooks/hooks.json', { hooks: { PreToolUse: [{ matcher: 'Bash', hooks }] } })
}

/** Seconds that each hook takes. */
const moment = (seconds: number) => writeFileSync(scene.path('home/moment'), String(seconds))

const payload = (id: string) => ({
  hook_event_name: 'PreToolUse',
  session_id: 's',
  tool_name: 'Bash',
  tool_input: { command: id },
})

interface Called extends Run {
  readonly id: string
  readonly ms: number
}

/** A call of its own name. */
async function called(more: Partial<Parameters<Scene['call']>[0]> = {}): Promise<Called> {
  const id = `call-${++count}`
  const startedAt = performance.now()
  // From a file, because the process of the tests is too slow to write to hundreds of pipes at once.
  const file = scene.file(`inputs/${id}`, payload(id))
  const through = `${more.through ?? 'exec "$@"'} < ${quoted(file)}`
  const run = await scene.call({ args: FIRE, ...more, through })
  return { ...run, id, ms: performance.now() - startedAt }
}

const many = (number: number, more?: Parameters<typeof called>[0]) =>
  Promise.all(Array.from({ length: number }, () => called(more)))

/** Claude Code's limit for a hook. */
const DEADLINE_MS = 600_000

/** Each was denied, by the hook or because it could not be judged, in time, and its hook ran at most once. */
function expectClosed(calls: readonly Called[]): void {
  const ran = scene.lines('home/ran')
  for (const { id, code, stdout, stderr, ms } of calls) {
    expect({ id, code }, `${stdout}${stderr}`).toEqual({ id, code: 2 })
    expect(stderr).toMatch(new RegExp(`${REASON}|judging was interrupted`))
    expect(ms).toBeLessThan(DEADLINE_MS)
    expect(ran.filter((one) => one === id).length, `${id} ran twice`).toBeLessThanOrEqual(1)
  }
}

/** What the cold path would have said, and nothing else. */
function expectJudged(calls: readonly Called[]): void {
  expectClosed(calls)
  const ran = scene.lines('home/ran')
  for (const { id, stderr } of calls) {
    expect(stderr).toBe(`${REASON}\n`)
    expect(ran.filter((one) => one === id)).toEqual([id])
  }
}

async function expectNothingLeft(): Promise<void> {
  const { code } = await scene.carabiner(['service', 'stop'])
  expect(code).toBe(0)
  await eventually('no process is left', () => scene.left().length === 0)
}

const pid = async () => (await scene.service()).status.pid
const calls = async () => (await scene.service()).status.calls
const socketPath = () => {
  const name = readdirSync(scene.folder).find((one) => one.endsWith('.sock'))
  if (name === undefined) throw new Error('there is no socket')
  return join(scene.folder, name)
}

describe.skipIf(!isServable)('a service that is lost', () => {
  it('killed among 64 calls', async () => {
    await scene.startService()
    moment(0.3)
    const service = await pid()
    const all = many(64)
    await eventually('some hooks run', () => scene.lines('home/ran').length > 3)
    process.kill(service, 'SIGKILL')
    expectClosed(await all)
    moment(0)
    const after = await many(4)
    expectJudged(after)
    await expectNothingLeft()
  })

  it('stopped and continued: nobody waits for it, and it repeats nothing', async () => {
    await scene.startService()
    const service = await pid()
    process.kill(service, 'SIGSTOP')
    const whileStopped = await many(8)
    process.kill(service, 'SIGCONT')
    expectJudged(whileStopped)
    const before = await calls()
    expectJudged(await many(8, { node: NO_NODE }))
    expect(await calls()).toBeGreaterThanOrEqual(before + 8)
    expectJudged(whileStopped)
    await expectNothingLeft()
  })

  it('stopped among calls and continued: they are judged once', async () => {
    await scene.startService()
    moment(0.5)
    const service = await pid()
    const all = many(8)
    await eventually('hooks run', () => scene.lines('home/ran').length > 0)
    process.kill(service, 'SIGSTOP')
    await eventually('hooks have ended', () => scene.left().length <= 9)
    process.kill(service, 'SIGCONT')
    expectClosed(await all)
    await expectNothingLeft()
  })

  it('replaced by an update: the old one drains, and a new one starts', async () => {
    await scene.startService()
    moment(3)
    const old = await pid()
    const all = many(4, { node: NO_NODE })
    await eventually('hooks run', () => scene.lines('home/ran').length === 4)
    const build = join(dirname(programFile()), 'build-id')
    writeFileSync(build, 'another-build\n')
    const during = called()
    expectJudged(await all)
    expectJudged([await during])
    moment(0)
    await eventually('the old one has ended', () => !isRunning(old))
    await eventually('the new one answers', async () => (await scene.running()).length === 1)
    expect(await pid()).not.toBe(old)
    expectJudged(await many(4, { node: NO_NODE }))
    await expectNothingLeft()
  })
})

describe.skipIf(!isServable)('something else where the socket was', () => {
  it.each<[string, (path: string) => void]>([
    ['nothing', () => undefined],
    ['a file', (path) => writeFileSync(path, 'x')],
    ['an empty folder', (path) => mkdirSync(path)],
    ['a full folder', (path) => mkdirSync(join(path, 'x'), { recursive: true })],
    ['a link to nowhere', (path) => spawnSync('ln', ['-s', '/nowhere', path])],
    ['a pipe', (path) => spawnSync('mkfifo', [path])],
  ])('%s', async (_, place) => {
    await scene.startService()
    const old = await pid()
    const path = socketPath()
    rmSync(path)
    place(path)
    expectJudged(await many(3))
    await eventually('the old one has ended', () => !isRunning(old))
    expectJudged(await many(3))
    await expectNothingLeft()
  })

  it('a server that says nothing, or nonsense', async () => {
    await scene.startService()
    const path = socketPath()
    await scene.stopServices()
    for (const answer of ['', 'HTTP/1.1 200 OK\r\n\r\n', '\xff\xff\xff\xff\x42', '\0\0\0\0\x47']) {
      rmSync(path, { force: true })
      const code = `const net=require('net');net.createServer(s=>{s.on('error',()=>{});s.on('data',()=>s.write(Buffer.from(process.argv[2],'base64')))}).listen(process.argv[1],()=>console.log('up'))`
      const server = spawn(
        process.execPath,
        ['-e', code, path, Buffer.from(answer, 'latin1').toString('base64')],
        {
          stdio: ['ignore', 'pipe', 'inherit'],
        },
      )
      await new Promise((resolve) => server.stdout.once('data', resolve))
      expectJudged(await many(2))
      server.kill('SIGKILL')
    }
    rmSync(path, { force: true })
    await expectNothingLeft()
  })

  const isRoot = process.getuid?.() === 0

  it.skipIf(!isRoot)("another user's server (only root can try this)", async () => {
    await scene.startService()
    const path = socketPath()
    await scene.stopServices()
    // The other user may enter the folder only for as long as it takes to listen there.
    const code = `const net=require('net');const [,path]=process.argv;
const server=net.createServer(s=>{s.on('error',()=>{});s.on('data',()=>console.log('ASKED'))})
process.umask(0); process.seteuid(65534); process.chdir('/');
server.listen(path,()=>console.log('up'))`
    spawnSync('chmod', ['-R', 'a+rwx', scene.path('state')])
    spawnSync('chmod', ['a+x', scene.base])
    const server = spawn(process.execPath, ['-e', code, path], { stdio: ['ignore', 'pipe', 'inherit'] })
    let said = ''
    server.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString()
    })
    await eventually('it listens', () => said.includes('up'))
    spawnSync('chmod', ['700', scene.folder])
    expectJudged(await many(3))
    expect(said).not.toContain('ASKED')
    server.kill('SIGKILL')
    rmSync(path, { force: true })
    await expectNothingLeft()
  })

  it.skipIf(!isRoot)("another user's folder, or one that is open to others", async () => {
    await scene.startService()
    const before = await calls()
    spawnSync('chmod', ['755', scene.folder])
    expectJudged(await many(2))
    chownSync(scene.folder, 65534, 65534)
    spawnSync('chmod', ['700', scene.folder])
    expectJudged(await many(2))
    chownSync(scene.folder, 0, 0)
    expect(await calls()).toBe(before)
    await expectNothingLeft()
  })
})

describe.skipIf(!isServable)('many at once', () => {
  it('200 clients without a service: one is started', async () => {
    const all = await many(200)
    expectJudged(all)
    await eventually('one service runs', async () => (await scene.running()).length === 1)
    await expectNothingLeft()
  })

  it('200 clients of one service', async () => {
    await scene.startService()
    const before = await calls()
    expectJudged(await many(200))
    expect(await calls()).toBeGreaterThan(before)
    await expectNothingLeft()
  })

  it('two services: the second one does not start', async () => {
    await scene.startService()
    const service = await pid()
    const name = readdirSync(scene.folder)
      .find((one) => one.endsWith('.lock'))
      ?.slice(0, -'.lock'.length) as string
    const line = [scene.script, 'service', 'run', scene.folder, name]
    // Without the lock, and with a lock that another one holds.
    for (const third of ['ignore', 'pipe'] as const) {
      const second = spawn(process.execPath, line, { stdio: ['ignore', 'pipe', 'pipe', third], env: {} })
      expect((await ended(second)).code).not.toBe(0)
    }
    const path = join(scene.folder, `${name}.lock`)
    const third = spawnSync('sh', ['-c', `exec 3<> "$0"; flock -n 3 || exit 9`, path])
    expect(third.status).toBe(9)
    rmSync(join(scene.folder, 'failed.txt'), { force: true })
    expect(await pid()).toBe(service)
    expectJudged(await many(2, { node: NO_NODE }))
    await expectNothingLeft()
  })
})

describe.skipIf(!isServable)('clients that misbehave', () => {
  const sockets: Socket[] = []
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy()
  })
  const open = () =>
    new Promise<Socket>((resolve, reject) => {
      const socket = connect(socketPath(), () => resolve(socket))
      socket.on('error', reject)
      sockets.push(socket)
    })
  const closed = (socket: Socket) =>
    new Promise<void>((resolve) => {
      if (socket.closed) resolve()
      else socket.once('close', () => resolve())
    })
  const call = () =>
    encodeFromCaller({
      kind: 'call',
      protocol: PROTOCOL,
      pid: process.pid,
      cwd: scene.project,
      args: FIRE,
      script: scene.script,
      env: scene.env(),
      stdin: Buffer.from(JSON.stringify(payload('direct'))),
    })
  const isHealthy = async () => expectJudged(await many(2, { node: NO_NODE }))

  beforeEach(() => scene.startService())

  it('half a request, and then nothing', async () => {
    const whole = call()
    for (const length of [1, 4, 5, 6, 100, whole.length - 1]) (await open()).write(whole.subarray(0, length))
    await isHealthy()
    for (const socket of sockets) socket.destroy()
    await isHealthy()
    expect(scene.lines('home/ran')).not.toContain('direct')
    await expectNothingLeft()
  })

  it('100 MB of request', async () => {
    const socket = await open()
    socket.on('error', () => undefined)
    const header = Buffer.from([0, 0, 0x40, 6, 1]) // A call of 100 MiB.
    socket.write(header)
    const piece = Buffer.alloc(1024 * 1024)
    for (let sent = 0; sent < 100 && !socket.destroyed; sent++) {
      await new Promise((resolve) => socket.write(piece, resolve))
    }
    await closed(socket)
    const { memory } = (await scene.service()).status
    expect(memory).toBeLessThan(300 * 1024 * 1024)
    await isHealthy()
    await expectNothingLeft()
  })

  it('100 MB through clip is the cold path', async () => {
    const big = JSON.stringify(payload('x')).replace('"x"', `"${'y'.repeat(100 * 1024 * 1024)}"`)
    const cold = await scene.cold({ args: FIRE, input: big })
    expect(await scene.call({ args: FIRE, input: big })).toEqual(cold)
    expect(cold.code).toBe(2)
    await isHealthy()
    await expectNothingLeft()
  })

  it('garbage, in pieces and at once', async () => {
    for (let seed = 1; seed <= 50; seed++) {
      const bytes = Buffer.from(Array.from({ length: seed * 40 }, (_, at) => (at * seed * 2654435761) >>> 24))
      const socket = await open()
      socket.on('error', () => undefined)
      socket.end(bytes)
      await closed(socket)
    }
    await isHealthy()
    await expectNothingLeft()
  })

  it('messages out of turn', async () => {
    for (const frames of [
      [encodeFromCaller({ kind: 'go' })],
      [encodeFromCaller({ kind: 'gone', id: 1 })],
      [encodeFromCaller({ kind: 'output', id: 7, fd: 1, bytes: Buffer.from('{}') })],
      [call(), call()],
      [call(), encodeFromCaller({ kind: 'exited', id: 9, code: 0, signal: null, alone: true })],
      [encodeFromCaller({ kind: 'signal', number: 250 })],
    ]) {
      const socket = await open()
      socket.on('error', () => undefined)
      socket.resume()
      for (const frame of frames) socket.write(frame)
      socket.end()
      await closed(socket)
    }
    await isHealthy()
    expect(scene.lines('home/ran')).not.toContain('direct')
    await expectNothingLeft()
  })

  it('500 connections that do nothing', async () => {
    for (let opened = 0; opened < 500; opened++) await open()
    await isHealthy()
    await expectNothingLeft()
  })

  it('a client that is killed while its hook runs: the hook ends, and the service goes on', async () => {
    const command = 'echo $$ > "$HOME/hook"; sleep 300'
    const hooks = [{ type: 'command', command }]
    scene.file('home/.amplifier/hooks/hooks.json', { hooks: { PreToolUse: [{ matcher: 'Bash', hooks }] } })
    const client = scene.start({ args: FIRE, input: payload('x'), node: NO_NODE })
    await eventually('its hook runs', () => scene.read('home/hook').trim() !== '')
    const hook = Number(scene.read('home/hook'))
    client.kill('SIGKILL')
    await eventually('its hook has ended', () => !isRunning(hook))
    await eventually('nothing is under way', async () => (await scene.service()).status.active === 0)
    gate()
    await isHealthy()
    await expectNothingLeft()
  })

  it('clients that are killed at any moment', async () => {
    moment(0.2)
    const killed = Array.from({ length: 40 }, async (_, at) => {
      const client = scene.start({ args: FIRE, input: payload(`killed-${at}`), node: NO_NODE })
      const end = ended(client)
      setTimeout(() => client.kill('SIGKILL'), at * 10)
      return end
    })
    await Promise.all(killed)
    await eventually('nothing is under way', async () => (await scene.service()).status.active === 0)
    const ran = scene.lines('home/ran')
    expect(new Set(ran).size).toBe(ran.length)
    moment(0)
    await isHealthy()
    await expectNothingLeft()
  })
})

describe.skipIf(!isServable)('a full disk', () => {
  const mount = () =>
    spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', scene.path('small')]).status === 0

  it('a gate stays closed', async (context) => {
    mkdirSync(scene.path('small'))
    if (!mount()) return context.skip('no small file system can be mounted here')
    try {
      const places = { HOME: scene.path('small/home'), XDG_STATE_HOME: scene.path('small/state') }
      const hooks = [{ type: 'command', command: `echo '${REASON}' >&2; exit 2` }]
      scene.file('small/home/.amplifier/hooks/hooks.json', {
        hooks: { PreToolUse: [{ matcher: 'Bash', hooks }] },
      })
      const fire = (off: boolean, node = process.execPath) =>
        scene.call({
          args: FIRE,
          input: payload('x'),
          node,
          env: { ...places, ...(off && { CARABINER_SERVICE: 'off' }) },
        })
      await fire(false)
      const folder = scene.path('small/state/carabiner/service')
      await eventually(
        'it listens',
        () => existsSync(folder) && readdirSync(folder).some((one) => one.endsWith('.sock')),
      )
      await eventually('it answers', async () => (await fire(false, NO_NODE)).code === 2)
      fill(scene.path('small/filler'))
      const [cold, warm] = [await fire(true), await fire(false, NO_NODE)]
      // The service may find room for the record where a new process does not.
      for (const { code, stdout, stderr } of [cold, warm])
        expect([code, stderr, JSON.parse(stdout).hookSpecificOutput.permissionDecision]).toEqual([
          2,
          `${REASON}\n`,
          'deny',
        ])
      // A service that cannot even be started on a full disk leaves the cold path.
      for (const one of await findServices(folder)) await stopService(one, 30_000)
      fill(scene.path('small/filler'))
      expect((await fire(false)).code).toBe(2)
    } finally {
      // The last call may have started another service.
      await eventually('it is unmounted', async () => {
        for (const one of await findServices(scene.path('small/state/carabiner/service')))
          await stopService(one, 30_000)
        return spawnSync('umount', [scene.path('small')]).status === 0
      })
    }
    await eventually('no process is left', () => scene.left().length === 0)
  })

  function fill(path: string): void {
    try {
      for (;;) appendFileSync(path, Buffer.alloc(4096))
    } catch {
      // It is full.
    }
  }
})

describe.skipIf(!isServable)('folders that go away', () => {
  it('the working folder', async () => {
    await scene.startService()
    mkdirSync(scene.path('gone'))
    const through = 'rmdir "$PWD"; exec "$@"'
    expectJudged([await called({ cwd: scene.path('gone'), through })])
    await expectNothingLeft()
  })

  it('the folder of the socket', async () => {
    await scene.startService()
    const old = await pid()
    renameSync(scene.path('state'), scene.path('elsewhere'))
    expectJudged(await many(3))
    await eventually('the old one has ended', () => !isRunning(old))
    expectJudged(await many(3))
    await expectNothingLeft()
  })

  it('the program', async () => {
    await scene.startService()
    const program = dirname(programFile())
    renameSync(program, `${program}-moved`)
    try {
      const run = await called()
      expect(run.code).not.toBe(0)
    } finally {
      renameSync(`${program}-moved`, program)
    }
    expectJudged(await many(2))
    await expectNothingLeft()
  })
})

it.skipIf(isServable)('there is no C compiler: clip was not called', () => {})
