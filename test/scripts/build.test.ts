// What `npm run build` says where it cannot build, and the id that it gives a build.

import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, inject, it } from 'vitest'
import { buildId } from '../../scripts/bundle.mjs'

it('asks for npm install where packages are missing', () => {
  const folder = mkdtempSync(join(tmpdir(), 'carabiner-build-'))
  cpSync('scripts', join(folder, 'scripts'), { recursive: true })
  const { status, stderr } = spawnSync(process.execPath, ['scripts/build.mjs'], {
    cwd: folder,
    encoding: 'utf8',
  })
  rmSync(folder, { recursive: true })
  expect([status, stderr]).toEqual([
    1,
    'The packages that Carabiner is built with are missing: run npm install first.\n',
  ])
})

it('writes the id of the build beside the program', () => {
  const { alone } = inject('programBundle')
  const text = readFileSync(join(alone, 'build-id'), 'utf8')
  expect(text).toMatch(/^[0-9a-f]{32}\n$/)
  expect(text).toBe(`${buildId(alone)}\n`)
})

it('names a build by the names and contents of its files alone', () => {
  const folder = mkdtempSync(join(tmpdir(), 'carabiner-build-id-'))
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text)
  write('carabiner.js', 'one')
  write('clip.c', 'two')
  const first = buildId(folder)
  write('build-id', first)
  write('carabiner.js.node.cache', 'compiled')
  write('carabiner.js.1.tmp', 'compiled')
  utimesSync(join(folder, 'clip.c'), 1, 1)
  expect(buildId(folder)).toBe(first)
  const ids = [first]
  for (const change of [
    () => write('clip.c', 'three'),
    () => write('more.js', ''),
    () => cpSync(join(folder, 'more.js'), join(folder, 'other.js')),
    () => rmSync(join(folder, 'more.js')),
  ]) {
    change()
    ids.push(buildId(folder))
  }
  rmSync(folder, { recursive: true })
  expect(new Set(ids).size).toBe(5)
})
