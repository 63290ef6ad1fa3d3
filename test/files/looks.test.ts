// What a caller of a service has seen on disk, and when it looks again.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { forgetLooks, oncePerCall } from '../../src/files/looks.js'
import { claudeEnvIn } from '../../src/files/project-env.js'
import { isMarked, isRepository } from '../../src/files/project-folders.js'
import { realOf } from '../../src/files/within.js'
import { Programs } from '../../src/runners/command/programs.js'
import { asCaller, serveCallers, serveNobody } from '../callers.js'

let folder: string
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'carabiner-looks-')))
  serveCallers()
})
afterEach(() => {
  serveNobody()
  rmSync(folder, { recursive: true })
})

function counting() {
  const looks: string[] = []
  const look = oncePerCall((path) => {
    looks.push(path)
    return path === 'nothing' ? undefined : looks.length
  })
  return { looks, look }
}

describe('a look', () => {
  it('is taken once in a call for each path, also if nothing was found', () => {
    const { looks, look } = counting()
    asCaller({}, () => {
      expect([look('a'), look('b'), look('a'), look('nothing'), look('nothing')]).toEqual([
        1,
        2,
        1,
        undefined,
        undefined,
      ])
    })
    expect(looks).toEqual(['a', 'b', 'nothing'])
  })

  it('is taken again by the next call', () => {
    const { look } = counting()
    expect([1, 2].map(() => asCaller({}, () => look('a')))).toEqual([1, 2])
  })

  it('is always taken after something ran for the caller, and only for that caller', () => {
    const { looks, look } = counting()
    asCaller({}, () => {
      look('other')
      asCaller({}, () => {
        look('a')
        forgetLooks()
        look('a')
        look('a')
      })
      look('other')
    })
    expect(looks).toEqual(['other', 'a', 'a', 'a'])
  })

  it('is always taken by a process that works for itself', () => {
    serveNobody()
    const { looks, look } = counting()
    forgetLooks()
    look('a')
    look('a')
    expect(looks).toEqual(['a', 'a'])
  })

  it('that throws is not remembered', () => {
    let isBroken = true
    const look = oncePerCall((path) => {
      if (isBroken) throw new Error('broken')
      return path
    })
    asCaller({}, () => {
      expect(() => look('a')).toThrow('broken')
      isBroken = false
      expect(look('a')).toBe('a')
    })
  })
})

describe('what changed', () => {
  const settings = () => join(folder, '.claude', 'settings.json')
  const link = () => join(folder, 'link')
  const change = () => {
    for (const name of ['.claude', '.git', 'a']) mkdirSync(join(folder, name))
    writeFileSync(settings(), JSON.stringify({ env: { CARABINER_HOME: '/elsewhere' } }))
    writeFileSync(join(folder, '.git', 'HEAD'), 'ref: refs/heads/main\n')
    symlinkSync(join(folder, 'a'), link())
  }
  const seen = () => [
    claudeEnvIn(folder).map(({ env }) => env),
    isRepository(folder),
    isMarked(folder),
    realOf(link()),
  ]
  const atFirst = () => [[], false, false, link()]
  const changed = () => [[{ CARABINER_HOME: '/elsewhere' }], true, true, join(folder, 'a')]

  it('between two calls is seen by the second', () => {
    expect(asCaller({}, seen)).toEqual(atFirst())
    change()
    expect(asCaller({}, seen)).toEqual(changed())
  })

  it('because of a program that the call ran is seen by the rest of the call', async () => {
    await asCaller({}, async () => {
      expect(seen()).toEqual(atFirst())
      const program = { file: '/bin/sh', args: ['-c', 'true'], cwd: folder, env: {}, input: '' }
      await new Programs().run(program, new AbortController().signal)
      change()
      expect(seen()).toEqual(changed())
    })
  })
})
