import { existsSync, lutimesSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { nextTurn, type Workplace, workplace, workplaceIn } from './workplace.js'

const DAY = 24 * 60 * 60 * 1000

/** As if nothing had changed for so many days. */
function age(path: string, days: number): void {
  const then = new Date(Date.now() - days * DAY)
  lutimesSync(path, then, then)
}

function oldSession({ store }: Workplace, id: string, days: number): string {
  store.update(id, nextTurn)
  age(store.folderOf(id), days)
  return store.folderOf(id)
}

describe('a new session', () => {
  it('takes along what has not changed for a week, of any project', () => {
    const here = workplace()
    const there = workplaceIn(here.root, 'other')
    const recent = [oldSession(here, 'a', 6.9), oldSession(there, 'b', 6.9)]
    const forgotten = [oldSession(here, 'c', 7.1), oldSession(there, 'd', 30)]
    here.store.update('new', nextTurn)
    expect(recent.map((path) => existsSync(path))).toEqual([true, true])
    expect(forgotten.map((path) => existsSync(path))).toEqual([false, false])
    expect(here.troubles).toEqual([])
  })

  it('is the only moment for it', () => {
    const here = workplace()
    here.store.update('known', nextTurn)
    const forgotten = oldSession(here, 'a', 30)
    here.store.update('known', nextTurn)
    here.store.update('known\u0000agent', nextTurn)
    here.store.load('another')
    expect(existsSync(forgotten)).toBe(true)
    here.store.keep('another', 'text')
    expect(existsSync(forgotten)).toBe(false)
  })

  it('leaves a session whose agents are at work', () => {
    const here = workplace()
    here.store.update('a\u0000agent', nextTurn)
    age(here.store.folderOf('a'), 30)
    here.store.update('new', nextTurn)
    expect(here.store.load('a\u0000agent').turn).toBe(1)
    const [agent = ''] = readdirSync(join(here.store.folderOf('a'), 'agents'))
    age(join(here.store.folderOf('a'), 'agents', agent), 30)
    here.store.update('newer', nextTurn)
    expect(existsSync(here.store.folderOf('a'))).toBe(false)
  })

  it('takes along what a killed process left of a session, and empty projects', () => {
    const here = workplace()
    const there = workplaceIn(here.root, 'other')
    const project = dirname(oldSession(there, 'a', 30))
    const gone = join(dirname(here.store.folderOf('s')), `${'0'.repeat(32)}.0123456789abcdef.gone`)
    mkdirSync(join(gone, 'agents'), { recursive: true })
    writeFileSync(join(gone, '1.json'), '')
    here.store.update('new', nextTurn)
    expect([existsSync(gone), existsSync(project)]).toEqual([false, false])
  })

  it('leaves what is not a session, and what links lead to', () => {
    const here = workplace()
    const project = dirname(oldSession(here, 'a', 30))
    const precious = join(here.root, 'precious')
    mkdirSync(precious)
    writeFileSync(join(precious, 'file'), '')
    const link = join(project, 'e'.repeat(32))
    symlinkSync(precious, link)
    const names = ['notes.txt', 'ABC', `${'a'.repeat(31)}`]
    for (const name of names) writeFileSync(join(project, name), '')
    for (const path of [precious, link, ...names.map((name) => join(project, name))]) age(path, 30)
    here.store.update('new', nextTurn)
    const own = basename(here.store.folderOf('new'))
    expect(readdirSync(project).sort()).toEqual([...names, own].sort())
    expect(readdirSync(precious)).toEqual(['file'])
  })

  it('looks at a few, and reaches all of them in time', () => {
    const here = workplace()
    const project = dirname(here.store.folderOf('s'))
    const names = Array.from({ length: 500 }, (_, i) => i.toString(16).padStart(32, '0'))
    for (const name of names) {
      mkdirSync(join(project, name), { recursive: true })
      age(join(project, name), 30)
    }
    const left = () => readdirSync(project).filter((name) => names.includes(name)).length
    here.store.update('new', nextTurn)
    expect(left()).toBeGreaterThanOrEqual(300)
    expect(left()).toBeLessThan(500)
    for (let i = 0; i < 100 && left() > 0; i++) here.store.update(`new ${i}`, nextTurn)
    expect(left()).toBe(0)
  })

  it('reaches other projects in time, however many there are', () => {
    const here = workplace()
    const sessions = dirname(dirname(here.store.folderOf('s')))
    const names = Array.from({ length: 300 }, (_, i) => i.toString(16).padStart(32, '0'))
    for (const name of names) {
      mkdirSync(join(sessions, name, name), { recursive: true })
      age(join(sessions, name, name), 30)
    }
    for (let i = 0; i < 300 && readdirSync(sessions).length > 1; i++) here.store.update(`new ${i}`, nextTurn)
    expect(readdirSync(sessions)).toHaveLength(1)
  })

  it('beyond a thousand of one project old ones go, and none that changed today', () => {
    const here = workplace()
    const project = dirname(here.store.folderOf('s'))
    const names = Array.from({ length: 1000 }, (_, i) => i.toString(16).padStart(32, '0'))
    const recent = names.slice(500)
    for (const [i, name] of names.entries()) {
      mkdirSync(join(project, name), { recursive: true })
      age(join(project, name), i < 500 ? 5 : 0)
    }
    for (let i = 0; i < 20; i++) here.store.update(`new ${i}`, nextTurn)
    const left = readdirSync(project)
    expect(left.length).toBeLessThanOrEqual(1000)
    expect(recent.filter((name) => !left.includes(name))).toEqual([])
  })

  it('beyond a thousand of one project, those at work stay, also if only their agents are', () => {
    const here = workplace()
    const project = dirname(here.store.folderOf('s'))
    const names = Array.from({ length: 1100 }, (_, i) => i.toString(16).padStart(32, '0'))
    for (const [i, name] of names.entries()) {
      mkdirSync(join(project, name, 'agents', 'one'), { recursive: true })
      if (i % 2) age(join(project, name), 1)
    }
    for (let i = 0; i < 5; i++) here.store.update(`new ${i}`, nextTurn)
    const left = readdirSync(project)
    expect(names.filter((name) => !left.includes(name))).toEqual([])
  })

  it('never takes grants', () => {
    const here = workplace()
    here.store.addGrant({ id: 'g', hook: 'h', event: 'e', tool: 't', cwd: '/', digest: 'd', created: 'now' })
    const grants = join(here.dataDir, 'grants')
    for (const name of readdirSync(grants)) age(join(grants, name), 400)
    here.store.update('new', nextTurn)
    expect(here.store.grants()).toHaveLength(1)
  })
})
