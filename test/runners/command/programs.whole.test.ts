// What a program reads and prints, and how it ends. Every process is real.

import { getEventListeners } from 'node:events'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Output } from '../../../src/runners/command/execution.js'
import { type Program, Programs } from '../../../src/runners/command/programs.js'
import { isLarge } from '../../property/runs.js'
import { isThere, until } from '../until.js'
import { FOREVER, Workshop } from './workshop.js'

const MIB = 1024 * 1024
const never = new AbortController().signal

let workshop: Workshop
let programs: Programs

beforeEach(() => {
  workshop = new Workshop()
  programs = new Programs()
})

afterEach(async () => {
  await programs.idle()
  workshop.close()
})

const run = (program: Program) => programs.run(program, never)
const sh = (text: string, more: Partial<Program> = {}) => run(workshop.script(text, more))

describe('the ending', () => {
  test('has code, both outputs, and nothing else to tell', async () => {
    expect(await sh('cat; echo err >&2; exit 3', { input: 'payload\n' })).toEqual({
      code: 3,
      signal: null,
      stdout: 'payload\n',
      stderr: 'err\n',
      cut: false,
    })
  })

  test('by a signal names it', async () => {
    expect(await sh('kill -KILL $$')).toMatchObject({ code: null, signal: 'SIGKILL' })
  })

  test('runs in its folder, with its environment and no other', async () => {
    const ending = await run(
      workshop.program('/bin/sh', ['-c', 'pwd; echo "$A|$HOME"'], { env: { A: 'a', PATH: '/usr/bin:/bin' } }),
    )
    expect(ending.stdout).toBe(`${workshop.folder}\na|\n`)
  })

  test('a program that closes its output early is still awaited', async () => {
    expect(await sh('exec >&- 2>&-; sleep 0.3; exit 2')).toMatchObject({ code: 2 })
  })

  test('many at once, each with its own answer', async () => {
    const numbers = Array.from({ length: 50 }, (_, i) => i)
    const endings = await Promise.all(numbers.map((i) => sh(`cat; exit ${i}`, { input: `${i}` })))
    expect(endings.map(({ code, stdout }) => [code, stdout])).toEqual(numbers.map((i) => [i, `${i}`]))
  })
})

describe('the input', () => {
  const large = 'x'.repeat(MIB)

  test('arrives whole', async () => {
    expect((await sh('wc -c', { input: large })).stdout.trim()).toBe(String(MIB))
  })

  test('need not be read', async () => {
    expect(await sh('echo done', { input: large })).toMatchObject({ code: 0, stdout: 'done\n' })
  })

  test('may be closed early, while the program goes on', async () => {
    const ending = await sh('exec <&-; sleep 0.2; echo done; exit 2', { input: large })
    expect(ending).toMatchObject({ code: 2, stdout: 'done\n' })
  })

  test('may come too late for a program that exits at once', async () => {
    const endings = await Promise.all(Array.from({ length: 20 }, () => sh('exit 0', { input: large })))
    expect(endings.map(({ code }) => code)).toEqual(Array(20).fill(0))
  })

  test('ends: who reads to the end gets there', async () => {
    expect((await sh('cat >/dev/null; echo end')).stdout).toBe('end\n')
  })
})

describe('the output', () => {
  test.runIf(isLarge)('of a gigabyte is read to its end and kept to the limit', async () => {
    const { code, stdout, stderr, cut } = await sh('head -c 1000000000 /dev/zero; echo done >&2')
    expect([code, stdout.length, stderr, cut]).toEqual([0, MIB, 'done\n', true])
  })

  test('is bounded on stderr as well', async () => {
    const { stdout, stderr, cut } = await sh('head -c 300000 /dev/zero >&2; echo out', { outputLimit: 1000 })
    expect([stdout, stderr.length, cut]).toEqual(['out\n', 1000, false])
  })

  test('of exactly the limit is whole', async () => {
    const { stdout, cut } = await sh('head -c 1000 /dev/zero', { outputLimit: 1000 })
    expect([stdout.length, cut]).toEqual([1000, false])
  })

  test('that comes byte by byte is put together', async () => {
    expect((await sh('for c in a b c; do printf $c; sleep 0.1; done')).stdout).toBe('abc')
  })

  test('in thousands of pieces is put together', async () => {
    const stream = new PassThrough()
    let ended = 0
    const output = new Output(stream, MIB, () => ended++)
    const pieces = Array.from({ length: 5000 }, (_, i) => `${i},`)
    for (const piece of pieces) stream.write(piece)
    stream.end()
    await until('it ended', () => output.ended)
    expect([output.text(), output.cut, ended]).toEqual([pieces.join(''), false, 1])
  })

  test('is cut between two characters', async () => {
    // 4 bytes a character: 10 bytes hold two of them and a half
    const { stdout, cut } = await sh("printf '😀😀😀'", { outputLimit: 10 })
    expect([stdout, cut]).toEqual(['😀😀', true])
  })

  test('that is not UTF-8 is replaced, and the rest stays', async () => {
    expect((await sh("printf 'a\\377b\\303'")).stdout).toBe('a\ufffdb\ufffd')
  })

  const outputOf = async (bytes: Buffer) => {
    const stream = new PassThrough()
    const output = new Output(stream, MIB, () => undefined)
    stream.end(bytes)
    await until('it ended', () => output.ended)
    return output
  }

  test('in UTF-16 is decoded, and marked', async () => {
    const text = '{"decision":"block","reason":"verboten: löschen, запрещено, 禁止 😀"}\n'
    const little = Buffer.from(text, 'utf16le')
    const big = Buffer.from(little).swap16()
    const mark = Buffer.from([0xff, 0xfe])
    const forms = [
      little,
      big,
      Buffer.concat([mark, little]),
      Buffer.concat([Buffer.from(mark).swap16(), big]),
    ]
    for (const bytes of forms) {
      const output = await outputOf(bytes)
      expect([output.text(), output.answer()]).toEqual([text, `\0${text}`])
    }
  })

  test('in UTF-8 with zero bytes is left alone', async () => {
    const answer = '{"decision":"block","reason":"a long reason"}'
    for (const text of [answer, 'a\0b', 'a\0b\0', `a\0b\0${answer}`, `${answer}\0`, '\0'.repeat(9)]) {
      expect((await outputOf(Buffer.from(text))).answer()).toBe(text)
    }
  })

  test('keeps its byte order mark for who reads it', async () => {
    expect((await sh("printf '\\357\\273\\277{}'")).stdout).toBe('\ufeff{}')
  })
})

