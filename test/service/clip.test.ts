// clip against a service that is played: what it does before and after `started`, and how it runs programs.

import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { constants, getPriority } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { encodeToCaller, type ToCaller } from '../../src/rpc/frames.js'
import { runs, seeded } from '../property/runs.js'
import {
  areGone,
  COLD,
  expected,
  hasCompiler,
  INTERRUPTED,
  type Peer,
  type Recorded,
  Scene,
  STARTED,
  type Start,
  Tools,
} from './clip-scene.js'

it.skipIf(hasCompiler)('there is no C compiler: clip was not tried', () => {})

const isRoot = process.getuid?.() === 0
const isLinux = process.platform === 'linux'
const has = (program: string, ...args: string[]) => spawnSync(program, args, { stdio: 'ignore' }).status === 0

let tools: Tools
let scene: Scene
beforeAll(() => {
  if (hasCompiler) tools = new Tools()
})
beforeEach(() => {
  if (hasCompiler) scene = new Scene(tools)
})
afterEach(() => scene?.end())
afterAll(() => tools?.remove())

const exit = (code: number): ToCaller => ({ kind: 'exit', code })
const out = (text: string, fd: 1 | 2 = 1): ToCaller => ({ kind: 'out', fd, bytes: text })
const frame = (type: number, payload: Uint8Array = Buffer.alloc(0), length = payload.length) => {
  const header = Buffer.alloc(5)
  header.writeUInt32LE(length)
  header.writeUInt8(type, 4)
  return Buffer.concat([header, payload])
}
const MIB = 1024 * 1024

/** Long inputs take minutes to compare. */
const digest = (bytes: Buffer) => `${bytes.length} ${createHash('sha256').update(bytes).digest('hex')}`

