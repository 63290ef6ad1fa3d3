import { hash as digestOf } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { FileAuditLog } from '../../../src/store/audit/file-audit.js'
import { verify } from '../../../src/store/audit/verify.js'
import { asCaller, serveCallers, serveNobody } from '../../callers.js'
import {
  appendBytes,
  entriesOf,
  entry,
  linesIn,
  sealed,
  storyOf,
  times,
  workplace,
  writeLines,
} from './workplace.js'

const ZEROS = '0'.repeat(64)

describe('a line', () => {
  it('holds the hash of the line before it, and last the hash of its own bytes', () => {
    const { log, folder } = workplace()
    log.append([entry('a'), entry('b')])
    log.append([entry('ünï 𝄞 \u2028 "quoted" \\ \n\ud800')])
    let prev = ZEROS
    for (const [i, line] of linesIn(folder).entries()) {
      const [, body = '', hash = ''] = /^(.*),"hash":"([0-9a-f]{64})"\}$/s.exec(line) ?? []
      expect(body).toMatch(new RegExp(`^{"seq":${i + 1},"prev":"${prev}","kind":"fire","time":"2026-`))
      expect(hash).toBe(digestOf('sha256', Buffer.from(body)))
      prev = hash
    }
    expect(storyOf(folder)).toEqual(['a', 'b', 'ünï 𝄞 \u2028 "quoted" \\ \n\ud800'])
    expect(verify(folder)).toMatchObject({ ok: true, records: 3, last: { seq: 3, hash: prev } })
  })

  it('is the first one where a writer was killed before it wrote any', () => {
    const { log, folder } = workplace()
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    writeFileSync(join(folder, 'head.json'), '', { mode: 0o600 })
    log.append([entry('a')])
    expect(verify(folder)).toMatchObject({ ok: true, records: 1, problems: [] })
  })

  it('goes on from what another process wrote', () => {
    const { log, folder, dataDir, projectDir } = workplace()
    const other = new FileAuditLog({ dataDir, projectDir })
    for (let i = 0; i < 4; i++) (i % 2 ? other : log).append([entry(`${i}`)])
    expect(storyOf(folder)).toEqual(['0', '1', '2', '3'])
    expect(verify(folder)).toMatchObject({ ok: true, records: 4 })
  })
})

describe('callers of a service', () => {
  it('go on from each other, from other processes, and from a log that was removed', () => {
    const { folder, dataDir, projectDir } = workplace()
    const append = (name: string) => new FileAuditLog({ dataDir, projectDir }).append([entry(name)])
    serveCallers()
    onTestFinished(serveNobody)
    for (const name of ['a', 'b']) asCaller({}, () => append(name))
    append('other')
    asCaller({}, () => append('c'))
    expect(storyOf(folder)).toEqual(['a', 'b', 'other', 'c'])
    expect(verify(folder)).toMatchObject({ ok: true, records: 4 })
    rmSync(join(folder, 'head.json'))
    asCaller({}, () => append('d'))
    expect(storyOf(folder)).toEqual(['a', 'b', 'other', 'c', 'recovered', 'd'])
    rmSync(folder, { recursive: true })
    asCaller({}, () => append('e'))
    expect(storyOf(folder).at(-1)).toBe('e')
  })
})

describe('what is no entry', () => {
  const cyclic: Record<string, unknown> = { kind: 'fire', time: 'now' }
  cyclic.self = cyclic
  const bad = {
    'no object': null,
    'no kind': { time: 'now' },
    'no time': { kind: 'fire' },
    'a number of its own': { kind: 'fire', time: 'now', seq: 1 },
    'a hash of its own': { kind: 'fire', time: 'now', hash: 'x' },
    'what contains itself': cyclic,
    'what JSON cannot carry': { kind: 'fire', time: 'now', big: 1n },
    'what is too large': { kind: 'fire', time: 'now', texts: times(9 * 1024 * 8, () => 'x'.repeat(128)) },
  }
  it.for(Object.entries(bad))('%s: nothing of the batch is written, and the log says so', ([, value]) => {
    const { log, folder } = workplace()
    log.append([entry('before')])
    expect(() => log.append([entry('with it'), value as never])).toThrow(/audit log/)
    log.append([entry('after')])
    expect(storyOf(folder)).toEqual(['before', 'gap', 'after'])
    expect(entriesOf(folder)[1]).toMatchObject({ kind: 'gap', records: 2, why: 'FAILED' })
    expect(verify(folder).ok).toBe(true)
  })
})

