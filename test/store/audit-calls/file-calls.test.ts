// Calls in files: private, bounded by size and age, whole after every kill, and never in the way.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { FileCalls } from '../../../src/store/audit-calls/file-calls.js'
import { all } from '../contracts/audit-calls.js'
import { judged } from './judged.js'
import { workplace } from './workplace.js'

const DAY_MS = 86_400_000
const idsOf = async (calls: FileCalls) => (await all(calls)).map(({ id }) => id)

describe('files', () => {
  it('are for this user alone', () => {
    const { calls, files } = workplace()
    calls.append([judged('a')])
    const [file = ''] = files()
    expect([statSync(file).mode & 0o777, statSync(calls.place).mode & 0o777]).toEqual([0o600, 0o700])
  })

  it('cannot lie in the project', () => {
    const { projectDir } = workplace()
    expect(() => new FileCalls({ projectDir, stateDir: join(projectDir, 'x') })).toThrow(
      /lies in the project/,
    )
  })

  it('begin anew each day, and go after a month', async () => {
    const { calls, files } = workplace()
    vi.useFakeTimers({ now: Date.now(), toFake: ['Date'] })
    try {
      for (let day = 0; day < 40; day++) {
        calls.append([judged(`${day}`, { time: new Date().toISOString() })])
        vi.setSystemTime(Date.now() + DAY_MS)
      }
      expect(files().length).toBeLessThanOrEqual(32)
      expect((await idsOf(calls)).length).toBeLessThanOrEqual(30)
    } finally {
      vi.useRealTimers()
    }
  })

  it('take no more than their bound', async () => {
    const { calls, files } = workplace({ maxBytes: 100_000 })
    const data = { tool_name: 'Bash', tool_input: { command: 'a b '.repeat(1000) } }
    for (let i = 0; i < 100; i++) calls.append([judged(`${i}`, { data })])
    const size = files().reduce((sum, path) => sum + statSync(path).size, 0)
    expect(size).toBeLessThanOrEqual(110_000)
    expect((await idsOf(calls))[0]).toBe('99')
  })

  it('are few while the clock is wrong', () => {
    const { calls, files } = workplace()
    vi.useFakeTimers({ now: Date.now() + 10 * DAY_MS, toFake: ['Date'] })
    calls.append([judged('future')])
    vi.useRealTimers()
    for (let i = 0; i < 10; i++) calls.append([judged(`${i}`)])
    expect(files()).toHaveLength(2)
  })

  it('of a newer version are refused, and left alone', async () => {
    const { calls } = workplace()
    calls.append([judged('a')])
    const newer = join(calls.place, `calls.2.${Date.now()}.0123456789abcdef.jsonl`)
    writeFileSync(newer, 'something new')
    expect(() => calls.append([judged('b')])).toThrow(/newer version of Carabiner/)
    await expect(all(calls)).rejects.toThrow(/newer version/)
    expect(readFileSync(newer, 'utf8')).toBe('something new')
  })

  it('of others are left alone', async () => {
    const { calls } = workplace()
    calls.append([judged('a')])
    writeFileSync(join(calls.place, 'calls.txt'), 'mine')
    calls.append([judged('b')])
    expect(await idsOf(calls)).toEqual(['b', 'a'])
    expect(readFileSync(join(calls.place, 'calls.txt'), 'utf8')).toBe('mine')
  })
})

describe('damage', () => {
  it.for(['{"id":"x"', '{"id":"x"}\n', 'null\n[]\n"x"\n', '\u0000\u0001\n', '{'.repeat(5000)])(
    'of a line loses that line alone: %j',
    async (text) => {
      const { calls, files } = workplace()
      calls.append([judged('a')])
      appendFileSync(files()[0] ?? '', text)
      calls.append([judged('b')])
      expect(await idsOf(calls)).toEqual(['b', 'a'])
    },
  )

  it('a link in place of the folder of all calls is not written through', () => {
    const { calls, root } = workplace()
    const elsewhere = join(root, 'elsewhere')
    mkdirSync(elsewhere)
    mkdirSync(dirname(dirname(calls.place)), { recursive: true })
    symlinkSync(elsewhere, dirname(calls.place))
    expect(() => calls.append([judged('a')])).toThrow(/calls is a link; remove it/)
    expect(readdirSync(elsewhere)).toEqual([])
  })

  it('a link is not written through', () => {
    const { calls, files, root } = workplace()
    calls.append([judged('a')])
    const [file = ''] = files()
    writeFileSync(join(root, 'victim'), 'mine')
    rmSync(file)
    symlinkSync(join(root, 'victim'), file)
    expect(() => calls.append([judged('b')])).toThrow(/cannot be written/)
    rmSync(file)
    linkSync(join(root, 'victim'), file)
    expect(() => calls.append([judged('b')])).toThrow(/a link to another file/)
    expect(readFileSync(join(root, 'victim'), 'utf8')).toBe('mine')
  })

  it('a file where the folder should be is told', () => {
    const { calls, stateDir } = workplace()
    mkdirSync(stateDir, { recursive: true })
    writeFileSync(join(stateDir, 'calls'), '')
    expect(() => calls.append([judged('a')])).toThrow(/the calls in .* cannot be written/)
  })

  it('a call that is too old is not shown', async () => {
    const { calls } = workplace()
    calls.append([judged('a'), judged('old', { time: new Date(Date.now() - 40 * DAY_MS).toISOString() })])
    expect(await idsOf(calls)).toEqual(['a'])
  })
})

describe('processes', () => {
  let program = ''
  beforeAll(async () => {
    program = mkdtempSync(join(tmpdir(), 'carabiner-callers-'))
    await build({
      entryPoints: [fileURLToPath(new URL('worker.ts', import.meta.url))],
      outfile: join(program, 'worker.mjs'),
      bundle: true,
      platform: 'node',
      format: 'esm',
      logLevel: 'warning',
    })
  }, 60_000)
  afterAll(() => rmSync(program, { recursive: true, force: true }))

  function start({ projectDir, stateDir }: ReturnType<typeof workplace>, count = 0) {
    const places = JSON.stringify({ projectDir, stateDir })
    const child: ChildProcess = spawn(process.execPath, [join(program, 'worker.mjs'), places, `${count}`], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let printed = ''
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      printed += text
    })
    return { child, ended: once(child, 'close'), ids: () => printed.split('\n').slice(0, -1) }
  }

  it('many at once lose nothing and mix nothing', { timeout: 60_000 }, async () => {
    const place = workplace()
    const workers = Array.from({ length: 4 }, () => start(place, 50))
    await Promise.all(workers.map(({ ended }) => ended))
    const written = workers.flatMap(({ ids }) => ids())
    expect(written).toHaveLength(200)
    expect((await idsOf(place.calls)).sort()).toEqual(written.sort())
  })

  it('that are killed leave every call that they had written', { timeout: 60_000 }, async () => {
    const place = workplace()
    const workers = Array.from({ length: 4 }, () => start(place))
    await Promise.all(workers.map(({ child }) => once(child.stdout as NodeJS.ReadableStream, 'data')))
    for (const { child } of workers) child.kill('SIGKILL')
    await Promise.all(workers.map(({ ended }) => ended))
    const found = new Set(await idsOf(place.calls))
    const lost = workers.flatMap(({ ids }) => ids()).filter((id) => !found.has(id))
    expect(lost).toEqual([])
    place.calls.append([judged('after')])
    expect((await idsOf(place.calls))[0]).toBe('after')
  })
})
