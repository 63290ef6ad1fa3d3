import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type PackSettings, readSettings } from '../../src/pack/settings.js'

describe('the guard of a company', () => {
  let root: string
  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), 'company-guard-'))
  })
  afterAll(() => rmSync(root, { recursive: true, force: true }))

  function settingsWith(files: { company?: object; user?: object; project?: object }): PackSettings {
    const [company, home, project] = ['company', 'home', 'project'].map((name) => join(root, name))
    if (!company || !home || !project) throw new Error('no folders')
    const places = { company, user: join(home, '.amplifier'), project: join(project, '.amplifier') }
    for (const [name, folder] of Object.entries(places)) {
      const content = files[name as keyof typeof places]
      rmSync(folder, { recursive: true, force: true })
      mkdirSync(folder, { recursive: true })
      if (content) writeFileSync(join(folder, 'pack.json'), JSON.stringify(content))
    }
    return readSettings(home, project, [], false, [{ folder: company }])
  }

  const words = fc.array(fc.constantFrom('main', 'release', 'git *', 'curl *', '~/notes'), { maxLength: 3 })
  const guard = fc.record(
    {
      bash: fc.record(
        { allow: words, deny: words, protectedBranches: words, denyList: fc.boolean() },
        { requiredKeys: [] },
      ),
      selfProtection: fc.boolean(),
      protect: words,
    },
    { requiredKeys: [] },
  )

  it('is only tightened, whatever the user and the project say', () => {
    fc.assert(
      fc.property(guard, guard, guard, (company, user, project) => {
        const alone = settingsWith({ company })
        const { bash, selfProtection, protect } = settingsWith({ company, user, project })
        expect(bash.allow).toEqual(expect.arrayContaining([...alone.bash.allow]))
        expect(bash.deny).toEqual(expect.arrayContaining([...alone.bash.deny]))
        expect(bash.protectedBranches).toEqual(expect.arrayContaining([...alone.bash.protectedBranches]))
        expect(bash.denyList || !alone.bash.denyList).toBe(true)
        expect(selfProtection || !alone.selfProtection).toBe(true)
        expect(protect).toEqual(expect.arrayContaining([...alone.protect]))
      }),
      { numRuns: 60 },
    )
  })

  it('is the default one if the policy has no pack.json, and a user who loosens it is told', () => {
    const user = { selfProtection: false, bash: { denyList: false, protectedBranches: [] } }
    const { bash, selfProtection, problems } = settingsWith({ user })
    expect([bash.denyList, selfProtection, bash.protectedBranches]).toEqual([true, true, ['main', 'master']])
    expect(problems).toEqual([
      expect.stringContaining('bash.denyList: false has no effect: the company’s policy'),
      expect.stringContaining('selfProtection: false has no effect'),
    ])
  })

  it('may be less than the default', () => {
    const { bash, problems } = settingsWith({ company: { bash: { denyList: false } }, user: {} })
    expect([bash.denyList, problems]).toEqual([false, []])
  })

  it('is lost with its file, and then nothing passes', () => {
    const { unreadable } = settingsWith({ company: { bash: 'none' } })
    expect(unreadable).toContain('bash must be an object')
  })
})
