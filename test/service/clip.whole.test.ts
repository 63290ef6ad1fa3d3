// clip, where it takes longer: a service that is lost after every byte, is stopped, or is asked by many; programs that resist.

import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { encodeToCaller, type ToCaller } from '../../src/rpc/frames.js'
import {
  areGone,
  COLD,
  expected,
  hasCompiler,
  INTERRUPTED,
  type Peer,
  type Ran,
  Scene,
  STARTED,
  Tools,
} from './clip-scene.js'

it.skipIf(hasCompiler)('there is no C compiler: clip was not tried', () => {})

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

const sh = (script: string, ...args: string[]) => ({ args: ['-c', script, ...args] })
const exit = (code: number): ToCaller => ({ kind: 'exit', code })

/** Does it for all, a few at a time. */
async function forAll<T>(values: readonly T[], work: (value: T) => Promise<void>): Promise<void> {
  const left = values.values()
  const worker = async () => {
    for (const value of left) await work(value)
  }
  await Promise.all(Array.from({ length: 4 }, worker))
}

describe.skipIf(!hasCompiler)('a service that is lost', () => {
  /** Programs that resist TERM note their groups in this folder. */
  const conversation = (folder: string, deadline: number) => {
    const script = 'trap "" TERM; : > "$0/$$"; sleep 60 & while :; do sleep 1; done'
    const run = { ...sh(script, folder), cwd: '/', env: { PATH: process.env.PATH ?? '' }, input: 'x' }
    const messages: ToCaller[] = [
      { ...STARTED, deadline },
      { kind: 'run', id: 1, file: 'sh', ...run },
      { kind: 'out', fd: 2, bytes: 'note\n' },
      { kind: 'out', fd: 1, bytes: 'verdict\n' },
      { kind: 'end', id: 2 },
      { kind: 'answered', exit: 6 },
      { kind: 'out', fd: 1, bytes: 'late\n' },
      exit(8),
    ]
    return Buffer.concat(messages.map(encodeToCaller))
  }
  const lengths = (bytes: Buffer) => Array.from({ length: bytes.length + 1 }, (_, index) => index)

  const MOST_TRIES = 20
  async function lose(bytes: Buffer, isSilent: boolean): Promise<void> {
    const wanted = expected(bytes)
    // On a busy machine our word can come too late.
    for (let tries = 1; tries <= MOST_TRIES; tries++) {
      const { result, cold } = await losing(bytes, isSilent)
      expect(cold).toBe(result.code === COLD.code ? 1 : 0)
      if (result.code === COLD.code && wanted !== 'cold' && tries < MOST_TRIES) continue
      expect(result, `after ${bytes.length} bytes`).toEqual(wanted === 'cold' ? COLD : wanted)
      return
    }
  }

  async function losing(bytes: Buffer, isSilent: boolean) {
    const own = new Scene(tools)
    try {
      await own.serve(async (peer) => {
        await peer.call()
        if (!isSilent) return peer.die(bytes)
        peer.write(bytes)
        await peer.closed
      })
      return { result: await own.run(), cold: own.cold().length }
    } finally {
      await own.end()
    }
  }

  it.each([
    ['is gone', false],
    ['says nothing more', true],
  ])(
    '%s after any byte: the answer is whole, nothing runs twice, and no program is left',
    async (_, isSilent) => {
      const folder = join(scene.base, 'groups')
      mkdirSync(folder)
      const all = conversation(folder, isSilent ? 150 : 120_000)
      // Each takes a second on the cold path.
      const cuts = lengths(all).filter((length) => !isSilent || length % 5 === 0)
      await forAll(cuts, (length) => lose(all.subarray(0, length), isSilent))
      await areGone(readdirSync(folder).map(Number))
      if (isSilent) expect(readdirSync(folder)).not.toEqual([])
    },
  )

  it('is stuck while it judges: a caller refuses after fifteen seconds, and leaves no program', async () => {
    const groups: number[] = []
    await scene.serve(async (peer) => {
      await peer.call()
      peer.send({ ...STARTED, deadline: 600_000 })
      await peer.next('go')
      peer.start({ args: ['-c', 'sleep 600'] })
      const child = await peer.next('child')
      if ('pid' in child) groups.push(child.pid)
      await peer.closed
    })
    expect(await scene.run()).toEqual(INTERRUPTED)
    await areGone(groups)
  })

  it('is stopped: everybody runs cold, and it may not begin when it goes on', async () => {
    const code = `
      let got = 0
      const server = require('net').createServer((socket) => {
        socket.on('error', () => {})
        socket.on('data', (chunk) => {
          if (chunk.length === 5 && chunk[4] === 8) got++
          socket.write(Buffer.from(${JSON.stringify([...encodeToCaller(STARTED)])}))
        })
      })
      server.listen({ path: ${JSON.stringify(scene.socket)}, backlog: 3 }, () => console.log('up'))
      process.on('SIGTERM', () => { console.log('go ' + got); process.exit() })`
    const service = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'pipe', 'inherit'] })
    let said = ''
    service.stdout.setEncoding('utf8')
    await new Promise<void>((resolve) => {
      service.stdout.on('data', (text: string) => {
        said += text
        resolve()
      })
    })
    service.kill('SIGSTOP')
    // More than can wait for it: some connect, and some cannot.
    const all = await Promise.all(Array.from({ length: 12 }, () => scene.run()))
    expect(all).toEqual(all.map(() => COLD))
    expect(scene.cold()).toHaveLength(12)
    expect(existsSync(scene.lock)).toBe(false)
    const ended = new Promise((resolve) => service.once('close', resolve))
    service.kill('SIGCONT')
    service.kill('SIGTERM')
    await ended
    expect(said).toBe('up\ngo 0\n')
  })
})

