// The size of the pages: the first screen is small, and the others are loaded on demand.

import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, it } from 'vitest'
import { programFile, withProgram } from '../cli/program.js'

withProgram()

const FIRST_BYTES = 40 * 1024
const SCREEN_BYTES = 12 * 1024

let folder: string
const inFolder = (name: string) =>
  beforeAll(() => {
    folder = join(dirname(programFile()), name)
  })

const source = (name: string) => readFileSync(join(folder, name), 'utf8')
const packed = (names: Iterable<string>) =>
  [...names].reduce((sum, name) => sum + gzipSync(source(name), { level: 9 }).length, 0)

/** The files that these load at once. */
function withImports(names: readonly string[]): Set<string> {
  const all = new Set(names)
  for (const name of all)
    for (const [, imported = ''] of source(name).matchAll(/(?:from|import)\s*"\.\/([^"]+)"/g))
      all.add(imported)
  return all
}
const screens = () =>
  readdirSync(folder).filter((name) => /^[a-z-]+-[A-Z0-9]{8}\.js$/.test(name) && !name.startsWith('chunk-'))
const live = () => screens().filter((name) => name.startsWith('live-'))

function hasOnlyItsOwn() {
  expect(source('index.html')).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\son\w+=|\sstyle=/)
  for (const name of readdirSync(folder))
    expect([name, source(name).match(/https?:\/\/(?!www\.w3\.org\/)[^\s"'`]+/g)]).toEqual([name, null])
}

describe('the page', () => {
  inFolder('page')

  it(`takes at most ${FIRST_BYTES} bytes for the first screen, compressed`, () => {
    expect(live().length).toBe(1)
    const first = withImports(['main.js', ...live()])
    expect(packed([...first, 'index.html', 'page.css'])).toBeLessThan(FIRST_BYTES)
  })

  it('loads every other screen on demand', () => {
    const first = withImports(['main.js', ...live()])
    const others = screens().filter((name) => !live().includes(name))
    expect(others.length).toBeGreaterThan(0)
    expect(others.filter((name) => first.has(name))).toEqual([])
    for (const name of others)
      expect(packed([...withImports([name])].filter((one) => !first.has(one)))).toBeLessThan(SCREEN_BYTES)
  })

  it('has no inline code, and nothing from elsewhere', hasOnlyItsOwn)
})

describe('the page of a gateway', () => {
  inFolder('fleet-page')

  it(`takes at most ${FIRST_BYTES} bytes for the way in and the first screen, compressed`, () => {
    const first = withImports(['sign-in.js', 'main.js'])
    expect(packed([...first, 'index.html', 'page.css'])).toBeLessThan(FIRST_BYTES)
    expect(screens().filter((name) => first.has(name))).toEqual([])
  })

  it('gives strangers one script, which has nothing of the screens', () => {
    expect([...withImports(['sign-in.js'])]).toEqual(['sign-in.js'])
    expect(source('sign-in.js')).not.toMatch(/api\/(?:machines|records|questions)/)
  })

  it('has no inline code, and nothing from elsewhere', hasOnlyItsOwn)
})