describe.skipIf(!hasCompiler)('before the service has started', () => {
  /** Runs clip, and then the same without clip: both get and give the same. */
  async function expectCold(start: Start = {}, again: () => Start = () => start): Promise<Recorded> {
    const result = await scene.run({ isPiped: true, ...start })
    const warm = scene.cold()
    scene.forgetCold()
    expect(result).toEqual(await scene.startDirect({ isPiped: true, ...again() }).result)
    const direct = scene.cold()
    const comparable = ({ pid, session, stdin, ...rest }: Recorded) => ({ ...rest, stdin: digest(stdin) })
    expect(warm.map(comparable)).toEqual(direct.map(comparable))
    expect(warm).toHaveLength(1)
    return warm[0] as Recorded
  }

  async function leaveSocket(): Promise<void> {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(scene.socket, resolve))
    renameSync(scene.socket, `${scene.socket}.moved`) // Node removes its socket when it closes.
    await new Promise((resolve) => server.close(resolve))
    renameSync(`${scene.socket}.moved`, scene.socket)
  }

  it.each<[string, () => unknown]>([
    ['there is no folder', () => rmSync(scene.folder, { recursive: true })],
    ['there is no socket', () => {}],
    ['nobody listens', leaveSocket],
    ['the socket is a file', () => writeFileSync(scene.socket, '')],
    ['the socket is a folder', () => mkdirSync(scene.socket)],
    ['the socket is a link to nowhere', () => symlinkSync('nowhere', scene.socket)],
    [
      'the folder is a file',
      () => {
        rmSync(scene.folder, { recursive: true })
        writeFileSync(scene.folder, '')
      },
    ],
    ['there is no build-id', () => rmSync(join(scene.base, 'bin/build-id'))],
    ['the build-id is empty', () => writeFileSync(join(scene.base, 'bin/build-id'), '\n')],
    ['the build-id is a path', () => writeFileSync(join(scene.base, 'bin/build-id'), '../x\n')],
  ])('runs cold if %s', async (_, arrange) => {
    await arrange()
    await expectCold()
  })

  it.each<[string, () => unknown]>([
    ['open to others', () => chmodSync(scene.folder, 0o755)],
    [
      'a link',
      () => {
        renameSync(scene.folder, `${scene.folder}2`)
        symlinkSync('service2', scene.folder)
      },
    ],
    ...(isRoot
      ? [["another user's", () => chownSync(scene.folder, 4711, 4711)] as [string, () => unknown]]
      : []),
  ])('does not ask in a folder that is %s', async (_, arrange) => {
    await scene.judge(async (peer) => peer.send(exit(0)))
    expect((await scene.run()).code).toBe(0)
    arrange()
    await expectCold()
  })

  it.runIf(isRoot)("does not ask another user's service", async () => {
    const other = join(scene.base, 'other.sock')
    const code = `require('net').createServer().listen(${JSON.stringify(other)}, () => console.log('up'))`
    chmodSync(scene.base, 0o777)
    const foreign = spawn(process.execPath, ['-e', code], { uid: 4711, stdio: ['ignore', 'pipe', 'inherit'] })
    try {
      await new Promise((resolve) => foreign.stdout.once('data', resolve))
      symlinkSync(other, scene.socket)
      await expectCold()
    } finally {
      foreign.kill('SIGKILL')
    }
  })

  const started = encodeToCaller(STARTED)
  it.each<[string, (peer: Peer) => unknown]>([
    ['says so', (peer) => peer.send({ kind: 'cold', why: 'the service is ending' })],
    ['closes', (peer) => peer.die()],
    ['sends garbage', (peer) => peer.write(Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'))],
    ['sends half a frame', (peer) => peer.die(started.subarray(0, 20))],
    ['sends a message of an unknown type', (peer) => peer.write(frame(99))],
    ['sends another message first', (peer) => peer.send(exit(0))],
    ['sends a frame that is too long', (peer) => peer.write(frame(66, Buffer.alloc(0), 64 * MIB + 1))],
    ['sends a `started` that is too short', (peer) => peer.write(frame(66, started.subarray(5, 30)))],
    [
      'sends a `started` that goes on',
      (peer) => peer.write(frame(66, Buffer.concat([started.subarray(5), Buffer.alloc(1)]))),
    ],
  ])('runs cold if the service %s', async (_, play) => {
    await scene.serve(async (peer) => {
      await peer.call()
      play(peer)
    })
    await expectCold({ stdin: '{"hook_event_name":"Stop"}' })
  })

  it('runs cold if the service closes before it has got everything', async () => {
    await scene.serve((peer) => peer.die())
    await expectCold({ stdin: Buffer.alloc(3 * MIB, 'x') })
  })

  it('runs cold if the service is silent, and never says go', async () => {
    let peer: Peer | undefined
    await scene.serve(async (one) => {
      peer = one
      await one.call()
      await one.closed
    })
    await expectCold()
    expect(peer?.received.map(({ kind }) => kind)).toEqual(['call'])
  })

  it.each<[string, () => Start]>([
    ['another command', () => ({ args: ['--version'] })],
    ['no command', () => ({ args: [] })],
    ['strange arguments', () => ({ args: ['list', '', 'ü', ' ', '-'] })],
    ['the service is off', () => ({ env: { CARABINER_SERVICE: 'off', RECORDER_EXIT: '0' } })],
    ['HOME is relative', () => ({ env: { HOME: 'home' } })],
    ['HOME is not set', () => ({ env: { HOME: undefined } })],
    ['CARABINER_HOME is relative', () => ({ env: { CARABINER_HOME: 'own' } })],
    ['CARABINER_HOME is elsewhere', () => ({ env: { CARABINER_HOME: join(scene.base, 'own') } })],
    ['XDG_STATE_HOME is elsewhere', () => ({ env: { XDG_STATE_HOME: join(scene.base, 'own') } })],
    ['stdin is long', () => ({ stdin: Buffer.alloc(5 * MIB, 'abcdefg') })],
    ['stdin is a folder', () => ({ stdin: openSync(scene.base, 'r') })],
    ...(has('setpriv', '--no-new-privs', 'true')
      ? [['it is in a sandbox', () => ({ before: ['setpriv', '--no-new-privs'] })] as [string, () => Start]]
      : []),
  ])('does not ask if %s', async (_, how) => {
    let isAsked = false
    await scene.serve(async (peer) => {
      await peer.call().then(
        () => {
          isAsked = true
        },
        () => undefined,
      )
    })
    await expectCold(how())
    expect(isAsked).toBe(false)
  })

  it('passes on everything that the cold program had got without clip', async () => {
    const { stdin, fds } = await expectCold({
      args: ['fire', '', "it's", '--'],
      env: { EMPTY: '', 'a b': 'ü\n=', LC_ALL: 'C' },
      stdin: '{"a":"\0"}',
      before: ['sh', '-c', 'umask 027; trap "" HUP; exec 7</dev/null; exec "$@"', 'sh'],
    })
    expect([stdin.toString(), fds]).toEqual(['{"a":"\0"}', ['0', '1', '2', '7 null']])
  })

  it('leaves a file as standard input where it was', async () => {
    await scene.serve(async (peer) => {
      await peer.call()
      await peer.die()
    })
    const path = join(scene.base, 'input')
    writeFileSync(path, '0123456789')
    const at = (offset: number) => {
      const fd = openSync(path, 'r')
      readSync(fd, Buffer.alloc(offset))
      return { stdin: fd }
    }
    const { stdin } = await expectCold(at(3), () => at(3))
    expect(stdin.toString()).toBe('3456789')
  })

  it('passes on an input that does not end, while it comes', async () => {
    await scene.serve(async (peer) => peer.closed)
    const run = scene.start({ stdin: null })
    run.write('first ')
    const read = () => scene.cold()[0]?.stdin.toString()
    await vi.waitFor(() => expect(read()).toBe('first '), { timeout: 10_000 })
    run.write('second')
    await vi.waitFor(() => expect(read()).toBe('first second'), { timeout: 10_000 })
    process.kill(scene.cold()[0]?.pid ?? 0, 'SIGKILL')
    expect(await run.result).toMatchObject({ signal: 'SIGKILL' })
    expect(run.pid).toBe(scene.cold()[0]?.pid)
  })

  it.each(['<&-', '>&-', '2>&-', '<&- >&- 2>&-'])('runs cold with %s', async (closing) => {
    await scene.serve(async (peer) => peer.die())
    const run = await scene.run({ before: ['sh', '-c', `exec "$@" ${closing}`, 'sh'] })
    expect([run.code, scene.cold().length]).toEqual([7, 1])
    expect(scene.cold()[0]?.fds.map((fd) => fd[0])).toEqual(['0', '1', '2'])
  })

  it('runs cold if the working folder is gone', async () => {
    const gone = join(scene.base, 'gone')
    const before = ['sh', '-c', `mkdir ${gone} && cd ${gone} && rmdir ${gone} && exec "$@"`, 'sh']
    await scene.serve(async (peer) => peer.closed)
    expect((await expectCold({ before })).cwd).toBe('gone')
  })

  it.skipIf(isRoot)('runs cold if the working folder cannot be read', async () => {
    await scene.serve(async (peer) => peer.closed)
    const cwd = join(scene.base, 'closed')
    mkdirSync(cwd, { mode: 0o311 })
    await expectCold({ cwd })
  })

  it.runIf(isLinux && has('script', '--version'))('runs cold in a terminal', async () => {
    await scene.serve(async (peer) => peer.closed)
    const line = `script -qec '"$CLIP" "$RECORDER" "$SCRIPT" fire' /dev/null`
    const before = ['sh', '-c', `export CLIP="$1" RECORDER="$2" SCRIPT="$3"; ${line}`, 'sh']
    const { result } = scene.start({ before })
    await vi.waitFor(() => expect(scene.cold()).toHaveLength(1), { timeout: 10_000 })
    process.kill(scene.cold()[0]?.pid ?? 0, 'SIGKILL')
    await result
    expect(scene.cold()).toHaveLength(1)
  })

  it('says so if Node is gone', async () => {
    const run = await scene.run({ before: ['sh', '-c', 'exec "$1" /nowhere/node "$3" fire', 'sh'] })
    expect(run).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('Run carabiner setup again'),
    })
  })
})

