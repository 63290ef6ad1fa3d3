// Each range of an SDK in package.json begins with a version that an adapter was tried with.

import { readdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

type Versions = Readonly<Record<string, string>>

const HERE = fileURLToPath(new URL('.', import.meta.url))
const read = (file: string) => JSON.parse(readFileSync(file, 'utf8'))

const LOCKS = readdirSync(HERE, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('package-lock.json'))
  .map((path) => read(`${HERE}${dirname(path)}/package.json`).dependencies as Versions)
const PEERS = read(`${HERE}../../package.json`).peerDependencies as Versions
const TRIED = Object.keys(PEERS).filter((name) => LOCKS.some((lock) => name in lock))

it.each(TRIED)('%s', (name) => {
  const tried = LOCKS.flatMap((lock) => lock[name] ?? [])
  const lowest = (PEERS[name] ?? '').split('||').map((range) => /\d+\.\d+\.\d+/.exec(range)?.[0] ?? range)
  expect(tried).toEqual(expect.arrayContaining(lowest))
  // A version below them would have been tried for nothing.
  const [first = ''] = lowest
  expect(tried.filter((version) => first.localeCompare(version, 'en', { numeric: true }) > 0)).toEqual([])
})
