// Amplifier's settings under `session`.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createHooks, inject } from 'carabiner'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carabiner-session-settings-'))
})

afterEach(() => rmSync(folder, { recursive: true }))

async function withFile(settings: object, of: 'home' | 'project' = 'home') {
  for (const one of ['home', 'project']) mkdirSync(join(folder, one, '.amplifier'), { recursive: true })
  writeFileSync(join(folder, of, '.amplifier', 'settings.json'), JSON.stringify(settings))
  return createHooks({ projectDir: join(folder, 'project'), home: join(folder, 'home'), globals: false })
}

const LIMITS = { injection_size_limit: 100, injection_budget_per_turn: 7 }

describe('S2: session.injection_size_limit and session.injection_budget_per_turn', () => {
  test.each<[string, object]>([
    ['nested', { session: LIMITS }],
    ['nested under "hooks"', { hooks: { session: LIMITS } }],
    ['with a dot', { 'session.injection_size_limit': 100, 'session.injection_budget_per_turn': 7 }],
    [
      'with a dot under "hooks"',
      { hooks: { 'session.injection_size_limit': 100, 'session.injection_budget_per_turn': 7 } },
    ],
  ])('%s in the user’s settings', async (_, settings) => {
    const hooks = await withFile(settings)
    expect(hooks.settings).toMatchObject(LIMITS)
    expect(hooks.diagnostics).toEqual([])
  })

  test('null is unlimited, and what else Amplifier has there is its own', async () => {
    const hooks = await withFile({ session: { injection_size_limit: null, orchestrator: 'loop-basic' } })
    expect(hooks.settings.injection_size_limit).toBe(null)
    expect(hooks.diagnostics).toEqual([])
  })

  test('an impossible value is reported', async () => {
    const hooks = await withFile({ session: { injection_size_limit: 'ten' } })
    expect(hooks.settings.injection_size_limit).toBe(10_240)
    expect(hooks.diagnostics).toMatchObject([{ code: 'setting-invalid' }])
  })

  test('a project may tighten them, and loosens none', async () => {
    const tight = await withFile({ session: LIMITS }, 'project')
    expect(tight.settings).toMatchObject(LIMITS)
    const loose = await withFile({ session: { injection_size_limit: null } }, 'project')
    expect(loose.settings.injection_size_limit).toBe(10_240)
    expect(loose.diagnostics).toMatchObject([{ code: 'setting-ignored' }])
  })

  test('in code they count, and a misspelt one is refused', async () => {
    const settings = { session: { injection_size_limit: 100 } }
    const hooks = await createHooks({ globals: false, settings })
    hooks.register('UserPromptSubmit', () => inject('x'.repeat(1000)))
    const { injections, diagnostics } = await hooks.session().fire('UserPromptSubmit', { prompt: 'hi' })
    expect(Buffer.byteLength(injections[0]?.text ?? '')).toBeLessThanOrEqual(100)
    expect(diagnostics).toMatchObject([{ code: 'injection-cut' }])
    const wrong = { session: { injection_limit: 1 } } as never
    await expect(createHooks({ globals: false, settings: wrong })).rejects.toThrow(/injection_limit/)
  })
})