describe.skipIf(!hasCompiler)('the call', () => {
  it('has everything that the service needs', async () => {
    let call: object = {}
    await scene.judge(async (peer) => {
      call = await peer.call()
      peer.send(out('verdict\n'), out('note\n', 2), exit(0))
    })
    const cwd = join(scene.base, 'other')
    mkdirSync(cwd)
    const run = scene.start({ cwd, env: { EMPTY: '', U: 'ü' }, stdin: '{"a":"\0"}' })
    expect(await run.result).toEqual({ code: 0, signal: null, stdout: 'verdict\n', stderr: 'note\n' })
    expect(call).toMatchObject({
      cwd,
      args: ['fire', '--as', 'claude-code'],
      script: scene.script,
      pid: run.pid,
    })
    expect(call).toMatchObject({
      env: { HOME: scene.home, EMPTY: '', U: 'ü' },
      stdin: Buffer.from('{"a":"\0"}'),
    })
    expect(scene.cold()).toEqual([])
  })

  it('finds the service through a link to the program, and from a folder with a long path', async () => {
    const link = join(scene.base, 'link')
    symlinkSync(scene.script, link)
    const own = join(scene.base, 'x'.repeat(200))
    const folder = join(own, 'state/service')
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    await scene.serve(
      async (peer) => {
        await peer.call()
        peer.send(STARTED, exit(5))
        await peer.closed
      },
      join(scene.base, 's'),
    )
    renameSync(join(scene.base, 's'), join(folder, `${scene.name}.sock`))
    const before = ['sh', '-c', 'exec "$1" "$2" "$LINK" fire', 'sh']
    expect(await scene.run({ before, env: { CARABINER_HOME: own, LINK: link } })).toMatchObject({ code: 5 })
  })

  it('carries 3 MiB of input', async () => {
    const stdin = Buffer.alloc(3 * MIB, 'abcdefg')
    await scene.judge(async (peer) => peer.send(exit((await peer.call()).stdin.equals(stdin) ? 0 : 1)))
    expect((await scene.run({ stdin })).code).toBe(0)
  })
})

