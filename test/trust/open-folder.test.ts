import { mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { readFile } from '../../src/trust/file-reading.js'
import { OpenFolder } from '../../src/trust/folder-reading.js'
import { project } from './hostile-project.js'

it('an open folder stays the same, whatever takes its place', () => {
  const { root } = project()
  const path = join(root, 'folder')
  mkdirSync(path)
  writeFileSync(join(path, 'x'), 'reviewed')
  mkdirSync(join(root, 'outside'))
  writeFileSync(join(root, 'outside/x'), 'secret')
  const folder = new OpenFolder(path)
  renameSync(path, `${path}.old`)
  symlinkSync(join(root, 'outside'), path)
  // Only Linux can start at an open folder. Elsewhere we can only see that the folder is no longer there.
  if (process.platform === 'linux') {
    expect(readFileSync(folder.to('x'), 'utf8')).toBe('reviewed')
    expect(folder.realPath()).toBe(`${path}.old`)
  } else expect(folder.isInPlace()).toBe(false)
  folder.close()
  expect(() => new OpenFolder(path)).toThrow()
  expect(() => new OpenFolder(join(root, 'outside/x'))).toThrow('ENOTDIR')
})

it('a file that is a link is only read where that is wanted', () => {
  const { root, write } = project()
  symlinkSync(write('x', 'text'), join(root, 'link'))
  expect(readFile(join(root, 'link'), { follow: false, limit: 9 })).toEqual({
    problem: 'became a link while it was read',
  })
  expect(readFile(join(root, 'link'), { follow: true, limit: 9 })).toMatchObject({ size: 4 })
  expect(readFile(join(root, 'link'), { follow: true, limit: 3 })).toEqual({
    problem: 'is too large: 4 bytes, but only 3 are left',
  })
})
