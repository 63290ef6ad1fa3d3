// Who may write: the dead hold nothing, the stopped keep what they have, and nobody waits for ever.

import { spawn } from 'node:child_process'
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { isDead, Mutex, ownerOf, ownSelf } from '../../src/files/mutex.js'
import { FileAuditLog } from '../../src/store/audit/file-audit.js'
import { verify } from '../../src/store/audit/verify.js'
import { entriesOf, entry, storyOf, withWorkers, worker, workplace } from '../store/audit/workplace.js'

withWorkers()

const me = ownSelf()
const OTHER = 'f'.repeat(16)
const owned = (by: Partial<typeof me>) => {
  const { pid, start, place, id } = { ...me, id: OTHER, ...by }
  return `${pid}.${start}.${place}.${id}`
}
/** Larger than any that the system gives. */
const NOBODY = 4_194_305

const statOf = (pid: number) => readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []
/** A process that lives as long as the test. */
const LIVING = { pid: process.ppid, start: me.start === '0' ? '0' : (statOf(process.ppid)[19] as string) }

function place() {
  const made = workplace({ lockTimeoutMs: 50 })
  made.log.append([entry('first')])
  const lock = join(made.folder, 'lock')
  return { ...made, lock, left: () => readdirSync(made.folder).filter((name) => name.startsWith('lock')) }
}

/** The clock goes on; what is on the disk does not get older by it. */
function later(seconds: number): void {
  const now = Date.now()
  const clock = vi.spyOn(Date, 'now').mockReturnValue(now + seconds * 1000)
  onTestFinished(() => clock.mockRestore())
}

describe('a lock', () => {
  it('of a dead process is removed', () => {
    const { log, folder, lock, left } = place()
    writeFileSync(lock, owned({ pid: NOBODY }))
    log.append([entry('second')])
    expect(storyOf(folder)).toEqual(['first', 'second'])
    expect(left()).toEqual([])
  })

  it.runIf(me.start !== '0')('of a process whose number was given again is removed', () => {
    const { log, lock, left } = place()
    writeFileSync(lock, owned({ start: `${Number(me.start) + 1}` }))
    log.append([entry('second')])
    expect(left()).toEqual([])
  })

  it.runIf(me.start !== '0')('of a process that was killed but not collected yet is removed', async () => {
    const { log, lock, left } = place()
    // It stops before its child may end, which so stays behind, dead.
    const shell = spawn('/bin/sh', ['-c', 'read go <&3 & echo $!; kill -STOP $$'], {
      stdio: ['ignore', 'pipe', 'ignore', 'pipe'],
    })
    onTestFinished(() => void shell.kill('SIGKILL'))
    const pid = Number(await new Promise((resolve) => shell.stdout?.once('data', resolve)))
    await expect.poll(() => statOf(shell.pid ?? 0)[0]).toBe('T')
    shell.stdio[3]?.destroy()
    await expect.poll(() => statOf(pid)[0]).toBe('Z')
    writeFileSync(lock, owned({ pid, start: statOf(pid)[19] as string }))
    log.append([entry('second')])
    expect(left()).toEqual([])
  })

  it('of a living process stays, and the loss is told by the next who can write', () => {
    const { log, folder, lock } = place()
    writeFileSync(lock, owned(LIVING))
    expect(() => log.append([entry('lost'), entry('lost, too')])).toThrow(
      new RegExp(
        `process ${process.ppid} holds .*lock, and did not release it within 50 ms; let .* or end it`,
      ),
    )
    expect(() => log.append([entry('lost as well')])).toThrow(/holds/)
    expect(readFileSync(lock, 'utf8')).toContain(OTHER)
    // Also before anybody could write it down.
    expect(verify(folder).notes).toEqual([expect.stringMatching(/^3 records could not be written/)])
    unlinkSync(lock)
    log.append([entry('second')])
    expect(storyOf(folder)).toEqual(['first', 'gap', 'second'])
    expect(entriesOf(folder)[1]).toMatchObject({ kind: 'gap', records: 3, why: 'ETIMEDOUT' })
    expect(verify(folder)).toMatchObject({ ok: true, notes: [expect.stringMatching(/3 records could not/)] })
  })

  it('of another machine or container is removed when it is old', () => {
    const { log, lock, left } = place()
    writeFileSync(lock, owned({ place: '00000000' }))
    expect(() => log.append([entry('lost')])).toThrow(/holds/)
    later(61)
    log.append([entry('second')])
    expect(left()).toEqual([])
  })

  it('of a system that tells no start is removed when it is much older than any', () => {
    const { lock } = place()
    const owner = ownerOf(owned({ start: '0', pid: process.pid }))
    if (!owner) throw new Error('no owner')
    writeFileSync(lock, owner.text)
    expect(isDead(owner, lock)).toBe(false)
    later(601)
    expect(isDead(owner, lock)).toBe(true)
  })

  it('is as old as the lock is, not as its process', () => {
    const { folder, lock } = place()
    const owner = ownerOf(owned({ place: '00000000' }))
    if (!owner) throw new Error('no owner')
    const file = join(folder, 'owner.0000000000000001')
    writeFileSync(file, owner.text)
    utimesSync(file, 0, Date.now() / 1000 - 3600)
    linkSync(file, lock)
    expect(isDead(owner, lock)).toBe(false)
  })

  it('is taken by this process again where it could not remove it', () => {
    const { log, folder, lock, left } = place()
    writeFileSync(lock, me.text)
    log.append([entry('second')])
    expect(storyOf(folder)).toEqual(['first', 'second'])
    expect(left()).toEqual([])
  })
})