describe.skipIf(!hasCompiler)('after the service has started', () => {
  const play = async (bytes: Buffer) => {
    await scene.serve(async (peer) => {
      await peer.call()
      await peer.die(bytes)
    })
    const result = await scene.run()
    return scene.cold().length === 0 ? result : 'cold'
  }

  it.each<[string, Buffer]>([
    ['garbage', Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')],
    ['an unknown type', frame(99)],
    ['a frame that is too long', frame(69, Buffer.alloc(100), 64 * MIB + 1)],
    ['`started` again', encodeToCaller(STARTED)],
    ['`cold`', encodeToCaller({ kind: 'cold', why: '' })],
    ['a program whose arguments are cut off', frame(67, Buffer.alloc(9))],
    [
      'a program with more arguments than bytes',
      frame(67, Buffer.from([...Array(8).fill(0), 255, 255, 255, 255])),
    ],
    ['a stream that is not there', frame(69, Buffer.from([3, 65]))],
    ['an exit code that goes on', frame(71, Buffer.alloc(5))],
    ['an exit code that is cut off', frame(71, Buffer.alloc(3))],
  ])('prints the interrupted answer after %s', async (_, bytes) => {
    await scene.judge(async (peer) => {
      peer.send(out('half a verdict'))
      peer.write(bytes)
      await peer.closed
    })
    expect(await scene.run()).toEqual(INTERRUPTED)
    expect(scene.cold()).toEqual([])
  })

  it('never takes an exit code that the system would take for 0', async () => {
    await scene.judge(async (peer) => peer.send(exit(256)))
    expect((await scene.run()).code).toBe(2)
  })

  it('ends as frames.ts would read it, whatever the service sends', async () => {
    const short = fc.uint8Array({ maxLength: 12 })
    const good = fc.oneof(
      fc.string({ maxLength: 5 }).map((text) => encodeToCaller(out(text))),
      fc.string({ maxLength: 5 }).map((text) => encodeToCaller(out(text, 2))),
      fc.integer({ min: -1, max: 256 }).map((code) => encodeToCaller({ kind: 'answered', exit: code })),
      fc.integer({ min: -1, max: 256 }).map((code) => encodeToCaller(exit(code))),
      fc.nat(3).map((id) => encodeToCaller({ kind: 'end', id })),
    )
    const bad = fc
      .tuple(fc.integer({ min: 65, max: 72 }), short)
      .map(([type, payload]) => frame(type, payload))
    const all = fc.array(fc.oneof({ weight: 4, arbitrary: good }, bad), { maxLength: 6 })
    const property = fc.asyncProperty(all, async (frames) => {
      const bytes = Buffer.concat([encodeToCaller(STARTED), ...frames])
      const own = new Scene(tools)
      try {
        await own.serve(async (peer) => {
          await peer.call()
          await peer.die(bytes)
        })
        expect(await own.run()).toEqual(expected(bytes))
        expect(own.cold()).toEqual([])
      } finally {
        await own.end()
      }
    })
    await fc.assert(property, { numRuns: runs(250), ...seeded(11) })
  })

  it('prints the interrupted answer at the deadline, and leaves no program', async () => {
    const groups: number[] = []
    await scene.judge(
      async (peer) => {
        peer.start({ args: ['-c', 'trap "" TERM; sleep 60 & sleep 60'] })
        groups.push(await peer.when(([, , child]) => (child && 'pid' in child ? child.pid : undefined)))
        await peer.closed
      },
      { ...STARTED, deadline: 300 },
    )
    expect(await scene.run()).toEqual(INTERRUPTED)
    expect(groups).toHaveLength(1)
    await areGone(groups)
  })

  it('still prints the verdict if the service is gone when it comes', async () => {
    const verdict = [STARTED, out('verdict\n'), exit(5)].map(encodeToCaller)
    expect(await play(Buffer.concat(verdict))).toEqual({
      code: 5,
      signal: null,
      stdout: 'verdict\n',
      stderr: '',
    })
  })

  it('takes the exit code that was answered if it loses the service later', async () => {
    const answer = [STARTED, out('verdict\n'), { kind: 'answered', exit: 6 } as const, out('late\n', 2)]
    const expectation = { code: 6, signal: null, stdout: 'verdict\n', stderr: 'late\n' }
    expect(await play(Buffer.concat(answer.map(encodeToCaller)))).toEqual(expectation)
  })

  it('prints 10 MiB', async () => {
    const text = 'abcdefghi\n'.repeat(MIB)
    await scene.judge(async (peer) => peer.send(out(text), exit(0)))
    expect((await scene.run()).stdout === text).toBe(true)
  })

  it.runIf(existsSync('/dev/full'))('refuses if the verdict cannot be written', async () => {
    await scene.judge(async (peer) => peer.send(out('verdict\n'), exit(0)))
    const full = openSync('/dev/full', 'w')
    const { code, stderr } = await scene.run({ stdout: full })
    closeSync(full)
    expect([code, stderr]).toEqual([2, 'carabiner: the answer could not be written\n'])
  })

  it.each<[string, ToCaller[]]>([
    ['verdict', [out('verdict\n'), exit(0)]],
    ['verdict before the end', [out('verdict\n'), { kind: 'answered', exit: 0 }]],
    ['interrupted answer', []],
  ])('refuses if nobody reads the %s', async (_, messages) => {
    await scene.judge(async (peer) => peer.die(Buffer.concat(messages.map(encodeToCaller))))
    const run = scene.start()
    run.closeOutput()
    expect((await run.result).code).toBe(2)
  })
})

describe.skipIf(!hasCompiler)('a program that clip runs', () => {
  /** The service ends with this code once the programs have run. */
  async function judged<T>(play: (peer: Peer) => Promise<T>, how: Start = {}): Promise<T> {
    let value: { readonly of: T } | undefined
    await scene.judge(async (peer) => {
      value = { of: await play(peer) }
      peer.send(exit(0))
    })
    expect(await scene.run(how)).toEqual({ code: 0, signal: null, stdout: '', stderr: '' })
    if (!value) throw new Error('the service was not asked')
    return value.of
  }
  const sh = (script: string, ...args: string[]) => ({ args: ['-c', script, ...args] })

  it('gets the given environment, folder, arguments and input, and the umask of the caller', async () => {
    const before = ['sh', '-c', 'umask 026; trap "" HUP; exec 7</dev/null; exec "$@"', 'sh']
    const { env: _, ...program } = {
      env: 0,
      file: tools.recorder,
      args: [scene.script, '', 'ü'],
      cwd: scene.base,
    }
    await judged((peer) => peer.run({ ...program, env: { X: '1', 'a b': '' }, input: 'in\0put' }), { before })
    const [got] = scene.cold()
    expect(got).toMatchObject({ args: [scene.script, '', 'ü'], env: ['X=1', 'a b='], cwd: scene.base })
    expect(got).toMatchObject({ umask: '26', fds: ['0', '1', '2'], ignored: [], blocked: [] })
    expect([got?.stdin.toString(), got?.session]).toEqual(['in\0put', String(got?.pid)])
  })

  it('is looked up in the PATH that it is given', async () => {
    const bin = join(scene.base, 'tools')
    mkdirSync(bin)
    writeFileSync(join(bin, 'mine'), 'echo "$0 $1"\n', { mode: 0o755 }) // without a first line that names a shell
    const env = { PATH: bin }
    const { stdout } = spawnSync('mine', ['x'], { env, encoding: 'utf8' })
    expect(stdout).toBe(`${join(bin, 'mine')} x\n`)
    const ran = await judged((peer) => peer.run({ file: 'mine', args: ['x'], env }))
    expect(ran).toMatchObject({ stdout, exited: { code: 0, alone: true } })
  })

  it.each([
    ['exit 0', { code: 0, signal: null }],
    ['exit 255', { code: 255, signal: null }],
    ['kill -KILL $$', { code: null, signal: constants.signals.SIGKILL }],
    ['kill -TERM $$', { code: null, signal: constants.signals.SIGTERM }],
  ])('is reported when it ends: %s', async (script, exited) => {
    const { exited: got, reports } = await judged((peer) => peer.run(sh(script)))
    expect(got).toMatchObject({ ...exited, alone: true })
    expect(reports.filter(({ kind }) => kind === 'gone')).toEqual([])
  })

  it.each<[string, object, object]>([
    ['there is none', { file: '/nowhere/x' }, { errno: constants.errno.ENOENT, failed: 'exec' }],
    ['none is in the PATH', { file: 'nowhere' }, { errno: constants.errno.ENOENT, failed: 'exec' }],
    ['it is a folder', { file: '/' }, { errno: constants.errno.EACCES, failed: 'exec' }],
    ['its folder is missing', { cwd: '/nowhere' }, { errno: constants.errno.ENOENT, failed: 'cwd' }],
    ['its folder is a file', { cwd: '/dev/null' }, { errno: constants.errno.ENOTDIR, failed: 'cwd' }],
  ])('is reported if it cannot start: %s', async (_, program, failure) => {
    const { child, reports } = await judged((peer) => peer.run(program))
    expect([child, reports.length]).toEqual([expect.objectContaining(failure), 1])
  })

  it('need not read its input, and may read it late', async () => {
    const input = Buffer.alloc(MIB, 'x')
    const [deaf, slow] = await judged((peer) =>
      Promise.all([
        peer.run({ ...sh('exec <&-; echo on; exit 3'), input }),
        peer.run({ ...sh('sleep 0.05; wc -c'), input }),
      ]),
    )
    expect([deaf.stdout, deaf.exited?.code]).toEqual(['on\n', 3])
    expect(slow.stdout.trim()).toBe(String(MIB))
  })

  it('loses no output, even if the service does not read for a while', async () => {
    const script = 'i=0; while [ $i -lt 40 ]; do cat "$0"; cat "$0" >&2; i=$((i+1)); done'
    const piece = join(scene.base, 'piece')
    writeFileSync(piece, '0123456789abcde\n'.repeat(8192))
    const { stdout, stderr } = await judged(async (peer) => {
      const id = peer.start(sh(script, piece))
      await peer.next('child')
      peer.pause()
      await new Promise((resolve) => setTimeout(resolve, 100)) // Meanwhile everything between us fills up.
      peer.resume()
      return peer.ran(id)
    })
    const whole = '0123456789abcde\n'.repeat(8192 * 40)
    expect([stdout === whole, stderr === whole]).toEqual([true, true])
  })

  it('can be one of many', async () => {
    const all = await judged((peer) =>
      Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          peer.run({ ...sh(`cat; exit ${index}`), input: `${index}` }),
        ),
      ),
    )
    expect(all.map(({ stdout, exited }) => [stdout, exited?.code])).toEqual(
      all.map((_, index) => [`${index}`, index]),
    )
  })

  it('is ended with TERM', async () => {
    const { exited, reports } = await judged(async (peer) => {
      const id = peer.start(sh('trap "echo term; exit 9" TERM; echo on; while :; do sleep 0.01; done'))
      await peer.next('output')
      peer.send({ kind: 'end', id })
      return peer.ran(id)
    })
    expect(exited?.code).toBe(9)
    expect(reports).toContainEqual({ kind: 'ending', id: 1, living: true })
  })

  /** Waits for the file that the script is given, or until its folder is gone. */
  const UNTIL = 'until [ -e "$0" ] || [ ! -d "$(dirname "$0")" ]; do sleep 0.01; done'

  it('that has left a process can be ended at any time, and `gone` comes', async () => {
    for (const wait of ['', 'sleep 0.01', 'sleep 0.02', 'sleep 0.03']) {
      const own = new Scene(tools)
      await own.judge(async (peer) => {
        const id = peer.start(sh(`(${wait || ':'}) >/dev/null 2>&1 & exit 0`))
        await peer.next('exited')
        peer.send({ kind: 'end', id }, { kind: 'end', id })
        await peer.ran(id)
        peer.send(exit(0))
      })
      expect((await own.run()).code).toBe(0)
      await own.end()
    }
  })

  it('can leave the group, and keep its output open', async () => {
    const file = join(scene.base, 'go')
    await scene.judge(async (peer) => {
      peer.start(sh(`setsid sh -c '${UNTIL}' "$0" & exit 4`, file))
      expect(await peer.next('exited')).toMatchObject({ code: 4 })
      peer.send(exit(1))
    })
    expect((await scene.run()).code).toBe(1)
    writeFileSync(file, '')
  })

  it('that is unknown is not living', async () => {
    const ending = await judged(async (peer) => {
      peer.send({ kind: 'end', id: 77 })
      return peer.next('ending')
    })
    expect(ending).toEqual({ kind: 'ending', id: 77, living: false })
  })
})