describe('options', () => {
  it('that make no sense are refused', () => {
    expect(() => new FileAuditLog({} as never)).toThrow(/projectDir must be/)
    expect(() => new FileAuditLog({ projectDir: '/p', maxBytes: 0 })).toThrow(/maxBytes must be/)
    expect(() => new FileAuditLog({ projectDir: '/p', maxsize: 1 } as never)).toThrow(
      /unknown option maxsize/,
    )
  })

  it('that put the log into the project are refused', () => {
    const { projectDir } = workplace()
    expect(() => new FileAuditLog({ projectDir, dataDir: join(projectDir, 'x') })).toThrow(
      /lies in the project .* set CARABINER_HOME/,
    )
  })

  it('fsync changes nothing that can be seen', () => {
    const { log, folder } = workplace({ fsync: true, maxSegmentBytes: 300 })
    for (let i = 0; i < 5; i++) log.append([entry(`${i}`)])
    expect(storyOf(folder)).toEqual(['0', '1', '2', '3', '4'])
    expect(verify(folder).ok).toBe(true)
  })
})

describe('files', () => {
  it("are this user's alone, and outside the project", () => {
    const { log, folder, dataDir } = workplace()
    log.append([entry('a')])
    expect(folder.startsWith(join(dataDir, 'audit'))).toBe(true)
    expect(statSync(folder).mode & 0o777).toBe(0o700)
    expect(readdirSync(folder).sort()).toEqual([
      '00000001.jsonl',
      'head.json',
      expect.stringMatching(/^owner\./),
    ])
    for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600)
  })

  it('nothing is written for nothing', () => {
    const { log, dataDir } = workplace()
    log.append([])
    expect(() => statSync(dataDir)).toThrow(/ENOENT/)
  })

  it('a head of one size says where the log ends', () => {
    const { log, folder } = workplace()
    const heads = times(3, (i) => {
      log.append(times(5, (j) => entry(`${i}-${j}`)))
      return readFileSync(join(folder, 'head.json'), 'utf8')
    })
    expect(new Set(heads.map((head) => head.length)).size).toBe(1)
    const { size } = statSync(join(folder, '00000001.jsonl'))
    expect(JSON.parse(heads[2] as string)).toEqual({
      format: 1,
      seq: 15,
      hash: verify(folder).last?.hash,
      segment: 1,
      size,
      witness: true,
    })
  })
})

describe('rotation', () => {
  it('continues number and hash in the next file', () => {
    const { log, folder } = workplace({ maxSegmentBytes: 1000 })
    for (let i = 0; i < 20; i++) log.append([entry(`${i}`)])
    const files = readdirSync(folder).filter((name) => name.endsWith('.jsonl'))
    expect(files.length).toBeGreaterThan(3)
    for (const file of files) expect(statSync(join(folder, file)).size).toBeLessThanOrEqual(1000)
    expect(storyOf(folder)).toEqual(times(20, String))
    expect(verify(folder)).toMatchObject({ ok: true, records: 20, first: { seq: 1 } })
  })

  it('a batch is never divided', () => {
    const { log, folder } = workplace({ maxSegmentBytes: 1000 })
    log.append(times(20, (i) => entry(`${i}`)))
    log.append([entry('next')])
    expect(linesIn(folder, 1)).toHaveLength(20)
    expect(linesIn(folder, 2)).toHaveLength(1)
  })

  it('an empty file that stands where the next would is used, and told', () => {
    const { log, folder, dataDir, projectDir } = workplace({ maxSegmentBytes: 1000 })
    log.append([entry('a')])
    appendBytes(folder, '', 2)
    new FileAuditLog({ dataDir, projectDir }).append([entry('b')])
    expect(storyOf(folder)).toEqual(['a', 'recovered', 'b'])
    expect(linesIn(folder, 2)).toHaveLength(2)
    expect(verify(folder)).toMatchObject({ ok: false, problems: [{ what: expect.stringMatching(/added/) }] })
  })
})

describe('retention', () => {
  it('removes the oldest files, and says so where the log goes on', () => {
    const { log, folder } = workplace({ maxSegmentBytes: 1000, maxBytes: 4000 })
    for (let i = 0; i < 60; i++) log.append([entry(`${i}`)])
    const sizes = readdirSync(folder)
      .filter((name) => name.endsWith('.jsonl'))
      .map((name) => statSync(join(folder, name)).size)
    expect(sizes.reduce((a, b) => a + b)).toBeLessThan(5000)
    const { ok, first, notes } = verify(folder)
    expect({ ok, notes: notes.length > 0 }).toEqual({ ok: true, notes: true })
    expect(first?.seq).toBeGreaterThan(20)
    const pruned = entriesOf(folder).findLast((one) => one.kind === 'pruned')
    expect(pruned).toMatchObject({ last: (first?.seq ?? 0) - 1 })
  })

  it('a file that was removed otherwise is missed', () => {
    const { log, folder } = workplace({ maxSegmentBytes: 1000, maxBytes: 4000 })
    for (let i = 0; i < 60; i++) log.append([entry(`${i}`)])
    const [oldest = ''] = readdirSync(folder).sort()
    rmSync(join(folder, oldest))
    expect(verify(folder).problems[0]).toMatchObject({ seq: 1, what: expect.stringMatching(/missing/) })
  })

  it('that was interrupted is ended with the next file', () => {
    const { log, folder } = workplace({ maxSegmentBytes: 1000, maxBytes: 4000 })
    for (let i = 0; i < 10; i++) log.append([entry(`${i}`)])
    const oldest = readFileSync(join(folder, '00000001.jsonl'))
    let kept = 1
    for (let i = 10; kept > 0; i++) {
      log.append([entry(`${i}`)])
      kept = readdirSync(folder).filter((name) => name === '00000001.jsonl').length
    }
    appendBytes(folder, oldest.toString())
    expect(verify(folder).ok).toBe(true)
    for (let i = 0; i < 10; i++) log.append([entry(`more ${i}`)])
    expect(readdirSync(folder)).not.toContain('00000001.jsonl')
    expect(verify(folder).ok).toBe(true)
  })
})

