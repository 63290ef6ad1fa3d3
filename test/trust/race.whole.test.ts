// An attacker process swaps files and folders as fast as it can while the unit is trusted and run.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readFolder } from '../../src/trust/folder-reading.js'
import { isExecutable, type TrustRecord, type Unit } from '../../src/trust/unit.js'
import { later, type Project, project, trusted } from './hostile-project.js'

const SWAPS = 10_000
const OUTSIDE = 'SECRET OF THE USER'
const EVIL = 'echo EVIL'

/** There is always a file or a link to the outside, never nothing. */
const SWAPPER = `
import { linkSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
const [unit, outside] = process.argv.slice(2)
writeFileSync(outside + '/good', 'good')
for (let i = 0; ; i++) {
  if (i % 2) symlinkSync(outside + '/rules.sh', outside + '/next')
  else linkSync(outside + '/good', outside + '/next')
  renameSync(outside + '/next', unit + '/lib/rules.sh')
  if (i % 100 === 99) process.stdout.write('100\\n')
}
`

/** Undoes everything it does, so that the reviewed state returns all the time. */
const ATTACKER = `
import { copyFileSync, renameSync, symlinkSync, unlinkSync, writeFileSync, chmodSync, cpSync, readFileSync } from 'node:fs'
const [unit, outside] = process.argv.slice(2)
const RUNS = { mode: 0o755 }
const good = readFileSync(unit + '/lib/rules.sh')
cpSync(unit, unit + '.evil', { recursive: true })
writeFileSync(unit + '.evil/lib/rules.sh', '${EVIL}\\n')
const swaps = [
  () => { writeFileSync(unit + '/new', '${EVIL}', RUNS); renameSync(unit + '/new', unit + '/lib/rules.sh') },
  () => { writeFileSync(unit + '/new', good, RUNS); renameSync(unit + '/new', unit + '/lib/rules.sh') },
  () => { unlinkSync(unit + '/lib/rules.sh'); symlinkSync(outside + '/rules.sh', unit + '/lib/rules.sh') },
  () => { unlinkSync(unit + '/lib/rules.sh'); writeFileSync(unit + '/lib/rules.sh', good, RUNS) },
  () => { renameSync(unit + '/lib', unit + '/../lib.away'); symlinkSync(outside, unit + '/lib') },
  () => { unlinkSync(unit + '/lib'); renameSync(unit + '/../lib.away', unit + '/lib') },
  () => { renameSync(unit, unit + '.good'); renameSync(unit + '.evil', unit) },
  () => { renameSync(unit, unit + '.evil'); renameSync(unit + '.good', unit) },
  () => { renameSync(unit, unit + '.good'); symlinkSync(outside, unit) },
  () => { unlinkSync(unit); renameSync(unit + '.good', unit) },
  () => { writeFileSync(unit + '/lib/rules.sh', '${EVIL}\\n') },
  () => { writeFileSync(unit + '/lib/rules.sh', good) },
  () => { chmodSync(unit + '/check.sh', 0o644) },
  () => { chmodSync(unit + '/check.sh', 0o755) },
  () => { symlinkSync(outside + '/rules.sh', unit + '/lib/more') },
  () => { unlinkSync(unit + '/lib/more') },
]
const clock = new Int32Array(new SharedArrayBuffer(4))
for (let i = 0; ; i++) {
  swaps[i % swaps.length]()
  // Now and then everything is in order for a while, so that there is something to fall for.
  if (i % 64 === 63) Atomics.wait(clock, 0, 0, 5)
  if (i % 100 === 99) process.stdout.write('100\\n')
}
`

interface Attacker {
  /** The number of swaps so far. */
  readonly swaps: () => number
  readonly child: ChildProcess
}

