import { describe, expect, it } from 'vitest'
import { settingFiles } from '../../src/hosts/setting-files.js'

const pathsOf = (env: NodeJS.ProcessEnv) => settingFiles(env).map(({ path }) => path)

describe('the files that guards depend on', () => {
  it('are the same list for the same environment', () => {
    const first = settingFiles({ HOME: '/home/ann', PATH: '/bin' })
    expect(settingFiles({ HOME: '/home/ann', PATH: '/usr/bin' })).toBe(first)
  })

  it('are also those that root keeps for everybody', () => {
    expect(settingFiles({ HOME: '/home/ann' })).toContainEqual({
      owner: 'carabiner',
      path: '/etc/carabiner/',
    })
  })

  it('follow a variable that moves them', () => {
    const usual = pathsOf({ HOME: '/home/ann' })
    const moved = pathsOf({ HOME: '/home/ann', CARABINER_HOME: '/srv/own', CLAUDE_CONFIG_DIR: '/srv/claude' })
    expect(usual.some((path) => path.startsWith('/srv/'))).toBe(false)
    expect(moved.some((path) => path.startsWith('/srv/own'))).toBe(true)
    expect(moved.some((path) => path.startsWith('/srv/claude/'))).toBe(true)
    expect(pathsOf({ HOME: '/home/ann' })).toEqual(usual)
  })
})
