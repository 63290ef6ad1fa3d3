// The environment without what a project's files set, for any names and values.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, isAbsolute, join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { isWithin } from '../../src/files/within.js'
import { withoutProject } from '../../src/shell/own-environment.js'
import { runs } from '../property/runs.js'

let base: string
let home: string
let project: string
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'carabiner-env-')))
  home = join(base, 'home')
  project = join(home, 'work', 'project')
  for (const folder of [join(home, '.claude'), join(project, '.claude'), join(project, 'bin')])
    mkdirSync(folder, { recursive: true })
  symlinkSync(join(project, 'bin'), join(home, 'linked'))
  vi.stubEnv('HOME', home)
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(base, { recursive: true })
})

const settings = (folder: string, env: object, name = 'settings.json') =>
  writeFileSync(join(folder, '.claude', name), JSON.stringify({ env }))

const NAMES = ['PATH', 'BASH_ENV', 'PYTHONPATH', 'SHELLOPTS', 'LD_PRELOAD', 'GIT_SSH', 'TOKEN', '__proto__x']
const variables = fc.dictionary(
  fc.oneof(fc.constantFrom(...NAMES), fc.stringMatching(/^[A-Z_]{1,6}$/)),
  fc.stringMatching(/^[a-z/.:]{0,12}$/),
  { maxKeys: 6 },
)

describe('E1, E2: the environment of a hook that is not of the project', () => {
  it('has no value from a file of the project that the user did not have', () => {
    fc.assert(
      fc.property(variables, variables, variables, variables, (user, shell, shared, local) => {
        settings(home, user)
        settings(project, shared)
        settings(project, local, 'settings.local.json')
        const merged = { ...shell, ...user, ...shared, ...local, CLAUDE_PROJECT_DIR: project }
        const env = withoutProject(project, merged)
        for (const name of Object.keys(merged)) {
          if (name === 'PATH' || name === 'HOME' || name === 'CLAUDE_PROJECT_DIR') continue
          const isSet = name in shared || name in local
          expect([name, env[name]]).toEqual([name, isSet ? user[name] : merged[name as keyof typeof merged]])
        }
      }),
      { numRuns: runs(300) },
    )
  })

  it('has a PATH of absolute folders outside the project', () => {
    const entry = fc.constantFrom(
      ...['', '.', 'bin', './bin', '..', '/usr/bin', '/bin', '/opt/tool/bin'],
      ...['@/bin', '@', '@/node_modules/.bin', '@/../project/bin', '~/linked', '~/tools'],
    )
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 8 }), fc.boolean(), (entries, isFromProject) => {
        const path = entries.map((one) => one.replace('@', project).replace('~', home)).join(delimiter)
        settings(project, isFromProject ? { PATH: path } : {})
        const { PATH = '' } = withoutProject(project, { PATH: path, CLAUDE_PROJECT_DIR: project })
        const folders = PATH.split(delimiter)
        expect(folders.filter((one) => !isAbsolute(one) || isWithin(one, project))).toEqual([])
        // No entry of the project's own choice is left, wherever it leads.
        if (isFromProject) expect(folders).not.toContain('/opt/tool/bin')
        else if (entries.includes('/opt/tool/bin')) expect(folders).toContain('/opt/tool/bin')
      }),
      { numRuns: runs(300) },
    )
  })

  it('has no program of a workspace around the project', () => {
    mkdirSync(join(home, 'work', '.git'))
    const PATH = [join(home, 'work', 'node_modules', '.bin'), '/bin'].join(delimiter)
    expect(withoutProject(project, { PATH }).PATH).toBe('/bin')
  })

  it('keeps the programs of a user whose home is the project', () => {
    const PATH = ['.', join(home, 'tools')].join(delimiter)
    expect(withoutProject(home, { PATH }).PATH).toBe(join(home, 'tools'))
  })

  it('keeps what the user has in the shell, where no host put the value of the file in', () => {
    settings(project, { TOKEN: 'of-project', SAME: 'x' })
    expect(withoutProject(project, { TOKEN: 'mine', SAME: 'x' })).toEqual({ TOKEN: 'mine' })
  })

  it('is not fooled by a project that says that it is the home', () => {
    settings(project, { HOME: project, BASH_ENV: './x' })
    vi.stubEnv('HOME', project)
    const env = { HOME: project, BASH_ENV: './x', CLAUDE_PROJECT_DIR: project }
    const { HOME, BASH_ENV } = withoutProject(project, env)
    expect([HOME === project, BASH_ENV]).toEqual([false, undefined])
  })
})