function stateOf(pid = 0): string {
  return spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' }).stdout
}

describe.skipIf(!hasCompiler)('clip is killed', () => {
  it('by the first thing that its hook does: nothing of the hook is left', async () => {
    const file = join(scene.base, 'group')
    await scene.judge(async (peer) => {
      peer.start({ args: ['-c', 'sleep 60 & echo $$ > "$0"; kill -KILL $PPID; wait', file] })
      await peer.closed
    })
    expect(await scene.run()).toMatchObject({ signal: 'SIGKILL' })
    await areGone([Number(readFileSync(file, 'utf8'))])
  })
})

describe.skipIf(!hasCompiler)('a signal', () => {
  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('is told to the service: %s', async (signal) => {
    let run: ReturnType<Scene['start']> | undefined
    await scene.judge(async (peer) => {
      run?.kill(signal)
      peer.send(exit((await peer.next('signal')).number === constants.signals[signal] ? 4 : 0))
    })
    run = scene.start()
    expect((await run.result).code).toBe(4)
  })

  it('that comes again means that nobody waits', async () => {
    const groups: number[] = []
    let run: ReturnType<Scene['start']> | undefined
    await scene.judge(async (peer) => {
      peer.start({ args: ['-c', 'sleep 60'] })
      const child = await peer.next('child')
      if ('pid' in child) groups.push(child.pid)
      run?.kill('SIGTERM')
      await peer.next('signal')
      run?.kill('SIGINT')
      await peer.closed
    })
    run = scene.start()
    expect(await run.result).toEqual(INTERRUPTED)
    await areGone(groups)
  })

  it('that suspends clip loses nothing that a hook said meanwhile: it comes before `ending`', async () => {
    let run: ReturnType<Scene['start']> | undefined
    const file = join(scene.base, 'exited')
    await scene.judge(async (peer) => {
      const id = peer.start({
        args: ['-c', 'while [ ! -e "$0" ]; do sleep 0.01; done; echo no >&2; exit 2', file],
      })
      const child = await peer.next('child')
      run?.kill('SIGSTOP')
      await vi.waitUntil(() => stateOf(run?.pid).startsWith('T'))
      writeFileSync(file, '')
      if ('pid' in child) await vi.waitUntil(() => stateOf(child.pid).startsWith('Z'))
      peer.send({ kind: 'end', id })
      run?.kill('SIGCONT')
      await peer.next('ending')
      const said = peer.received.map((one) => (one.kind === 'output' ? `${one.fd} ${one.bytes}` : one.kind))
      expect(said.slice(said.indexOf('child'))).toEqual(['child', '1 ', '2 no\n', '2 ', 'exited', 'ending'])
      peer.send(exit(2))
    })
    run = scene.start()
    expect((await run.result).code).toBe(2)
  })

  it('that the caller ignores is ignored, and a blocked SIGCHLD does not hide the end of programs', async () => {
    let run: ReturnType<Scene['start']> | undefined
    await scene.judge(async (peer) => {
      run?.kill('SIGHUP')
      const { exited } = await peer.run({ args: ['-c', 'exit 3'] })
      peer.send(exit(exited?.code ?? 0))
    })
    const block =
      'use POSIX; sigprocmask(SIG_BLOCK, POSIX::SigSet->new(SIGCHLD)); $SIG{HUP} = "IGNORE"; exec @ARGV'
    run = scene.start({ before: ['perl', '-e', block] })
    expect((await run.result).code).toBe(3)
  })
})

