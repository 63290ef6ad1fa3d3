import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { memoryFolder } from './memory-folder.js'

let memory: string
beforeEach(() => {
  memory = mkdtempSync(join(tmpdir(), 'memory-'))
})
afterEach(() => rmSync(memory, { recursive: true }))

it('is a new folder of this process each time', () => {
  const folders = [memoryFolder(memory), memoryFolder(memory)]
  expect(new Set(folders).size).toBe(2)
  for (const folder of folders) {
    expect(dirname(folder ?? '')).toBe(memory)
    expect(folder).toContain(`carabiner-tests-${process.pid}-`)
    expect(readdirSync(folder ?? '')).toEqual([])
  }
})

it('removes the folders of dead processes, and nothing else', () => {
  // No process has such an id.
  const dead = join(memory, 'carabiner-tests-2147483647-x')
  const others = [
    `carabiner-tests-${process.pid}-x`,
    `carabiner-tests-${process.ppid}-x`,
    'carabiner-tests',
    'x',
  ]
  for (const name of others) mkdirSync(join(memory, name))
  mkdirSync(dead)
  writeFileSync(join(dead, 'left'), '')
  memoryFolder(memory)
  expect(existsSync(dead)).toBe(false)
  for (const name of others) expect(existsSync(join(memory, name)), name).toBe(true)
})

it('is not needed where there is no such place', () => {
  expect(memoryFolder(join(memory, 'gone'))).toBeUndefined()
})