it('a lock that a power cut left without its owner is removed when it is old', () => {
  const { log, lock, left } = place()
  writeFileSync(lock, '')
  expect(() => log.append([entry('lost')])).toThrow(/holds/)
  later(61)
  log.append([entry('second')])
  expect(left()).toEqual([])
})

describe('the file of a process', () => {
  it('is removed when the process was killed, by the next one', () => {
    const { folder, dataDir, projectDir } = place()
    const [gone, living] = [join(folder, `owner.${OTHER}`), join(folder, `owner.${'e'.repeat(16)}`)]
    writeFileSync(gone, owned({ pid: NOBODY }))
    writeFileSync(living, owned(LIVING))
    new FileAuditLog({ dataDir, projectDir }).append([entry('second')])
    expect([existsSync(gone), existsSync(living)]).toEqual([false, true])
  })

  it('is made again when somebody took it away', () => {
    const { log, folder } = place()
    unlinkSync(join(folder, `owner.${me.id}`))
    log.append([entry('second')])
    expect(storyOf(folder)).toEqual(['first', 'second'])
    expect(existsSync(join(folder, `owner.${me.id}`))).toBe(true)
  })

  it('goes when the process ends', async () => {
    const made = workplace()
    await worker('write', made, { count: 10 }).ended
    expect(readdirSync(made.folder).sort()).toEqual(['00000001.jsonl', 'head.json'])
  })
})

describe('a guard', () => {
  it('of a dead process is removed with the lock it was for', () => {
    const { log, folder, lock, left } = place()
    writeFileSync(lock, owned({ pid: NOBODY }))
    writeFileSync(`${lock}.${OTHER}`, owned({ pid: NOBODY, id: 'a'.repeat(16) }))
    writeFileSync(`${lock}.${'a'.repeat(16)}`, owned({ pid: NOBODY, id: 'b'.repeat(16) }))
    log.append([entry('second')])
    expect(storyOf(folder)).toEqual(['first', 'second'])
    expect(left()).toEqual([])
  })

  it('of a living process keeps others from the lock of the dead', () => {
    const { folder, lock } = place()
    writeFileSync(lock, owned({ pid: NOBODY }))
    writeFileSync(`${lock}.${OTHER}`, owned(LIVING))
    expect(new Mutex(folder).tryTake()).toBe(false)
    expect(readFileSync(lock, 'utf8')).toContain(OTHER)
  })

  it('that was left is removed by who finds the log changed', () => {
    const { folder, lock, left, dataDir, projectDir } = place()
    writeFileSync(`${lock}.${'a'.repeat(16)}`, owned({ pid: NOBODY }))
    const other = new FileAuditLog({ dataDir, projectDir })
    other.append([entry('second')])
    expect(left()).toEqual([])
    expect(verify(folder).ok).toBe(true)
  })
})

describe('what is no lock', () => {
  const forged: Record<string, (lock: string) => void> = {
    'a file': (lock) => writeFileSync(lock, 'mine'),
    'a large file': (lock) => writeFileSync(lock, 'x'.repeat(10_000)),
    'a file with a path in it': (lock) => writeFileSync(lock, owned({ id: '../../../../' })),
    'a file with a process that cannot be': (lock) => writeFileSync(lock, owned({ pid: -1 })),
    'a folder': (lock) => mkdirSync(lock),
    'a link to something': (lock) => symlinkSync('/etc/passwd', lock),
  }
  it.for(Object.entries(forged))('%s: is left alone and told', ([, forge]) => {
    const { log, folder, lock } = place()
    forge(lock)
    expect(() => log.append([entry('lost')])).toThrow(
      /lock is not a lock.*; remove it when no agent is running/,
    )
    expect(existsSync(lock)).toBe(true)
    expect(storyOf(folder)).toEqual(['first'])
  })
})

describe('a process that is stopped while it holds the lock', () => {
  it('keeps it; when it is ended, the log goes on', async () => {
    const { log, folder, ...rest } = place()
    const holder = worker('hold', { log, folder, ...rest })
    onTestFinished(() => void holder.child.kill('SIGKILL'))
    await holder.lines(1)
    holder.child.kill('SIGSTOP')
    expect(() => log.append([entry('lost')])).toThrow(new RegExp(`process ${holder.child.pid} holds`))
    holder.child.kill('SIGKILL')
    await holder.ended
    log.append([entry('last')])
    expect(storyOf(folder).slice(-2)).toEqual(['gap', 'last'])
    expect(verify(folder).ok).toBe(true)
  })

  it('loses nothing when it goes on', async () => {
    const made = workplace({ lockTimeoutMs: 60_000 })
    const options = { batch: 10, count: 3000, lockTimeoutMs: 60_000 }
    const [stopped, other] = [worker('write', made, options), worker('write', made, options)]
    for (let i = 1; i < 20; i++) {
      await stopped.lines(i * 10)
      stopped.child.kill('SIGSTOP')
      await Promise.race([other.lines(other.printed().length + 5), new Promise((r) => setTimeout(r, 30))])
      stopped.child.kill('SIGCONT')
    }
    expect([(await stopped.ended).code, (await other.ended).code]).toEqual([0, 0])
    expect(verify(made.folder)).toMatchObject({ ok: true, records: 6000, notes: [] })
  })
})