// If the tests run with a lower priority, no caller starts a service.
describe.skipIf(!hasCompiler || getPriority() > 0)('the service', () => {
  const isStarting = () => existsSync(scene.lock)
  beforeEach(() => rmSync(scene.folder, { recursive: true }))

  async function started(): Promise<Recorded> {
    await vi.waitFor(() => expect(scene.services()).toHaveLength(1), { timeout: 10_000 })
    return scene.services()[0] as Recorded
  }

  it('is started by the first cold run, with nothing of the caller but where its files are', async () => {
    const before = ['sh', '-c', 'umask 022; trap "" HUP; exec 7</dev/null; exec "$@"', 'sh']
    // Both outputs end, although the service lives.
    expect(await scene.run({ before })).toEqual(COLD)
    const { args, session, pid, inodes, ...rest } = await started()
    expect(args).toEqual([scene.script, 'service', 'run', scene.folder, scene.name, `HOME=${scene.home}`])
    expect(rest).toMatchObject({ env: [], cwd: '/', umask: '77', ignored: [], blocked: [] })
    expect(rest.fds).toEqual(['0 null', '1 null', '2 null', '3'])
    expect(inodes).toEqual([String(statSync(scene.lock).ino)])
    expect(session).not.toBe(scene.cold()[0]?.session)
    expect(statSync(scene.folder).mode & 0o777).toBe(0o700)
    process.kill(pid, 0)
  })

  it('is started once, however many callers come', async () => {
    const all = await Promise.all(Array.from({ length: 20 }, () => scene.run()))
    expect(all).toEqual(all.map(() => COLD))
    await started()
    expect(scene.cold()).toHaveLength(20)
  })

  it.each<[string, string]>([
    ['a limit of time', 'ulimit -t 100; exec "$@"'],
    ['a limit of memory', 'ulimit -v 4000000; exec "$@"'],
    ['a limit of file sizes', 'ulimit -f 100000; exec "$@"'],
    ['few descriptors', 'ulimit -n 100; exec "$@"'],
    ['a lower priority', 'exec nice "$@"'],
    ['a relative Node', 'cd "$(dirname "$2")" && shift 2 && exec "$0" ./recorder "$@"'],
    ...(has('setpriv', '--no-new-privs', 'true')
      ? [['no new privileges', 'exec setpriv --no-new-privs "$@"'] as [string, string]]
      : []),
  ])('is not started by a caller with %s', async (_, script) => {
    expect(await scene.run({ before: ['sh', '-c', script, tools.clip] })).toEqual(COLD)
    expect(isStarting()).toBe(false)
  })

  it('is not started again within a minute after it has failed', async () => {
    mkdirSync(scene.folder, { mode: 0o700 })
    scene.failLately()
    expect(await scene.run()).toEqual(COLD)
    expect(isStarting()).toBe(false)
    const before = new Date(Date.now() - 61_000)
    utimesSync(join(scene.folder, 'failed.txt'), before, before)
    expect(await scene.run()).toEqual(COLD)
    await started()
  })

  it('is not started in a folder that is open to others', async () => {
    mkdirSync(scene.folder, { mode: 0o755 })
    expect(await scene.run()).toEqual(COLD)
    expect(isStarting()).toBe(false)
  })
})
