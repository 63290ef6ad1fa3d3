// CONTRIBUTING draws the house: a file that is not on the map, or no longer there, makes the map wrong.

import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

it('every file of the kernel is on the map of CONTRIBUTING.md', () => {
  const map = readFileSync('CONTRIBUTING.md', 'utf8')
  const table = map.slice(map.indexOf('| step | files |'), map.indexOf('## Commands'))
  const named = [...table.matchAll(/`([a-z0-9-]+)`/g)].map(([, name]) => name)
  const files = readdirSync('src/core').map((file) => file.replace('.ts', ''))
  expect(named.sort()).toEqual(files.filter((file) => file !== 'index').sort())
})