describe('output after the exit', () => {
  /** The drain is short, so that a very busy machine may miss it. */
  const oftenEnough = { retry: 5 }

  test('counts while a child of the program is still handing it on', oftenEnough, async () => {
    const ending = await sh('rm -f p; mkfifo p; cat p & exec >p; echo answer; exit 2')
    expect(ending).toMatchObject({ code: 2, stdout: 'answer\n' })
  })

  test('is read before time is called, however long the host was busy', oftenEnough, async () => {
    const background = 'while [ ! -e go ]; do sleep 0.01; done; echo late; echo x >printed; sleep 300'
    const ending = sh(`rm -f go; (${background}) & echo $$ >leader; exit 0`)
    const leader = Number(await workshop.made('leader'))
    await until('the exit was seen', () => !isThere(leader))
    await new Promise((resolve) => setImmediate(resolve)) // so that the timers are next, and reading after them
    writeFileSync(workshop.path('go'), '')
    const start = performance.now()
    const busy = () => performance.now() - start
    while (busy() < 400 || (busy() < 5000 && !existsSync(workshop.path('printed')))) {
      // a host that computes
    }
    expect((await ending).stdout).toBe('late\n')
  })

  test('of a process that is being ended is not part of the answer', async () => {
    const background = `trap 'echo bye; exit' TERM; echo x >ready; while :; do sleep 0.01; done`
    const ending = await sh(`(${background}) & while [ ! -e ready ]; do sleep 0.01; done; echo '{}'`)
    expect(ending).toMatchObject({ code: 0, stdout: '{}\n' })
  })

  test("held by a child that ignores TERM is nobody's outside the group", async () => {
    const background = "trap '' TERM; echo x >ready; while :; do sleep 1; done"
    const ending = await sh(`(${background}) & while [ ! -e ready ]; do sleep 0.01; done; exit 2`)
    expect(ending).toMatchObject({ code: 2, heldBy: 'group' })
    expect(workshop.running()).not.toEqual([])
    await programs.idle()
    expect(workshop.running()).toEqual([])
  })

  test('that floods does not hold up the answer', async () => {
    const ending = await sh('yes & exit 0')
    expect(ending).toMatchObject({ code: 0, cut: true })
  })

  test('a child in the group that holds it does not hold up the answer, and is ended', async () => {
    const ending = await sh(`sleep ${FOREVER} & echo out; exit 0`)
    expect(ending).toMatchObject({ code: 0, stdout: 'out\n' })
    await programs.idle()
    expect(workshop.running()).toEqual([])
  })

  const daemon = `spawn('sleep', ['${FOREVER}'], { detached: true, stdio: 'inherit' }).unref()`
  const member = `spawn('sleep', ['${FOREVER}'], { stdio: 'inherit' }).unref()`
  const spawning = "const { spawn } = require('child_process');"

  test('a process that left the group and holds it is reported, and left alone', async () => {
    const ending = await run(workshop.node(`${spawning} ${daemon}; console.log('out')`))
    expect(ending).toMatchObject({ code: 0, stdout: 'out\n', heldBy: 'outsider' })
    await programs.idle()
    expect(workshop.running()).toHaveLength(1)
  })

  test('beside one in the group it is reported as well', async () => {
    const ending = await run(workshop.node(`${spawning} ${member}; ${daemon}`))
    expect(ending).toMatchObject({ code: 0, heldBy: 'outsider' })
    await programs.idle()
    expect(workshop.running()).toHaveLength(1)
  })

  test('a process that left the group and holds nothing is not reported', async () => {
    const quiet = daemon.replace('inherit', 'ignore')
    expect(await run(workshop.node(`${spawning} ${quiet}`))).toMatchObject({ code: 0 })
    expect(workshop.running()).toHaveLength(1)
  })
})

describe('nothing is left behind in the host:', () => {
  test('no listener of the process or the signal, and one while programs run', async () => {
    const { signal } = new AbortController()
    const before = process.listenerCount('exit')
    const running = Array.from({ length: 20 }, () => programs.run(workshop.script('exit 0'), signal))
    await Promise.all(running)
    expect(process.listenerCount('exit')).toBe(before + 1)
    await programs.idle()
    expect(process.listenerCount('exit')).toBe(before)
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  test.skipIf(!existsSync('/proc/self/fd'))('no open file', async () => {
    const open = () => readdirSync('/proc/self/fd').length
    await sh('true')
    const before = open()
    for (let i = 0; i < 4; i++) {
      await sh('true')
      await run(workshop.program('/no/such/program', [])).catch(() => {})
      await sh('sleep 300 & exit 0')
    }
    await programs.idle()
    await until('the files are closed', () => open() <= before)
  })
})
