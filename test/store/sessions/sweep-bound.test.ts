// A sweep does the same work however much is on disk: calls are counted, not timed.

import { mkdirSync, utimesSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { nextTurn, workplace } from './workplace.js'

/** `long` is a folder that seems to hold 100,000 folders, all last changed at `changed`. */
const disk = vi.hoisted(() => ({ long: '', changed: 0, looks: 0, names: 0 }))

vi.mock('node:fs', async (original) => {
  const fs = await original<typeof import('node:fs')>()
  const nameOf = (i: number) => i.toString(16).padStart(32, '0')
  const counted = (names: readonly string[]) => {
    disk.names += names.length
    return names
  }
  return {
    ...fs,
    lstatSync: (path: string, ...more: []) => {
      disk.looks++
      return path.includes(disk.long) ? { mtimeMs: disk.changed } : fs.lstatSync(path, ...more)
    },
    readdirSync: (path: string, ...more: []) =>
      counted(
        path === disk.long
          ? Array.from({ length: 100_000 }, (_, i) => nameOf(i))
          : fs.readdirSync(path, ...more),
      ),
    opendirSync: (path: string, ...more: []) => {
      const folder = fs.opendirSync(path, ...more)
      if (path !== disk.long) return folder
      let i = 0
      return {
        readSync: () => counted([nameOf(i)]) && (i < 100_000 ? { name: nameOf(i++) } : null),
        closeSync: () => folder.closeSync(),
      }
    },
  }
})

const EVERY_SESSION: readonly (readonly [what: string, long: (project: string) => string])[] = [
  ['sessions of its project', (project) => project],
  ['other projects', (project) => dirname(project)],
  ['sessions of another project', (project) => join(dirname(project), 'f'.repeat(32))],
  ['agents of a session', (project) => join(project, 'e'.repeat(32), 'agents')],
]

beforeEach(() => {
  // How many names are read is random: usually few.
  vi.spyOn(Math, 'random').mockReturnValue(0.9)
})

describe.each([
  ['old', 0],
  ['new', Date.now()],
])('a new session beside 100,000 %s folders', (_, changed) => {
  it.each(EVERY_SESSION)('looks at a bounded number of %s', (_what, longIn) => {
    const { store } = workplace()
    const long = longIn(dirname(store.folderOf('s')))
    mkdirSync(long, { recursive: true })
    utimesSync(dirname(long), 0, 0)
    Object.assign(disk, { long, changed, looks: 0, names: 0 })
    store.update('new', nextTurn)
    expect(disk.looks).toBeLessThan(500)
    expect(disk.names).toBeLessThan(3000)
  })
})