describe.skipIf(!hasCompiler)('a program that clip runs', () => {
  it('is ended with KILL if it ignores TERM, and so is what it started', async () => {
    const { child, exited } = await ran(async (peer) => {
      const id = peer.start(sh('trap "" TERM; sleep 60 & echo on; while :; do sleep 1; done'))
      await peer.next('output')
      peer.send({ kind: 'end', id })
      return peer.ran(id)
    })
    expect(exited?.signal).toBe(constants.signals.SIGKILL)
    if (child && 'pid' in child) await areGone([child.pid])
  })

  it('is ended even if it is suspended', async () => {
    const { exited } = await ran(async (peer) => {
      const id = peer.start(sh('echo on; kill -STOP $$'))
      await peer.next('output')
      peer.send({ kind: 'end', id })
      return peer.ran(id)
    })
    expect(exited?.signal).toBe(constants.signals.SIGTERM)
  })

  it.runIf(process.platform === 'linux')('ends with clip, even if that is killed', async () => {
    const groups: number[] = []
    const killing = scene.judge(async (peer) => {
      peer.start(sh('sleep 60'))
      const child = await peer.next('child')
      if ('pid' in child) groups.push(child.pid)
      run.kill('SIGKILL')
      await peer.closed
    })
    await killing
    const run = scene.start()
    expect((await run.result).signal).toBe('SIGKILL')
    expect(groups).toHaveLength(1)
    await areGone(groups)
  })

  it('can leave a process in its group, which is reported when it is gone', async () => {
    const file = join(scene.base, 'go')
    const { reports } = await ran(async (peer) => {
      const id = peer.start(sh(`(while [ ! -e "$0" ]; do sleep 0.01; done; echo late) & exit 0`, file))
      const exited = await peer.next('exited')
      expect(exited.alone).toBe(false)
      writeFileSync(file, '')
      return peer.ran(id)
    })
    expect(reports.at(-1)).toEqual({ kind: 'gone', id: 1 })
  })

  async function ran(play: (peer: Peer) => Promise<Ran>): Promise<Ran> {
    let ran: Ran | undefined
    await scene.judge(async (peer) => {
      ran = await play(peer)
      peer.send(exit(0))
    })
    expect((await scene.run()).code).toBe(0)
    if (!ran) throw new Error('the service was not asked')
    return ran
  }
})
