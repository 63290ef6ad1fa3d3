// One store for the calls of a service: what changed between two of them is seen by the second.

import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { textOf } from '../../src/core/base/errors.js'
import type { TrustStore } from '../../src/trust/trust-store.js'
import { asCaller, serveCallers, serveNobody } from '../callers.js'
import { later, type Project, project, trusted } from './hostile-project.js'

beforeEach(serveCallers)
afterEach(serveNobody)

type Unit = ReturnType<Project['plugin']>

function recordFile({ dataDir }: Project): string {
  const folder = join(dataDir, 'trust', readdirSync(join(dataDir, 'trust'))[0] as string)
  return join(folder, readdirSync(folder).find((name) => name.endsWith('.json')) as string)
}

/** As a call asks: where the unit stands, and what is expected in the project. */
function call(store: TrustStore, unit: Unit) {
  return later(() =>
    asCaller({}, () => {
      const { state, ...more } = store.standingOf(unit)
      return { state, why: 'why' in more ? more.why : '', expected: expectedBy(store, unit) }
    }),
  )
}

function expectedBy(store: TrustStore, { projectDir }: Unit): readonly string[] | string {
  try {
    return store.expectedIn(projectDir).map(({ path }) => path)
  } catch (error) {
    return textOf(error)
  }
}

const changes: Readonly<Record<string, readonly [(place: Project, unit: Unit) => void, object]>> = {
  'a file of the unit is changed': [
    (place) => place.write('plugins/guard/check.sh', '#!/bin/sh\necho other\n', 0o755),
    { state: 'modified', why: expect.stringContaining('check.sh') },
  ],
  'a file is added to it': [
    (place) => place.write('plugins/guard/more.sh', 'echo more\n', 0o755),
    { state: 'modified', why: expect.stringContaining('more.sh') },
  ],
  'another process withdraws trust': [
    (place, unit) => void place.newStore().untrust(unit),
    { state: 'untrusted', why: 'It is waiting for your review.', expected: [] },
  ],
  'somebody writes into the record, in place': [
    (place) => {
      const file = recordFile(place)
      const text = readFileSync(file, 'utf8')
      chmodSync(file, 0o600)
      writeFileSync(file, text.replace('"digest":"', '"digest":"x'))
    },
    { state: 'untrusted', why: expect.stringContaining('must be a SHA-256 digest') },
  ],
  'others may write to the store': [
    ({ dataDir }) => chmodSync(join(dataDir, 'copies'), 0o777),
    { state: 'untrusted', why: expect.stringContaining('is writable by others') },
  ],
  'the store is moved into the project, behind a link': [
    ({ dataDir, dir }) => {
      mkdirSync(join(dir, '.store'))
      renameSync(join(dataDir, 'trust'), join(dir, '.store', 'trust'))
      symlinkSync(join(dir, '.store', 'trust'), join(dataDir, 'trust'))
    },
    { state: 'untrusted', why: expect.stringContaining('lies in the project'), expected: [] },
  ],
}

it.each(Object.entries(changes))('%s', (_, [change, then]) => {
  const place = project()
  const unit = place.plugin()
  trusted(place.newStore(), unit)
  const before = { state: 'trusted', expected: [unit.path], why: '' }
  // The second call finds what the first one remembers.
  expect([call(place.store, unit), call(place.store, unit)]).toEqual([before, before])
  change(place, unit)
  const after = call(place.store, unit)
  expect(after).toMatchObject(then)
  expect(after).toEqual(call(place.newStore(), unit))
})
