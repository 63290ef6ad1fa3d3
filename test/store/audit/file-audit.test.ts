// The log beside the work: queued, in batches, each record told whether it is written.

import { readFileSync, rmSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ownSelf } from '../../../src/files/mutex.js'
import { createHooks, deny } from '../../../src/index.js'
import { FileAuditLog, type FileAuditOptions, fileAudit } from '../../../src/store/audit/file-audit.js'
import { verify } from '../../../src/store/audit/verify.js'
import { isLarge } from '../../property/runs.js'
import { entriesOf, entry, storyOf, times, workplace } from './workplace.js'

function place(options: Partial<FileAuditOptions> = {}) {
  const made = workplace()
  const { dataDir, projectDir } = made
  return { ...made, audit: fileAudit({ dataDir, projectDir, ...options }) }
}

const record = (name: string) => entry(name) as never

/** A lock of a process that lives: the one that runs the tests. */
function livingLock(folder: string): string {
  const { start, place: where } = ownSelf()
  const stat =
    start === '0'
      ? []
      : (readFileSync(`/proc/${process.ppid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [])
  const path = join(folder, 'lock')
  writeFileSync(path, `${process.ppid}.${stat[19] ?? '0'}.${where}.${'f'.repeat(16)}`)
  return path
}

describe('records', () => {
  it('of one turn of the loop are one batch, in their order', async () => {
    const { audit, folder } = place({ maxSegmentBytes: 1000 })
    const all = times(50, (i) => audit(record(`${i}`)))
    expect(() => readFileSync(join(folder, 'head.json'))).toThrow(/ENOENT/)
    await Promise.all(all)
    // A batch is never divided: all are in one file, though it is larger than files should be.
    expect(readFileSync(join(folder, '00000001.jsonl'), 'utf8').trimEnd().split('\n')).toHaveLength(50)
    expect(storyOf(folder)).toEqual(times(50, String))
    expect(verify(folder)).toMatchObject({ ok: true, records: 50 })
  })

  it('are there when they are acknowledged', async () => {
    const { audit, folder } = place()
    for (let i = 0; i < 5; i++) {
      await audit(record(`${i}`))
      expect(storyOf(folder)).toHaveLength(i + 1)
    }
  })

  it('and other entries keep their order', async () => {
    const { audit, folder } = place({ fsync: true })
    void audit(record('a'))
    void audit.write({ ...entry('b'), kind: 'grant' })
    void audit(record('c'))
    await audit.flush()
    expect(storyOf(folder)).toEqual(['a', 'b', 'c'])
  })

  it('that come while others are written are written, too, before flush settles', async () => {
    const { audit, folder } = place()
    const later = audit(record('0')).then(() => audit(record('1')))
    await audit.flush()
    await later
    for (let i = 2; i < 3000; i++) void audit(record(`${i}`))
    await audit.flush()
    expect(storyOf(folder)).toEqual(times(3000, String))
  })

  it('one that is none is lost alone', async () => {
    const { audit, folder } = place()
    const all = [audit(record('a')), audit(null as never), audit(record('b'))]
    expect((await Promise.allSettled(all)).map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
    ])
    await audit(record('c'))
    expect(storyOf(folder).filter((name) => name !== 'gap')).toEqual(['a', 'b', 'c'])
    expect(storyOf(folder).filter((name) => name === 'gap')).toHaveLength(1)
  })
})

describe('a log that cannot be written', () => {
  it('rejects what is lost, and says so when it can be written again', async () => {
    const { audit, folder, dataDir } = place()
    writeFileSync(dataDir, '')
    const all = await Promise.allSettled(times(3, (i) => audit(record(`${i}`))))
    for (const one of all) {
      expect(one).toMatchObject({
        status: 'rejected',
        reason: { message: expect.stringMatching(/cannot be written: ENOTDIR/) },
      })
    }
    rmSync(dataDir)
    await audit(record('after'))
    expect(storyOf(folder)).toEqual(['gap', 'after'])
    expect(entriesOf(folder)[0]).toMatchObject({ records: 3, why: 'ENOTDIR' })
  })

  it('because another holds the lock: not for ever', async () => {
    const { audit, folder } = place({ lockTimeoutMs: 100 })
    await audit(record('first'))
    const lock = livingLock(folder)
    await expect(audit(record('lost'))).rejects.toThrow(/holds .*lock, and did not release it within 100 ms/)
    unlinkSync(lock)
    await audit(record('second'))
    expect(storyOf(folder)).toEqual(['first', 'gap', 'second'])
  })

  it('while the lock is held keeps nobody waiting: what comes meanwhile is written after', async () => {
    const { audit, folder } = place()
    await audit(record('first'))
    const lock = livingLock(folder)
    const all = times(10, (i) => audit(record(`${i}`)))
    // Nobody would let go of it if the loop stood still.
    setTimeout(() => unlinkSync(lock), 20)
    await Promise.all(all)
    expect(storyOf(folder)).toEqual(['first', ...times(10, String)])
  })

  it.runIf(isLarge)(
    'does not fill the memory: more than it can keep are lost, and told of once',
    async () => {
      const { audit, folder } = place()
      const all = await Promise.allSettled(times(100_003, () => audit(record('x'))))
      expect(all.filter(({ status }) => status === 'rejected')).toHaveLength(3)
      await audit(record('last'))
      const gaps = entriesOf(folder).filter(({ kind }) => kind === 'gap')
      expect(gaps).toMatchObject([{ records: 3 }])
      expect(verify(folder)).toMatchObject({ ok: true, records: 100_002 })
    },
  )

  it('is a diagnostic of the session, and the answer is the same', async () => {
    const { audit, projectDir, dataDir } = place()
    writeFileSync(dataDir, '')
    const hooks = await createHooks({ audit, globals: false })
    hooks.register('PreToolUse', () => deny('no'))
    const session = hooks.session({ cwd: projectDir })
    const outcome = await session.fire('PreToolUse', { tool_name: 'Bash', tool_input: { command: 'ls' } })
    await hooks.close()
    expect(outcome).toMatchObject({ action: 'deny', reason: 'no' })
    expect(hooks.diagnostics.map(({ text }) => text)).toContainEqual(
      expect.stringMatching(/audit log in .* cannot be written/),
    )
  })
})

it('is written by a real session, one record for each event', async () => {
  const { audit, folder, projectDir } = place()
  const hooks = await createHooks({ audit, globals: false })
  hooks.register('PreToolUse', () => deny('not today'), { name: 'guard' })
  const session = hooks.session({ cwd: projectDir })
  for (let i = 0; i < 3; i++)
    await session.fire('PreToolUse', { tool_name: 'Bash', tool_input: { command: `ls ${i}` } })
  await hooks.close()
  await audit[Symbol.asyncDispose]()
  const fires = entriesOf(folder).filter((one) => 'event' in one && one.event === 'PreToolUse')
  expect(fires).toHaveLength(3)
  expect(fires[0]).toMatchObject({
    kind: 'fire',
    tool: 'Bash',
    action: 'deny',
    reason: 'not today',
    hooks: [{ name: 'guard', status: 'ran', action: 'deny' }],
  })
  expect(verify(folder).ok).toBe(true)
})

it('two in one process write to one log', async () => {
  const { audit, folder, dataDir, projectDir, log } = place()
  const other = fileAudit({ dataDir, projectDir })
  const third = new FileAuditLog({ dataDir, projectDir })
  for (let i = 0; i < 20; i++) {
    await Promise.all([audit(record('a')), other(record('b'))])
    log.append([entry('c')])
    third.append([entry('d')])
  }
  expect(verify(folder)).toMatchObject({ ok: true, records: 80 })
})
