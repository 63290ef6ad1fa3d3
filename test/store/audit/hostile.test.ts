// Disks that are full, folders that cannot be written to, and files that somebody else put there.

import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { FileAuditLog } from '../../../src/store/audit/file-audit.js'
import { verify } from '../../../src/store/audit/verify.js'
import {
  entriesOf,
  entry,
  storyOf,
  times,
  type Workplace,
  withWorkers,
  worker,
  workplace,
  workplaceIn,
} from './workplace.js'

withWorkers()

const isRoot = process.getuid?.() === 0

/** A disk of so many kilobytes, if this user may make one. */
function smallDisk(kilobytes: number): Workplace | undefined {
  const { root } = workplace()
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${kilobytes}k`, 'none', root], { stdio: 'ignore' })
  } catch {
    return undefined
  }
  onTestFinished(() => void execFileSync('umount', [root]))
  return workplaceIn(root)
}

describe('a full disk', () => {
  it('takes whole batches or nothing, and the log says what is missing', ({ skip }) => {
    const place = smallDisk(128)
    if (!place) return skip('no small disk can be mounted here')
    const { log, root, folder } = place
    const big = times(40, (i) => entry(`${i}`, { filler: 'x'.repeat(1000) }))
    log.append(big)
    log.append(big)
    writeFileSync(join(root, 'other'), 'x'.repeat(16_000))
    expect(() => log.append(big)).toThrow(/cannot be written: ENOSPC.*free some space, or set CARABINER_HOME/)
    expect(() => log.append(big)).toThrow(/ENOSPC/)
    expect(verify(folder)).toMatchObject({ ok: true, records: 80 })
    expect(verify(folder).torn).toBeUndefined()
    rmSync(join(root, 'other'))
    // Another process says it: this one could have ended.
    const { dataDir, projectDir } = place
    const other = new FileAuditLog({ dataDir, projectDir })
    other.append([entry('after')])
    other.close()
    expect(storyOf(folder).slice(80)).toEqual(['gap', 'after'])
    expect(entriesOf(folder)[80]).toMatchObject({ records: 80, why: 'ENOSPC', since: expect.any(String) })
    log.append([entry('and on')])
    expect(storyOf(folder).slice(80)).toEqual(['gap', 'after', 'and on'])
    expect(verify(folder).ok).toBe(true)
  })

  it('by a limit on the size of files: the same', async () => {
    const place = workplace()
    const one = worker('tryWrite', place, { batch: 10, count: 50, size: 200 }, 'ulimit -f 16')
    await one.ended
    expect(one.printed()[0]).toBe('ok 0')
    expect(one.printed().at(-1)).toMatch(/EFBIG.*free some space/)
    const written = one.printed().filter((line) => line.startsWith('ok')).length
    expect(verify(place.folder)).toMatchObject({ ok: true, records: 10 * written })
    place.log.append([entry('after')])
    expect(entriesOf(place.folder).at(-2)).toMatchObject({
      kind: 'gap',
      records: 50 - 10 * written,
      why: 'EFBIG',
    })
    const left = readdirSync(place.folder).sort()
    expect(left).toEqual(['00000001.jsonl', 'head.json', expect.stringMatching(/^owner\./)])
  })
})

/** What somebody does to a log of one record, and what the next who writes is told. */
const REFUSED: Readonly<Record<string, readonly [(folder: string) => void, RegExp]>> = {
  'a file stands where the folder was': [
    (folder) => {
      rmSync(folder, { recursive: true })
      writeFileSync(folder, '')
    },
    /is not a folder; remove it/,
  ],
  'a file stands where a folder above was': [
    (folder) => {
      rmSync(dirname(folder), { recursive: true })
      writeFileSync(dirname(folder), '')
    },
    /ENOTDIR.*remove the file that is in the way of a folder/,
  ],
  'a link stands where the folder was': [
    (folder) => {
      renameSync(folder, `${folder}.moved`)
      symlinkSync(`${folder}.moved`, folder)
    },
    /is a link; remove it/,
  ],
  'the segment is a link': [
    (folder) => {
      renameSync(join(folder, '00000001.jsonl'), join(folder, 'moved'))
      symlinkSync('moved', join(folder, '00000001.jsonl'))
    },
    /00000001.jsonl.*link/,
  ],
  'the segment has a second name': [
    (folder) => linkSync(join(folder, '00000001.jsonl'), join(folder, 'second')),
    /00000001.jsonl is a link to another file/,
  ],
  'the segment is a pipe': [
    (folder) => {
      rmSync(join(folder, '00000001.jsonl'))
      execFileSync('mkfifo', [join(folder, '00000001.jsonl')])
    },
    /00000001.jsonl is not a regular file/,
  ],
  'the segment is a folder': [
    (folder) => {
      rmSync(join(folder, '00000001.jsonl'))
      mkdirSync(join(folder, '00000001.jsonl'))
    },
    /00000001.jsonl is not a regular file|EISDIR/,
  ],
  'the head is a link': [
    (folder) => {
      renameSync(join(folder, 'head.json'), join(folder, 'moved'))
      symlinkSync('moved', join(folder, 'head.json'))
    },
    /head.json.*remove the link/,
  ],
  'the head has a second name': [
    (folder) => linkSync(join(folder, 'head.json'), join(folder, 'second')),
    /head.json is a link to another file/,
  ],
  'others may write to the folder': [(folder) => chmodSync(folder, 0o777), /others may write to .*chmod/],
  'others may write to the segment': [
    (folder) => chmodSync(join(folder, '00000001.jsonl'), 0o666),
    /others may write to .*00000001.jsonl; chmod/,
  ],
}

describe('told in an Error that says what to do', () => {
  const writers = { 'who wrote before': false, 'another process': true }
  for (const [who, isNew] of Object.entries(writers)) {
    it.for(Object.entries(REFUSED))(`%s (${who})`, ([, [change, said]]) => {
      const { log, folder, dataDir, projectDir } = workplace()
      log.append([entry('first')])
      change(folder)
      const writer = isNew ? new FileAuditLog({ dataDir, projectDir }) : log
      expect(() => writer.append([entry('lost')])).toThrow(said)
    })
  }

  it.runIf(isRoot)("the folder is another user's", () => {
    const { log, folder } = workplace()
    log.append([entry('first')])
    chownSync(folder, 65534, 65534)
    expect(() => log.append([entry('lost')])).toThrow(
      /belongs to user 65534, not to the current user \(0\).*remove it, or set CARABINER_HOME/,
    )
  })

  it.runIf(isRoot)("the segment is another user's", () => {
    const { log, folder } = workplace()
    log.append([entry('first')])
    chownSync(join(folder, '00000001.jsonl'), 65534, 65534)
    expect(() => log.append([entry('lost')])).toThrow(/00000001.jsonl belongs to user 65534/)
  })

  it('the disk is read-only', ({ skip }) => {
    const place = smallDisk(256)
    if (!place) return skip('no disk can be mounted here')
    const { log, root, folder } = place
    log.append([entry('first')])
    // Files that are open for writing keep a disk writable.
    log.close()
    execFileSync('mount', ['-o', 'remount,ro', root])
    expect(() => log.append([entry('lost')])).toThrow(
      /EROFS.*let this user write there, or set CARABINER_HOME/,
    )
    execFileSync('mount', ['-o', 'remount,rw', root])
    log.append([entry('after')])
    // No note could be left: this process remembers.
    expect(storyOf(folder)).toEqual(['first', 'gap', 'after'])
  })

  it('the folder may not be written to', ({ skip }) => {
    if (isRoot) return skip('root may write everywhere')
    const { log, folder } = workplace()
    log.append([entry('first')])
    chmodSync(folder, 0o500)
    expect(() => log.append([entry('lost')])).toThrow(/EACCES.*let this user write there/)
    chmodSync(folder, 0o700)
  })
})

describe('a folder that was removed', () => {
  it('is made again, and the log goes on where it was', () => {
    const { log, folder } = workplace()
    log.append([entry('first')])
    rmSync(folder, { recursive: true })
    log.append([entry('second')])
    expect(storyOf(folder)).toEqual(['recovered', 'second'])
    expect(statSync(folder).mode & 0o777).toBe(0o700)
    expect(verify(folder).problems[0]?.what).toMatch(/record 1 is missing/)
  })
})

it('files of others in the folder are left alone', () => {
  const { log, folder } = workplace()
  log.append([entry('first')])
  const names = [
    'note.x',
    'note.0123456789abcdef',
    'torn.x',
    'lock.x',
    '1.jsonl',
    '00000000.jsonl',
    'x.jsonl',
  ]
  for (const name of names) writeFileSync(join(folder, name), 'mine')
  symlinkSync('gap.x', join(folder, 'note.1123456789abcdef'))
  symlinkSync('gap.1.9999999999999999.E', join(folder, 'note.2123456789abcdef'))
  log.append([entry('second')])
  expect(storyOf(folder)).toEqual(['first', 'second'])
  for (const name of names) expect(readFileSync(join(folder, name), 'utf8')).toBe('mine')
  const added = names.filter((name) => name.endsWith('.jsonl')).sort()
  expect(verify(folder).problems.map(({ file }) => file)).toEqual(added)
})
