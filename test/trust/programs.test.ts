import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { programGone, safePath, shebangProgram } from '../../src/trust/program-search.js'
import { hook, type Project, project, trusted } from './hostile-project.js'

/** Programs outside the project, first in PATH. */
function withPath({ root }: Project, ...before: readonly string[]): string {
  const old = process.env.PATH
  const bin = join(root, 'bin')
  mkdirSync(bin)
  for (const name of ['jq', 'python3', 'node', 'timeout', 'special']) {
    writeFileSync(join(bin, name), '#!/bin/sh\n')
    chmodSync(join(bin, name), 0o755)
  }
  process.env.PATH = [...before, bin].join(':')
  onTestFinished(() => {
    process.env.PATH = old
  })
  return bin
}

describe('programs', () => {
  it('of commands and first lines are found when the unit is trusted', () => {
    const place = project()
    const bin = withPath(place)
    const hooks = [
      hook('timeout 5 jq . | grep -q x && cd / && "$CLAUDE_PLUGIN_ROOT"/check.sh'),
      hook('x', { type: 'http' }),
    ]
    const files = {
      'check.sh': '#!/usr/bin/env -S python3 -u\n',
      'lib/a.js': '#!/usr/bin/env node\n',
      'b.sh': '#!/bin/bash\n',
    }
    const review = place.store.look(place.plugin(files, hooks))
    expect(review.programs).toEqual({
      jq: `${bin}/jq`,
      node: `${bin}/node`,
      python3: `${bin}/python3`,
      timeout: `${bin}/timeout`,
    })
    expect(review.missing).toEqual(['grep'])
  })

  it('are not taken from folders that the project can fill', () => {
    const place = project()
    const shim = place.write('node_modules/.bin/jq', 'evil', 0o755)
    symlinkSync(join(place.dir, 'node_modules/.bin'), join(place.root, 'alias'))
    const before = [
      join(place.dir, 'node_modules/.bin'),
      '',
      '.',
      'node_modules/.bin',
      join(place.root, 'alias'),
    ]
    const bin = withPath(place, ...before)
    const review = place.store.look(place.plugin(undefined, [hook('jq .')]))
    expect(review.programs).toEqual({ jq: join(bin, 'jq') })
    expect(review.skippedPath).toEqual(before)
    expect(safePath(place.dir)).toBe(bin)
    unlinkSync(join(bin, 'jq'))
    symlinkSync(shim, join(bin, 'jq'))
    expect(place.store.look(place.plugin(undefined, [hook('jq .')]))).toMatchObject({
      programs: {},
      missing: ['jq'],
      inProject: [join(bin, 'jq')],
    })
  })

  it('are linked in a folder that goes first in PATH', () => {
    const place = project()
    const bin = withPath(place)
    const record = trusted(place.store, place.plugin(undefined, [hook('jq . | python3 -')]))
    const folder = place.store.binFolder(record)
    expect(readdirSync(folder).sort()).toEqual(['jq', 'python3'])
    expect(readlinkSync(join(folder, 'jq'))).toBe(join(bin, 'jq'))
    place.store.untrust(record)
    expect(readdirSync(join(place.dataDir, 'copies'))).toEqual([])
    expect(readdirSync(place.store.binFolder(record)).sort()).toEqual(['jq', 'python3'])
  })

  it('that are gone are told', () => {
    const place = project()
    const bin = withPath(place)
    const record = trusted(place.store, place.plugin(undefined, [hook('jq .')]))
    expect(programGone(record)).toBeUndefined()
    unlinkSync(join(bin, 'jq'))
    expect(programGone(record)).toBe(
      `The program jq was ${bin}/jq when this was trusted, and is not there any more: review it again.`,
    )
  })

  it('of first lines', () => {
    const of = (text: string) => shebangProgram(Buffer.from(text))
    expect(of('#!/usr/bin/env python3\nx')).toBe('python3')
    expect(of('#! /usr/bin/env  -S  A=1 node --x\r\n')).toBe('node')
    expect(of('#!/bin/sh\n')).toBeUndefined()
    expect(of('#')).toBeUndefined()
    expect(of('')).toBeUndefined()
  })
})