async function attack({ root }: Project, unit: Unit, attacker = ATTACKER): Promise<Attacker> {
  const outside = join(root, 'outside')
  mkdirSync(outside)
  for (const name of ['rules.sh', 'data.txt', 'hooks.json', 'check.sh'])
    writeFileSync(join(outside, name), OUTSIDE)
  const program = join(root, 'attacker.mjs')
  writeFileSync(program, attacker)
  const child = spawn(process.execPath, [program, unit.path, outside], { stdio: ['ignore', 'pipe', 'pipe'] })
  let swaps = 0
  let said = ''
  child.stdout.on('data', (text: Buffer) => {
    swaps += 100 * text.toString().split('\n').length - 100
  })
  child.stderr.on('data', (text: Buffer) => {
    said += text
  })
  child.on('exit', (code) => {
    if (code !== null) throw new Error(`the attacker gave up: ${said}`)
  })
  onTestFinished(
    () =>
      new Promise<void>((resolve) => {
        child.on('close', () => resolve())
        child.kill('SIGKILL')
      }),
  )
  while (swaps === 0) await setImmediate()
  return { swaps: () => swaps, child }
}

/** Every file of the copy is what the record says, and there are no others. */
function expectExact(copy: string, record: TrustRecord): void {
  const found = readdirSync(copy, { recursive: true, withFileTypes: true }).filter(
    (entry) => !entry.isDirectory(),
  )
  expect(found.length).toBe(record.files.length)
  for (const file of record.files) {
    const path = join(copy, file.path)
    if (file.link !== undefined) {
      expect(readlinkSync(path)).toBe(file.link)
      continue
    }
    const stats = lstatSync(path)
    expect(stats.isFile()).toBe(true)
    expect(isExecutable(stats)).toBe(isExecutable(file))
    const bytes = readFileSync(path)
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(file.sha256)
    expect(bytes.toString()).not.toContain(OUTSIDE)
  }
}

const copyOf = ({ dataDir }: Project, { digest }: TrustRecord) => join(dataDir, 'copies', digest, 'guard')
const run = (copy: string) =>
  execFileSync(join(copy, 'check.sh'), {
    encoding: 'utf8',
    env: { ...process.env, CLAUDE_PLUGIN_ROOT: copy },
  })

describe('while somebody swaps files and folders', { timeout: 120_000 }, () => {
  it('a copy is always what its digest says, and nothing from outside gets into one', async () => {
    const place = project()
    const unit = place.plugin()
    const { store } = place
    const { digest } = store.look(unit)
    const { swaps } = await attack(place, unit)
    let done = 0
    let refused = 0
    while (swaps() < SWAPS / 4 || done === 0 || refused === 0) {
      try {
        const record = store.trust(unit, digest)
        done++
        expect(record.digest).toBe(digest)
        expectExact(copyOf(place, record), record)
        expect(run(copyOf(place, record))).toBe('reviewed\n')
      } catch (error) {
        refused++
        expect(String(error)).toMatch(/is not what was reviewed|cannot be trusted/)
      }
      // Whatever it is at the moment is copied exactly as it was reviewed.
      const review = store.look(unit)
      for (const { text = '' } of review.files) expect(text).not.toContain(OUTSIDE)
      try {
        const other = store.trust({ ...unit, path: unit.path }, review.digest)
        expectExact(copyOf(place, other), other)
      } catch (error) {
        expect(String(error)).toMatch(/is not what was reviewed|cannot be trusted/)
      }
      await setImmediate()
    }
  })

  it('a link that takes the place of a file is not followed', async () => {
    const place = project()
    const unit = place.plugin()
    const { swaps } = await attack(place, unit, SWAPPER)
    let read = 0
    while (swaps() < 5 * SWAPS || read === 0) {
      for (let i = 0; i < 20; i++) {
        const { files } = readFolder(unit.path, {
          take: (_, bytes) => expect(bytes.toString()).not.toContain(OUTSIDE),
        })
        read += files.length
      }
      await setImmediate()
    }
  })

  it('only trusted bytes run', async () => {
    const place = project()
    const unit = place.plugin()
    const { store } = place
    const record = later(() => trusted(store, unit))
    const { swaps } = await attack(place, unit)
    const states = new Map<string, number>()
    while (swaps() < SWAPS || states.size < 2) {
      for (let i = 0; i < 50; i++) {
        const standing = store.standingOf(unit)
        states.set(standing.state, (states.get(standing.state) ?? 0) + 1)
        if (standing.state !== 'trusted' || i % 10 > 0) continue
        expect(standing.record.digest).toBe(record.digest)
        expect(run(standing.copy as string)).toBe('reviewed\n')
      }
      await setImmediate()
    }
    expect([...states.keys()].sort()).toEqual(['modified', 'trusted'])
    expectExact(copyOf(place, record), record)
  })
})
