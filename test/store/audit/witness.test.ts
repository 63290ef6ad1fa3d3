// The witness: a second note of a log's end, kept outside its folder, which outlives what is done to the folder.

import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { FileAuditLog, fileAudit } from '../../../src/store/audit/file-audit.js'
import { segmentPath } from '../../../src/store/audit/segments.js'
import { verify } from '../../../src/store/audit/verify.js'
import { witnessPath } from '../../../src/store/audit/witness.js'
import { isLarge } from '../../property/runs.js'
import {
  entry,
  linesIn,
  RECORDS,
  sealed,
  smallLog,
  storyOf,
  times,
  type Workplace,
  withWorkers,
  worker,
  workplace,
  writeLines,
} from './workplace.js'

withWorkers()

/** As the next process finds the log. */
function another({ dataDir, projectDir }: Workplace): FileAuditLog {
  return new FileAuditLog({ dataDir, projectDir })
}

const headPath = (folder: string) => join(folder, 'head.json')
const whats = (folder: string) => verify(folder).problems.map(({ what }) => what)

/** head.json as it was after the first four records. */
function halfWay(place: Workplace & { readonly lines: readonly string[] }) {
  const size = place.lines.slice(0, 4).reduce((sum, line) => sum + line.length + 1, 0)
  const hash = /"hash":"([0-9a-f]{64})"\}$/.exec(place.lines[3] ?? '')?.[1]
  const now = JSON.parse(readFileSync(headPath(place.folder), 'utf8'))
  return {
    size,
    setBack: () => writeFileSync(headPath(place.folder), JSON.stringify({ ...now, seq: 4, hash, size })),
  }
}

describe('a log that was removed', () => {
  it('U2: is missed, at once and after the next event', () => {
    const place = smallLog()
    rmSync(place.folder, { recursive: true })
    expect(place.log.isEmpty()).toBe(false)
    expect(whats(place.folder)).toEqual([expect.stringMatching(/the log was removed: .*8 records/)])
    another(place).append([entry('after')])
    expect(storyOf(place.folder)).toEqual(['recovered', 'after'])
    expect(verify(place.folder)).toMatchObject({ ok: false, first: { seq: 9 }, last: { seq: 10 } })
    expect(whats(place.folder)[0]).toMatch(/records 1 to 8 are missing/)
  })

  it('U2: is missed with all logs of the user', () => {
    const place = smallLog()
    rmSync(dirname(place.folder), { recursive: true })
    for (const name of ['b', 'c']) another(place).append([entry(name)])
    expect(whats(place.folder)[0]).toMatch(/records 1 to 8 are missing/)
  })

  it('U2: is missed by the process that was writing it', () => {
    const place = smallLog()
    rmSync(place.folder, { recursive: true })
    place.log.append([entry('after')])
    expect(verify(place.folder).ok).toBe(false)
  })

  it('is a new log once its witness was removed, too', () => {
    const place = smallLog()
    rmSync(place.folder, { recursive: true })
    rmSync(witnessPath(place.folder))
    expect(place.log.isEmpty()).toBe(true)
    another(place).append([entry('first')])
    expect(verify(place.folder)).toMatchObject({ ok: true, records: 1 })
  })
})

describe('a head that was set back', () => {
  it('U3: is found, at once and after the next event', () => {
    const place = smallLog()
    halfWay(place).setBack()
    expect(whats(place.folder)).toEqual([expect.stringMatching(/set back to record 4/)])
    another(place).append([entry('after')])
    expect(whats(place.folder)).toEqual([expect.stringMatching(/set back to record 4/)])
  })

  it('U3: is found where the log was cut to fit', () => {
    const place = smallLog()
    const { size, setBack } = halfWay(place)
    setBack()
    truncateSync(segmentPath(place.folder, 1), size)
    expect(whats(place.folder).join('\n')).toMatch(/records 5 to 8 are missing/)
    another(place).append([entry('after')])
    expect(whats(place.folder).join('\n')).toMatch(/records 5 to 9 are missing|records 5 to 8 are missing/)
  })

  it('U3: is found where the log was written anew, as long or longer', () => {
    const place = smallLog()
    const other = workplace()
    other.log.append(times(RECORDS + 3, (i) => entry(`forged ${i}`)))
    writeLines(place.folder, linesIn(other.folder))
    writeFileSync(headPath(place.folder), readFileSync(headPath(other.folder)))
    expect(whats(place.folder)[0]).toMatch(/record 8 has a different hash/)
    another(place).append([entry('after')])
    expect(verify(place.folder).ok).toBe(false)
  })
})

