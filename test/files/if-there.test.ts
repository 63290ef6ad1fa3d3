// A path that may not exist: only a missing one is undefined, in every version of Node.

import { lstatSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  exactLstatIfThere,
  exactStatIfThere,
  ifThere,
  lstatIfThere,
  statIfThere,
} from '../../src/files/if-there.js'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carabiner-there-'))
  writeFileSync(join(folder, 'file'), 'text')
  symlinkSync(join(folder, 'nowhere'), join(folder, 'broken'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const LOOKS = {
  ifThere: (path: string) => ifThere(() => lstatSync(path)),
  lstatIfThere,
  statIfThere,
  exactLstatIfThere,
  exactStatIfThere,
}

describe.each(Object.entries(LOOKS))('%s', (name, look) => {
  it('finds a file', () => {
    expect(Number(look(join(folder, 'file'))?.size)).toBe(4)
  })

  it('returns undefined for what is missing, also in a folder that is missing', () => {
    expect([look(join(folder, 'no')), look(join(folder, 'no/no'))]).toEqual([undefined, undefined])
  })

  it('throws for a file in place of a folder', () => {
    expect(() => look(join(folder, 'file/below'))).toThrow('ENOTDIR')
  })

  it('throws for a path that no system has', () => {
    expect(() => look(join(folder, 'x'.repeat(5000)))).toThrow('ENAMETOOLONG')
  })

  it('follows a link or does not', () => {
    const isFollowed = /^(?:exactS|s)tat/.test(name)
    expect(look(join(folder, 'broken')) === undefined).toBe(isFollowed)
  })
})
