import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { safePath, searchPath } from '../../src/files/search-path.js'
import { makeBin } from '../../src/trust/copies.js'
import { findPrograms, programGone, shebangOf, shebangProgram } from '../../src/trust/program-search.js'
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
    expect(safePath([place.dir])).toBe(bin)
    unlinkSync(join(bin, 'jq'))
    symlinkSync(shim, join(bin, 'jq'))
    expect(place.store.look(place.plugin(undefined, [hook('jq .')]))).toMatchObject({
      programs: {},
      missing: ['jq'],
      inProject: [join(bin, 'jq')],
    })
  })

  it('are called from a folder that goes first in PATH', () => {
    const place = project()
    const bin = withPath(place)
    const record = trusted(place.store, place.plugin(undefined, [hook('jq . | python3 -')]))
    const folder = place.store.binFolder(record)
    expect(readdirSync(folder).sort()).toEqual(['jq', 'python3'])
    expect(readFileSync(join(folder, 'jq'), 'utf8')).toBe(`#!/bin/sh\nexec '${bin}/jq' "$@"\n`)
    expect(lstatSync(join(folder, 'jq')).mode & 0o777).toBe(0o500)
    place.store.untrust(record)
    expect(readdirSync(join(place.dataDir, 'copies'))).toEqual([])
    expect(readdirSync(place.store.binFolder(record)).sort()).toEqual(['jq', 'python3'])
  })

  it('find what lies beside them, wherever they are, and get their arguments as they are', () => {
    const place = project()
    const record = trusted(place.store, place.plugin())
    const odd = join(place.root, `it's "$HOME"\n\`x\``)
    mkdirSync(odd)
    writeFileSync(join(odd, 'beside'), 'beside')
    writeFileSync(join(odd, 'tool'), '#!/bin/sh\ncat "$(dirname "$0")/beside"; printf "|%s" "$@"\n', {
      mode: 0o755,
    })
    const bin = join(place.root, 'made')
    const made = { ...record, programs: { tool: join(odd, 'tool') } }
    makeBin(bin, made)
    const run = () => execFileSync(join(bin, 'tool'), ['a b', '', '$x'], { encoding: 'utf8' })
    expect(run()).toBe('beside|a b||$x')
    // A replacement that somebody put there does not stay.
    for (const text of ['#!/bin/sh\necho evil\n', undefined]) {
      rmSync(join(bin, 'tool'))
      if (text === undefined) symlinkSync('/bin/echo', join(bin, 'tool'))
      else writeFileSync(join(bin, 'tool'), text, { mode: 0o500 })
      makeBin(bin, made)
      expect(run()).toBe('beside|a b||$x')
    }
  })

  it('are those of the system where no folder of PATH counts', () => {
    const { dir } = project()
    for (const [root, path] of [
      [dir, ''],
      [dir, `${dir}/bin:.:`],
      ['/', '/usr/local/bin:/usr/bin:/bin'],
    ] as const) {
      expect(safePath([root], path)).toBe('/usr/bin:/bin')
      const { programs, inProject } = findPrograms(['sh'], searchPath([root], path).folders, root)
      expect(programs.sh).toMatch(/^(?:\/usr)?\/bin\/sh$/)
      expect(inProject).toEqual([])
    }
  })

  it('that are gone are told', () => {
    const place = project()
    const bin = withPath(place)
    const record = trusted(place.store, place.plugin(undefined, [hook('jq .')]))
    expect(programGone(record)).toBeUndefined()
    unlinkSync(join(bin, 'jq'))
    expect(programGone(record)).toBe(
      `The program jq was ${bin}/jq when this was trusted, and is gone now: review it again.`,
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

  it('of first lines that are files', () => {
    const of = (text: string) => shebangOf(Buffer.from(text))
    expect(of('#!./interp -x\n')).toEqual({ file: './interp' })
    expect(of('#!interp')).toEqual({ file: 'interp' })
    expect(of('#!/usr/bin/env -S ./x y\n')).toEqual({ file: './x' })
    expect(of('#!/usr/bin/env -S./x y\n')).toEqual({ file: './x' })
    expect(of('#!/usr/bin/env -u A bin/x\n')).toEqual({ file: 'bin/x' })
    expect(of('#!./env node\n')).toEqual({ file: './env' })
    expect(of('#!\n')).toEqual({})
  })
})