describe('files that were added', () => {
  it.for(['00000000.jsonl', '000000001.jsonl', '1.jsonl', 'copy.jsonl', '0000000000000001.jsonl'])(
    'U3: %s is found',
    (name) => {
      const place = smallLog()
      writeFileSync(join(place.folder, name), `${sealed(place.lines[0] ?? '')}\n`)
      expect(verify(place.folder).problems).toMatchObject([
        { file: name, what: expect.stringMatching(/added/) },
      ])
      another(place).append([entry('after')])
      expect(verify(place.folder).problems).toMatchObject([{ file: name }])
      expect(storyOf(place.folder)).toHaveLength(RECORDS + 1)
    },
  )

  it.for([2, 3, 99, 999_999_999_999_999])('U3: an empty file %i is found, now and later', (number) => {
    const place = smallLog()
    writeFileSync(segmentPath(place.folder, number), '', { mode: 0o600 })
    expect(verify(place.folder).ok).toBe(false)
    another(place).append([entry('after')])
    expect(verify(place.folder).ok).toBe(false)
    expect(storyOf(place.folder)).toContain('after')
  })

  it('U3: an empty file far ahead does not become the log', () => {
    const place = smallLog()
    writeFileSync(segmentPath(place.folder, 99), '', { mode: 0o600 })
    another(place).append([entry('after')])
    expect(linesIn(place.folder, 1)).toHaveLength(RECORDS + 1)
    expect(readFileSync(segmentPath(place.folder, 99), 'utf8')).toBe('')
  })
})

describe('the witness itself', () => {
  it('is a private file outside the log', () => {
    const { folder, dataDir } = smallLog()
    const path = witnessPath(folder)
    expect(path.startsWith(join(dataDir, 'state', 'audit'))).toBe(true)
    expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ format: 1, seq: RECORDS })
  })

  it('that was removed is a problem until the next event, and a note for good', () => {
    const place = smallLog()
    rmSync(witnessPath(place.folder))
    expect(whats(place.folder)).toEqual([expect.stringMatching(/witness is missing/)])
    place.log.append([entry('after')])
    const { ok, notes } = verify(place.folder)
    expect([ok, notes]).toEqual([true, [expect.stringMatching(/witness was missing/)]])
  })

  it('that cannot be read is a problem, and is made again', () => {
    const place = smallLog()
    writeFileSync(witnessPath(place.folder), 'no JSON')
    expect(whats(place.folder)).toEqual([expect.stringMatching(/witness cannot be used/)])
    another(place).append([entry('after')])
    expect(verify(place.folder)).toMatchObject({ ok: true, notes: [expect.stringMatching(/witness/)] })
  })

  it('that cannot be written keeps no record from being written', () => {
    const place = workplace()
    mkdirSync(join(place.dataDir, 'state'), { recursive: true })
    writeFileSync(join(place.dataDir, 'state', 'audit'), 'no folder')
    place.log.append([entry('a')])
    another(place).append([entry('b')])
    expect(storyOf(place.folder)).toEqual(['a', 'b'])
    expect(verify(place.folder)).toMatchObject({
      ok: true,
      notes: [expect.stringMatching(/witness .* cannot be written .*audit is not a folder/)],
      unwitnessed: expect.stringMatching(/if the newest records are cut off, that goes unnoticed/),
    })
  })

  it('that cannot be written is told by the sink, once', async () => {
    const { dataDir, projectDir } = workplace()
    mkdirSync(join(dataDir, 'state'), { recursive: true })
    writeFileSync(join(dataDir, 'state', 'audit'), 'no folder')
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
    await using audit = fileAudit({ dataDir, projectDir })
    for (const name of ['a', 'b']) await audit.write(entry(name))
    expect(warn.mock.calls).toEqual([
      [
        expect.stringMatching(/witness .* cannot be written .*audit is not a folder/),
        { code: 'AUDIT_UNWITNESSED' },
      ],
    ])
    warn.mockRestore()
  })

  it('is not written through a link', () => {
    const place = workplace()
    const elsewhere = join(place.root, 'elsewhere')
    for (const folder of [elsewhere, join(place.dataDir, 'state')]) mkdirSync(folder, { recursive: true })
    symlinkSync(elsewhere, join(place.dataDir, 'state', 'audit'))
    place.log.append([entry('a')])
    expect(readdirSync(elsewhere)).toEqual([])
    expect(verify(place.folder).unwitnessed).toMatch(/audit is a link/)
  })

  it('in a newer format is left alone', () => {
    const place = smallLog()
    const newer = readFileSync(witnessPath(place.folder), 'utf8').replace('"format":1', '"format":9')
    writeFileSync(witnessPath(place.folder), newer)
    expect(() => another(place).append([entry('after')])).toThrow(/newer/)
    expect(readFileSync(witnessPath(place.folder), 'utf8')).toBe(newer)
  })

  it.runIf(isLarge)('stays right while processes write and are killed', { timeout: 60_000 }, async () => {
    const place = workplace()
    for (let round = 0; round < 6; round++) {
      const writers = times(3, () => worker('write', place, { batch: 3, maxSegmentBytes: 4000, size: 200 }))
      await Promise.all(writers.map((one) => one.lines(4)))
      for (const { child } of writers) child.kill('SIGKILL')
      await Promise.all(writers.map((one) => one.ended))
      expect(verify(place.folder).problems).toEqual([])
    }
    another(place).append([entry('last')])
    expect(verify(place.folder).problems).toEqual([])
    expect(existsSync(witnessPath(place.folder))).toBe(true)
  })
})