describe('a line without an end', () => {
  it('is moved aside by the next who writes, and told', () => {
    const { log, folder } = workplace()
    log.append([entry('a')])
    appendBytes(folder, '{"seq":2,"prev":"00')
    log.append([entry('b')])
    expect(storyOf(folder)).toEqual(['a', 'recovered', 'b'])
    const torn = readFileSync(join(folder, 'torn.1'))
    expect(torn.toString()).toBe('{"seq":2,"prev":"00')
    expect(entriesOf(folder)[1]).toMatchObject({
      bytes: 19,
      digest: digestOf('sha256', torn),
      file: 'torn.1',
    })
    expect(verify(folder)).toMatchObject({ ok: true, notes: [expect.stringMatching(/19 bytes .* torn.1/)] })
    appendBytes(folder, 'more')
    log.append([entry('c')])
    expect(readFileSync(join(folder, 'torn.2'), 'utf8')).toBe('more')
    expect(storyOf(folder)).toEqual(['a', 'recovered', 'b', 'recovered', 'c'])
  })

  it('may be the first', () => {
    const { log, folder } = workplace()
    log.append([entry('a')])
    rmSync(folder, { recursive: true })
    mkdirSync(folder, { mode: 0o700 })
    appendBytes(folder, '{"seq":1')
    log.append([entry('b')])
    expect(storyOf(folder)).toEqual(['recovered', 'recovered', 'b'])
    // A segment without a head is not what a writer leaves.
    expect(verify(folder).problems).toMatchObject([
      { seq: 1, what: expect.stringMatching(/record 1 is missing/) },
      { seq: 2, what: expect.stringMatching(/head.json was lost/) },
    ])
  })

  it('does not hide that acknowledged records are gone', () => {
    const { log, folder } = workplace()
    log.append(times(5, (i) => entry(`${i}`)))
    const lines = linesIn(folder)
    writeLines(folder, lines.slice(0, 3))
    appendBytes(folder, lines[3]?.slice(0, 50) ?? '')
    expect(verify(folder).problems[0]).toMatchObject({ seq: 4 })
    log.append([entry('next')])
    expect(entriesOf(folder).map(({ seq }) => seq)).toEqual([1, 2, 3, 6, 7])
    expect(verify(folder)).toMatchObject({ ok: false, problems: [{ seq: 4 }] })
  })
})

describe('what somebody did to the end stays visible when the log goes on', () => {
  const changes: Record<string, (folder: string, lines: string[]) => void> = {
    'the last record was removed': (folder, lines) => writeLines(folder, lines.slice(0, -1)),
    'the last record was replaced': (folder, lines) =>
      writeLines(folder, [...lines.slice(0, -1), sealed(lines[4]?.replace('"4"', '"x"') ?? '')]),
    'all was removed': (folder) => rmSync(join(folder, '00000001.jsonl')),
    'all was emptied': (folder) => writeLines(folder, []),
    'the head was removed': (folder) => rmSync(join(folder, 'head.json')),
    'the head was emptied': (folder) => writeFileSync(join(folder, 'head.json'), ''),
    'the head was made too long': (folder) => writeFileSync(join(folder, 'head.json'), '{'.repeat(2000)),
  }
  it.for(Object.entries(changes))('%s', ([, change]) => {
    const { log, folder, dataDir, projectDir } = workplace()
    log.append(times(5, (i) => entry(`${i}`)))
    change(folder, linesIn(folder))
    expect(verify(folder).ok).toBe(false)
    const other = new FileAuditLog({ dataDir, projectDir })
    other.append([entry('next')])
    other.append([entry('and one more')])
    expect(storyOf(folder)).toContain('next')
    expect(verify(folder).ok).toBe(false)
  })
})
