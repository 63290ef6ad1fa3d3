import { homedir } from 'node:os'
import { resolve } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { dataHome, stateHome } from '../../src/files/homes.js'

afterEach(() => vi.unstubAllEnvs())

describe('the homes', () => {
  it.each([
    [
      'CARABINER_HOME wins',
      { CARABINER_HOME: '/c', XDG_DATA_HOME: '/d', XDG_STATE_HOME: '/s' },
      '/c',
      '/c/state',
    ],
    ['a relative CARABINER_HOME is below here', { CARABINER_HOME: 'c' }, resolve('c'), resolve('c/state')],
    ['XDG', { XDG_DATA_HOME: '/d', XDG_STATE_HOME: '/s' }, '/d/carabiner', '/s/carabiner'],
    ...['', 'relative', './relative'].map((value): [string, Record<string, string>, string, string] => [
      `an XDG path that is none: "${value}"`,
      { XDG_DATA_HOME: value, XDG_STATE_HOME: value, CARABINER_HOME: '' },
      `${homedir()}/.local/share/carabiner`,
      `${homedir()}/.local/state/carabiner`,
    ]),
  ])('%s', (_, env, data, state) => {
    expect([dataHome(env), stateHome(env)]).toEqual([data, state])
  })

  it.each(['', '.', 'home'])('are never in the folder this runs in: HOME="%s"', (home) => {
    vi.stubEnv('HOME', home)
    for (const path of [dataHome({}), stateHome({})]) {
      expect(path).toMatch(/^\/.*\.local\/(share|state)\/carabiner$/)
      expect(path.startsWith(process.cwd())).toBe(false)
    }
  })
})
