// What the fleet's reviewers decided: trusted once is trusted on every machine, and what they revoked never runs.

import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it, onTestFinished, vi } from 'vitest'
import { loadConfig } from '../../src/config/load.js'
import type { TrustList } from '../../src/files/fleet/policy.js'
import { fleetTrust } from '../../src/files/fleet/trust.js'
import { inForcePath, type PolicyPlace } from '../../src/files/fleet-places.js'
import { hooksUnder } from '../../src/runtime.js'
import { fromNow, HOUR_MS, placeIn, putPolicy, type Sent } from '../config/fleet-place.js'
import { tree } from '../config/temp-tree.js'
import { seeded } from '../property/runs.js'
import { later, project } from './hostile-project.js'

const BY = { by: 'Ada', at: '2026-11-18T09:00:00Z' }
const WHY = { ...BY, why: 'it sends secrets away' }
const OTHER = '0'.repeat(64)

function fleetIn(root: string): {
  readonly places: readonly PolicyPlace[]
  decide(list: Partial<TrustList>): void
} {
  mkdirSync(join(root, 'etc'), { recursive: true })
  return {
    places: [placeIn(root)],
    decide: (list) =>
      putPolicy(root, { trust: { trusted: {}, revoked: {}, ...list }, expires: fromNow(24 * HOUR_MS) }),
  }
}

it('a digest that a reviewer trusted is trusted without asking the user, with who and when', () => {
  const { root, plugin, newStore, store: alone } = project()
  const fleet = fleetIn(root)
  const unit = plugin()
  const { digest } = alone.look(unit)
  const store = newStore({ fleet: fleet.places })
  fleet.decide({ trusted: { [OTHER]: BY } })
  expect(store.standingOf(unit).state).toBe('untrusted')
  fleet.decide({ trusted: { [OTHER]: BY, [digest]: BY } })
  expect(later(() => store.standingOf(unit)).state).toBe('trusted')
  expect(store.reviewerOf(digest)).toEqual(BY)
  expect(store.listed.size).toBe(0)
  fleet.decide({})
  expect(later(() => store.standingOf(unit)).state).toBe('untrusted')
})

it('a revoked digest is never trusted, whoever else trusts it', () => {
  const { root, plugin, newStore, store: alone } = project()
  const fleet = fleetIn(root)
  const unit = plugin()
  const { digest } = alone.look(unit)
  const record = alone.trust(unit, digest)
  const store = newStore({ fleet: fleet.places, preTrusted: new Map([[digest, 'guard']]) })
  expect(store.standingOf(unit).state).toBe('trusted')
  fleet.decide({ trusted: { [digest]: BY }, revoked: { [digest]: WHY } })
  const standing = later(() => store.standingOf(unit))
  const text = 'Ada revoked it for the whole fleet on 2026-11-18: it sends secrets away.'
  expect(standing).toEqual({ state: 'untrusted', why: text, isRevoked: true })
  expect(store.expectedIn(unit.projectDir)).toEqual([])
  expect(store.trustedNow(record)).toEqual([])
  expect(store.keptOf(record)).toEqual({ problem: text })
  expect(() => store.trust(unit, digest)).toThrow(`"guard" cannot be trusted: ${text}`)
})

it.each<[string, Sent]>([
  ['it has expired', { expires: fromNow(-1000), time: fromNow(-HOUR_MS) }],
  ['the clock was set back', { time: fromNow(HOUR_MS), expires: fromNow(2 * HOUR_MS) }],
])('when %s, what was trusted no longer counts, and what was revoked still does', (_, when) => {
  const { root } = project()
  const { places } = fleetIn(root)
  const trust = { trusted: { [OTHER]: BY }, revoked: { ['1'.repeat(64)]: WHY } }
  putPolicy(root, { trust, ...when })
  for (let i = 0; i < 2; i++) expect(fleetTrust(places)).toEqual({ ...trust, trusted: {} })
  putPolicy(root, { trust, ...when, enforced: { 'rules.json': { rules: [] } } })
  expect(fleetTrust(places).trusted).toEqual({})
})

it('what was trusted stops counting when it expires, although no file changes, and people are told', async () => {
  const { root, plugin, newStore, store: alone } = project()
  const fleet = fleetIn(root)
  const unit = plugin()
  const { digest } = alone.look(unit)
  const store = newStore({ fleet: fleet.places })
  fleet.decide({ trusted: { [digest]: BY } })
  const standing = () => later(() => store.standingOf(unit)).state
  const told = async () => {
    const company = {
      path: join(root, 'etc', 'policy'),
      owner: placeIn(root).owner,
      fleet: [...fleet.places],
    }
    return (await loadConfig({ company })).diagnostics
  }
  expect([standing(), await told()]).toEqual(['trusted', []])
  const now = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 25 * HOUR_MS)
  onTestFinished(() => now.mockRestore())
  expect(store.standingOf(unit).state).toBe('untrusted')
  const text = 'what reviewers of the fleet trusted no longer counts: it expired at'
  expect(await told()).toMatchObject([{ code: 'policy-expired', text: expect.stringContaining(text) }])
})

it('a list that cannot be relied on trusts nothing', () => {
  const { root, plugin, newStore, store: alone } = project()
  const fleet = fleetIn(root)
  const unit = plugin()
  const { digest } = alone.look(unit)
  alone.trust(unit, digest)
  fleet.decide({ trusted: { [digest]: BY } })
  writeFileSync(inForcePath(placeIn(root).folder), '{')
  const store = newStore({ fleet: fleet.places })
  expect(store.standingOf(unit)).toMatchObject({
    state: 'untrusted',
    why: expect.stringContaining('in-force.json'),
  })
  expect(() => store.expectedIn(unit.projectDir)).toThrow('in-force.json')
})

