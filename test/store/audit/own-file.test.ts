// A writer keeps its files open between records. Whatever happens to them in between, no record goes where nobody reads it.

import { copyFileSync, cpSync, readdirSync, readlinkSync, renameSync, rmSync, truncateSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { FileAuditLog, fileAudit } from '../../../src/store/audit/file-audit.js'
import { verify } from '../../../src/store/audit/verify.js'
import { witnessPath } from '../../../src/store/audit/witness.js'
import { entry, storyOf, times, type Workplace, workplace } from './workplace.js'

/** A log of two records, whose writer has all its files open. */
function begun(): Workplace {
  const place = workplace()
  place.log.append([entry('first')])
  place.log.append([entry('second')])
  return place
}

function swapForCopy(path: string): void {
  copyFileSync(path, `${path}.copy`)
  renameSync(`${path}.copy`, path)
}

const openFilesBelow = (folder: string) =>
  readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).startsWith(folder)
    } catch {
      return false // the folder of this list, which is closed by now
    }
  }).length

/** What happens between two records, what the log then says, and whether it is whole: a head that was gone proves nothing. */
const BETWEEN: Readonly<Record<string, readonly [(place: Workplace) => void, readonly string[], boolean?]>> =
  {
    nothing: [() => {}, []],
    'the segment is swapped for a copy': [({ folder }) => swapForCopy(join(folder, '00000001.jsonl')), []],
    'the head is swapped for a copy': [({ folder }) => swapForCopy(join(folder, 'head.json')), []],
    'the witness is swapped for a copy': [({ folder }) => swapForCopy(witnessPath(folder)), []],
    'the head is emptied': [({ folder }) => truncateSync(join(folder, 'head.json')), ['recovered'], false],
    'the head is removed': [({ folder }) => rmSync(join(folder, 'head.json')), ['recovered'], false],
    'the witness is removed': [({ folder }) => rmSync(witnessPath(folder)), ['recovered']],
    'the witness is emptied': [({ folder }) => truncateSync(witnessPath(folder)), ['recovered']],
    'another writer writes': [
      ({ dataDir, projectDir }) => {
        const other = new FileAuditLog({ dataDir, projectDir })
        other.append([entry('other')])
        other.close()
      },
      ['other'],
    ],
    'it is closed': [({ log }) => log.close(), []],
  }

describe('between two records', () => {
  it.for(Object.entries(BETWEEN))('%s', ([, [change, said, ok = true]]) => {
    const place = begun()
    const { log, folder } = place
    change(place)
    log.append([entry('third')])
    log.append([entry('fourth')])
    expect(storyOf(folder)).toEqual(['first', 'second', ...said, 'third', 'fourth'])
    expect(verify(folder)).toMatchObject({ ok, records: 4 + said.length })
  })

  it('the folder is swapped for a copy: one record is lost, which the log says, and it goes on', () => {
    const { log, folder } = begun()
    const copy = join(dirname(folder), 'copy')
    cpSync(folder, copy, { recursive: true, preserveTimestamps: true })
    rmSync(folder, { recursive: true })
    renameSync(copy, folder)
    expect(() => log.append([entry('lost')])).toThrow(/another one took its mutex/)
    log.append([entry('third')])
    expect(storyOf(folder)).toEqual(['first', 'second', 'gap', 'third'])
    expect(verify(folder).ok).toBe(true)
  })
})

describe.runIf(process.platform === 'linux')('open files', () => {
  it('are few, however many logs are written', () => {
    const { root } = workplace()
    const logs = times(40, (i) => {
      const place = { dataDir: join(root, `data-${i}`), projectDir: join(root, `project-${i}`) }
      return new FileAuditLog(place)
    })
    for (const name of ['first', 'second', 'third']) for (const log of logs) log.append([entry(name)])
    expect(openFilesBelow(root)).toBe(16 * 3)
    for (const log of logs) expect(storyOf(log.place)).toEqual(['first', 'second', 'third'])
    for (const log of logs) log.close()
    expect(openFilesBelow(root)).toBe(0)
  })

  it('are closed with the sink', async () => {
    const { root, dataDir, projectDir } = workplace()
    const sink = fileAudit({ dataDir, projectDir })
    await sink.write(entry('first'))
    await sink.write(entry('second'))
    expect(openFilesBelow(root)).toBe(3)
    await sink[Symbol.asyncDispose]()
    expect(openFilesBelow(root)).toBe(0)
  })
})
