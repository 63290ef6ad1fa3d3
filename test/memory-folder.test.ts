import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { memoryFolder } from './memory-folder.js'

let memory: string
beforeEach(() => {
  memory = mkdtempSync(join(tmpdir(), 'memory-'))
})
afterEach(() => rmSync(memory, { recursive: true }))

it('is a folder of this process, and empty each time', () => {
  const folder = memoryFolder(memory) ?? ''
  expect(folder).toBe(join(memory, `cb-${process.pid}`))
  expect(readdirSync(folder)).toEqual([])
  writeFileSync(join(folder, 'left'), '')
  expect(memoryFolder(memory)).toBe(folder)
  expect(readdirSync(folder)).toEqual([])
})

it('removes the folders of dead processes, and nothing else', () => {
  // No process has such an id.
  const dead = join(memory, 'cb-2147483647')
  const others = [`cb-${process.ppid}`, 'cb-', 'cb-2147483647-x', 'x']
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