it('keeps the promises of trust records: nothing at first, news at once and for everybody, and a fault until it is mended', () => {
  const { root } = project()
  const { places, decide } = fleetIn(root)
  const others = [placeIn(root)]
  const empty: TrustList = { trusted: {}, revoked: {} }
  expect(fleetTrust(places)).toEqual(empty)
  for (const list of [
    { trusted: { [OTHER]: BY }, revoked: {} },
    { trusted: {}, revoked: { [OTHER]: WHY } },
    { trusted: {}, revoked: {} },
  ]) {
    decide(list)
    for (const view of [places, others]) expect(fleetTrust(view)).toEqual(list)
  }
  decide({ trusted: { [OTHER]: BY }, revoked: { [OTHER]: WHY } })
  expect(fleetTrust(places)).toEqual({ trusted: {}, revoked: { [OTHER]: WHY } })
  expect(later(() => fleetTrust(places))).toBe(later(() => fleetTrust(others)))
  writeFileSync(inForcePath(places[0]?.folder ?? ''), '{')
  for (const view of [places, others, places]) expect(() => fleetTrust(view)).toThrow('cannot be used')
  decide({ trusted: { [OTHER]: BY } })
  expect(fleetTrust(others).trusted).toEqual({ [OTHER]: BY })
})

it('whatever the order of decisions of reviewers and the user, only what is trusted and not revoked runs', () => {
  const { root, plugin, newStore, store: alone } = project()
  const fleet = fleetIn(root)
  const unit = plugin()
  const { digest } = alone.look(unit)
  const step = fc.constantFrom('trust', 'untrust', 'fleet trusts', 'fleet revokes', 'fleet is silent')
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 6 }), (steps) => {
      fleet.decide({})
      const store = newStore({ fleet: fleet.places })
      store.untrust(unit)
      let [own, theirs] = [false, 'fleet is silent']
      for (const one of steps) {
        if (one === 'untrust') own = store.untrust(unit) && false
        else if (one !== 'trust') {
          theirs = one
          fleet.decide({
            trusted: one === 'fleet trusts' ? { [digest]: BY } : {},
            revoked: one === 'fleet revokes' ? { [digest]: WHY } : {},
          })
        } else if (theirs === 'fleet revokes') expect(() => store.trust(unit, digest)).toThrow('revoked it')
        else own = store.trust(unit, digest) !== undefined
        const mayRun = theirs !== 'fleet revokes' && (own || theirs === 'fleet trusts')
        expect(store.standingOf(unit).state).toBe(mayRun ? 'trusted' : 'untrusted')
      }
    }),
    { numRuns: 30, ...seeded(28) },
  )
})

const RESIDENT = `
import { createInterface } from 'node:readline'
import { writeFileSync } from 'node:fs'
process.stdin.on('end', () => writeFileSync(process.env.AMPLIFIER_PROJECT_DIR + '/ended', ''))
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method } = JSON.parse(line)
  const result = method === 'hook.hello' ? { ok: true } : { action: 'deny_tool', reason: 'resident' }
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n')
}
`

it('a process that runs is ended when its content is revoked, and --trust-all does not bring it back', async () => {
  const guard = {
    command: [process.execPath, 'hook.mjs'],
    dir: '.',
    intercept: ['before_tool'],
    timeouts: { intercept: 60, hello: 60 },
  }
  const root = tree({
    'etc/a.txt': '',
    'home/a.txt': '',
    'project/.amplifier/hooks/guard/hooks.json': { processes: { guard } },
    'project/.amplifier/hooks/guard/hook.mjs': RESIDENT,
  })
  vi.stubEnv('CARABINER_HOME', join(root, 'data'))
  onTestFinished(() => void vi.unstubAllEnvs())
  const company = { path: join(root, 'etc', 'policy'), owner: placeIn(root).owner, fleet: [placeIn(root)] }
  const options = { projectDir: join(root, 'project'), home: join(root, 'home'), globals: false }
  const open = async (more = {}) => {
    const hooks = await hooksUnder(company, { ...options, ...more })
    onTestFinished(() => hooks.close())
    return hooks
  }
  const fire = (hooks: Awaited<ReturnType<typeof open>>) =>
    hooks.session().fire('PreToolUse', { tool_name: 'Read', tool_input: {} })
  const { trustStore } = await import('../../src/trust/trust-store.js')
  const { loadConfig } = await import('../../src/config/load.js')
  const { unitsOf } = await import('../../src/config/units.js')
  const { specs } = await loadConfig({ projectDir: options.projectDir })
  const [unit] = [...unitsOf(specs).keys()]
  if (!unit) throw new Error('no unit')
  const { digest } = trustStore().look(unit)
  putPolicy(root, { trust: { trusted: { [digest]: BY }, revoked: {} } })
  const hooks = await open()
  expect(await fire(hooks)).toMatchObject({ action: 'deny', reason: 'resident' })
  expect(hooks.list()).toMatchObject([{ state: 'ready', reviewer: BY }])
  putPolicy(root, { trust: { trusted: {}, revoked: { [digest]: WHY } }, time: fromNow(0) })
  expect(await fire(hooks)).toMatchObject({
    action: 'continue',
    hooks: [{ status: 'skipped', why: 'untrusted' }],
  })
  await hooks.reload()
  await vi.waitFor(() => expect(existsSync(join(options.projectDir, 'ended'))).toBe(true), {
    timeout: 20_000,
  })
  expect(await fire(await open({ trust: 'all' }))).toMatchObject({
    action: 'continue',
    hooks: [{ status: 'skipped' }],
  })
})
