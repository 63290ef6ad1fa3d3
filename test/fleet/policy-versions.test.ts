import { chmodSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type KeyPair, newKeyPair } from '../../src/files/ed25519.js'
import { fleetPolicies } from '../../src/files/fleet/bundles.js'
import { bundleFolder, type InForce, readInForce } from '../../src/files/fleet/policy.js'
import { policyPlace, userPlace } from '../../src/files/fleet-places.js'
import type { GatewayClient } from '../../src/fleet/machine/gateway-client.js'
import type { Member } from '../../src/fleet/machine/membership.js'
import { fetchPolicy } from '../../src/fleet/machine/policy.js'
import type { Bundle } from '../../src/fleet/policy/bundle.js'
import { verified } from '../../src/fleet/policy/checked-policy.js'
import {
  type Delegated,
  delegatedSigned,
  type PolicyRole,
  type PolicyRow,
  signedText,
  snapshotSigned,
  timestampSigned,
} from '../../src/fleet/policy/metadata.js'
import {
  type Change,
  firstSigners,
  publication,
  rolloutOf,
  signTargets,
} from '../../src/fleet/policy/publication.js'
import { planned, published } from '../../src/fleet/policy/rollout.js'
import { SIGNER_ROLES } from '../../src/fleet/policy/signers.js'
import { type Models, tufModels } from '../../src/fleet/policy/tuf.js'
import type { PolicyRequest } from '../../src/fleet/protocol.js'
import { ROOT } from './fleet-scene.js'
import { numbered, ONE_RING } from './policy-scene.js'

const STATES = 5

/** All rows after each of several publications, by the right key. */
function statesOf(models: Models, bundles: readonly Bundle[]): readonly (readonly PolicyRow[])[] {
  const publisher = { models, key: ROOT, rootKey: ROOT.publicKey, now: Date.now() }
  const states: (readonly PolicyRow[])[] = []
  for (const bundle of bundles) {
    const rows = states.at(-1) ?? []
    const state = rows.length === 0 ? undefined : verified(models, rows, ROOT.publicKey)
    const signers = state ?? firstSigners(ROOT.publicKey)
    const targets = signTargets(publisher, { state, signers, bundle }).text
    const rollout = published(planned(rolloutOf(state), bundle.policy.plan ?? []), bundle.digest, {}, false)
    states.push([...rows, ...publication(publisher, rows, { targets, rollout })])
  }
  return states
}

describe('a machine', () => {
  let folder: string
  let models: Models
  let bundles: readonly Bundle[]
  let states: readonly (readonly PolicyRow[])[]

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'policy-versions-'))
    models = await tufModels()
    bundles = Array.from({ length: STATES }, (_, i) => numbered(i + 1, ONE_RING))
    states = statesOf(models, bundles)
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  /** A gateway that has gone back, or forward, to one of the states. */
  const clientAt = (state: number): GatewayClient => clientOver(states[state] ?? [])

  function clientOver(rows: readonly PolicyRow[], time = () => Date.now()): GatewayClient {
    const newest = (role: string) =>
      Math.max(0, ...rows.filter((row) => row.role === role).map((row) => row.version))
    const ask = async (name: string, { body, query = '' }: { body?: PolicyRequest; query?: string } = {}) => {
      if (name === 'bundle')
        return { bundle: bundles.find(({ digest }) => query === `digest=${digest}`)?.text }
      const isNew = newest('timestamp') !== body?.timestamp || newest('root') !== body.root
      const files = rows.filter(({ role, version }) =>
        role === 'root' ? version > (body?.root ?? 0) : version === newest(role),
      )
      return { time: time(), newest: newest('timestamp'), files: isNew ? files : [] }
    }
    return { ask, close: () => {} } as unknown as GatewayClient
  }

  let made = 0
  function newMachine(): Member {
    const rootKey = ROOT.publicKey.toString('base64url')
    const place = userPlace(join(folder, String(made++)))
    return { url: '', machine: 'm', name: 'm', rootKey, key: newKeyPair(), place }
  }

  it('that has seen a version never accepts less, whatever is served in whatever order', async () => {
    const order = fc.array(fc.nat({ max: STATES - 1 }), { minLength: 1, maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(order, async (served) => {
        const member = newMachine()
        let seen = -1
        for (const state of served) {
          const fetching = fetchPolicy(clientAt(state), member)
          if (state < seen) await expect(fetching).rejects.toThrow('stays in force')
          else expect((await fetching).status).toBe(state === seen ? 'same' : 'changed')
          seen = Math.max(seen, state)
          const { rollout, enforced } = readInForce(policyPlace(member.place)) ?? {}
          expect([rollout, enforced?.version]).toEqual([seen + 1, seen + 1])
        }
      }),
      { numRuns: 15 },
    )
  })

  it('does not even after it lost all metadata', async () => {
    const member = newMachine()
    await fetchPolicy(clientAt(3), member)
    rmSync(join(member.place.policy, 'tuf'), { recursive: true })
    await expect(fetchPolicy(clientAt(2), member)).rejects.toThrow('its roll-out has version 3')
    expect(readInForce(policyPlace(member.place))?.rollout).toBe(4)
  })

  it('fetches nothing again that it has: a bundle that was tried is promoted without a download', async () => {
    const publisher = { models, key: ROOT, rootKey: ROOT.publicKey, now: Date.now() }
    const [first, second] = bundles
    if (!first || !second) throw new Error('no bundles')
    const rows: PolicyRow[] = [...(states[1] ?? [])]
    const tried = [{ name: '1', enforced: first.digest, shadow: second.digest }]
    const enforced = [{ name: '1', enforced: second.digest, before: [first.digest] }]
    const member = newMachine()
    const asked: string[] = []
    for (const rings of [tried, enforced]) {
      rows.push(...publication(publisher, rows, { rollout: [{ name: 'all', machines: ['*'], rings }] }))
      const client = clientOver(rows)
      const ask = (name: string, what: never) => {
        asked.push(name)
        return client.ask(name as never, what)
      }
      await fetchPolicy({ ask, close: () => {} } as unknown as GatewayClient, member)
    }
    expect(asked).toEqual(['policy', 'bundle', 'bundle', 'policy'])
    expect(readInForce(policyPlace(member.place))?.enforced?.digest).toBe(second.digest)
  })

  it('tells how old its news are when a gateway keeps newer ones back, and closes when they expire', async () => {
    const member = newMachine()
    const place = policyPlace(member.place)
    await fetchPolicy(clientAt(0), member)
    const { signed = '', expires = '' } = readInForce(place) ?? {}
    expect(Math.abs(Date.now() - Date.parse(signed))).toBeLessThan(600_000)
    const problems = () => fleetPolicies(place).flatMap(({ problem }) => problem ?? [])
    vi.useFakeTimers({ toFake: ['Date'] })
    try {
      vi.setSystemTime(Date.parse(expires) - 1000)
      expect((await fetchPolicy(clientAt(0), member)).status).toBe('same')
      expect(problems()).toEqual([])
      vi.setSystemTime(Date.parse(expires))
      expect((await fetchPolicy(clientAt(0), member)).status).toBe('same')
      expect(problems()).toEqual([
        `it expired at ${expires}, and nothing newer than what was signed at ${signed} has come from the fleet`,
      ])
    } finally {
      vi.useRealTimers()
    }
  })

  describe('with a gateway and a signer that lie about time', () => {
    const DAY_MS = 24 * 3_600_000
    const TESS = newKeyPair()
    const newest = (rows: readonly PolicyRow[], role: PolicyRole) =>
      rows.filter((row) => row.role === role).sort((a, b) => b.version - a.version)[0] as PolicyRow

    /** The state after Tess was made a reviewer, the lowest role, and signed that it holds for ever. */
    function forEver(
      signed = Date.now(),
      more: readonly PolicyRow[] = states[0] ?? [],
    ): readonly PolicyRow[] {
      const key = TESS.publicKey.toString('base64url')
      const all = [...firstSigners(ROOT.publicKey).signers, { name: 'tess', roles: ['trust'] as const, key }]
      const publisher = { models, key: ROOT, rootKey: ROOT.publicKey, now: Date.now() }
      const rows = [...more, ...publication(publisher, more, { signers: { signers: all, threshold: 1 } })]
      const version = newest(rows, 'timestamp').version + 1
      const facts = { expires: '9999-12-31T00:00:00.000Z', now: signed }
      const said = timestampSigned(newest(rows, 'snapshot'), version, facts)
      return [...rows, { role: 'timestamp', version, content: signedText(models, 'timestamp', said, [TESS]) }]
    }
    const inForceOf = ({ place }: Member) => readInForce(policyPlace(place)) as InForce

    it.each([
      ['ends after as many days as its bundle says', () => Date.now()],
      ['also if it says that it was signed later', () => Date.parse('9999-01-01T00:00:00Z')],
    ])('the policy of one signer %s', async (_, signed) => {
      const member = newMachine()
      await fetchPolicy(clientOver(forEver(signed())), member)
      const { expires, time } = inForceOf(member)
      expect(Date.parse(expires)).toBeLessThanOrEqual(Date.now() + 7 * DAY_MS)
      expect(Date.parse(expires)).toBeGreaterThan(Date.now() + 6 * DAY_MS)
      // Nor can it make the clock of the machine look wrong.
      expect(Date.parse(time)).toBeLessThan(Date.now() + 3_600_000)
      expect(fleetPolicies(policyPlace(member.place)).flatMap(({ problem }) => problem ?? [])).toEqual([])
    })

    it('does not hold longer when it is heard again, and a machine asks for nothing that it has', async () => {
      const rows = forEver()
      const member = newMachine()
      await fetchPolicy(clientOver(rows), member)
      const { expires } = inForceOf(member)
      expect((await fetchPolicy(clientOver(rows), member)).status).toBe('same')
      const now = () => Date.parse(expires) - 1000
      chmodSync(bundleFolder(member.place.policy, bundles[0]?.digest ?? ''), 0o777)
      expect((await fetchPolicy(clientOver(rows, now), member, { now })).status).toBe('changed')
      expect(inForceOf(member).expires).toBe(expires)
      chmodSync(bundleFolder(member.place.policy, bundles[0]?.digest ?? ''), 0o777)
      const late = () => Date.parse(expires) + 1000
      await expect(fetchPolicy(clientOver(rows, late), member, { now: late })).rejects.toThrow('is over')
    })

    it('the shortest of the bundles counts, also one that is only tried', async () => {
      const short = numbered(9, { 'policy.json': '{"expires_days":2,"rings":[{"name":"1"}]}' })
      bundles = [...bundles, short]
      const publisher = { models, key: ROOT, rootKey: ROOT.publicKey, now: Date.now() }
      const before = states[0] ?? []
      const state = verified(models, before, ROOT.publicKey)
      const targets = signTargets(publisher, { state, signers: state, bundle: short }).text
      const rollout = published(rolloutOf(state), short.digest, {}, true)
      const member = newMachine()
      const rows = [...before, ...publication(publisher, before, { targets, rollout })]
      await fetchPolicy(clientOver(forEver(Date.now(), rows)), member)
      expect(Date.parse(inForceOf(member).expires)).toBeLessThanOrEqual(Date.now() + 2 * DAY_MS)
    })

    it('a gateway sets the time forward only, whether it has news or not', async () => {
      const member = newMachine()
      const start = Date.now()
      const at = (state: number, days: number) => {
        const now = () => start + days * DAY_MS
        return fetchPolicy(clientOver(states[state] ?? [], now), member, { now })
      }
      const days = () => Math.round((Date.parse(inForceOf(member).time) - start) / DAY_MS)
      for (const [state, day, expected] of [
        [0, 0, 0],
        [0, 4, 4],
        [0, 1, 4],
        [0, 5, 5],
        // News that were kept back until now: only a signer can make them, so they may correct a wrong clock by a day.
        [1, 1, 4],
        [1, 1, 4],
        [2, 3, 3],
      ] as const) {
        await at(state, day)
        expect([state, day, days()]).toEqual([state, day, expected])
      }
      await at(2, 6)
      expect(days()).toBe(6)
    })

    it('nothing that has expired is accepted with a clock that was set back', async () => {
      const member = newMachine()
      const start = Date.now()
      const on = (state: number, day: number) => {
        const now = () => start + day * DAY_MS
        return fetchPolicy(clientOver(states[state] ?? [], now), member, { now })
      }
      await on(0, 0)
      await on(0, 20)
      await expect(on(1, 0)).rejects.toThrow('expired')
      expect(inForceOf(member).rollout).toBe(1)
    })
  })

  describe('after a signer was removed', () => {
    const HIGHEST = 2 ** 31 - 1
    const [ANN, EVE] = [newKeyPair(), newKeyPair()]
    const publisher = (key: KeyPair) => ({ models, key, rootKey: ROOT.publicKey, now: Date.now() })
    const then = (rows: readonly PolicyRow[], change: Change, key = ROOT) => [
      ...rows,
      ...publication(publisher(key), rows, change),
    ]
    const newest = (rows: readonly PolicyRow[], role: PolicyRole): PolicyRow => {
      const [found] = rows.filter((row) => row.role === role).sort((a, b) => b.version - a.version)
      if (!found) throw new Error(`no ${role}`)
      return found
    }
    function signers(names: Readonly<Record<string, KeyPair>>): Change {
      const more = Object.entries(names).map(([name, { publicKey }]) => {
        return { name, roles: SIGNER_ROLES, key: publicKey.toString('base64url') }
      })
      return { signers: { threshold: 1, signers: [...firstSigners(ROOT.publicKey).signers, ...more] } }
    }

    /** What Eve signs on top, each in the highest version there is, or in the next. */
    function ofEve(rows: readonly PolicyRow[], roles: readonly PolicyRole[]): readonly PolicyRow[] {
      const version = (role: PolicyRole) => (roles.includes(role) ? HIGHEST : newest(rows, role).version + 1)
      const row = (
        role: PolicyRole,
        signed: Readonly<Record<string, unknown>>,
        target?: string,
      ): PolicyRow => {
        const content = signedText(models, role, signed, [EVE])
        return { role, version: version(role), content, ...(target !== undefined && { target }) }
      }
      const now = Date.now()
      const delegated = (['rollout', 'trust'] as const satisfies readonly Delegated[]).map((role) => {
        const { target = '' } = newest(rows, role)
        return row(role, delegatedSigned(role, target, version(role), now), target)
      })
      const vouched = [newest(rows, 'targets'), ...delegated]
      const snapshot = row('snapshot', snapshotSigned(vouched, version('snapshot'), now))
      const expires = new Date(now + 3_600_000).toISOString()
      return [
        ...delegated,
        snapshot,
        row('timestamp', timestampSigned(snapshot, version('timestamp'), { expires, now })),
      ]
    }

    it('obeys the others again, however high the versions are that the removed one signed', async () => {
      const skippable = ['timestamp', 'snapshot', 'rollout', 'trust'] as const
      const both = then(states[0] ?? [], signers({ ANN, EVE }))
      await fc.assert(
        fc.asyncProperty(fc.subarray([...skippable]), fc.boolean(), async (roles, isCut) => {
          const member = newMachine()
          const evil = [...both, ...ofEve(both, roles)]
          expect((await fetchPolicy(clientOver(evil), member)).status).toBe('changed')
          if (roles.length > 0)
            expect(() => then(evil, signers({ ANN }))).toThrow(`skipped to version ${HIGHEST} of`)
          const mended = then(then(both, signers({ ANN })), {}, ANN)
          if (isCut) {
            // The first try stops after the new root was accepted.
            const { ask } = clientOver(mended)
            const cut = async (name: never, what: never) => {
              const answer = (await ask(name, what)) as { files: readonly PolicyRow[] }
              return { ...answer, files: answer.files.filter(({ role }) => role !== 'trust') }
            }
            await expect(
              fetchPolicy({ ask: cut, close: () => {} } as unknown as GatewayClient, member),
            ).rejects.toThrow('trust.json is missing')
          }
          expect((await fetchPolicy(clientOver(mended), member)).status).toBe('changed')
          expect(readInForce(policyPlace(member.place))?.rollout).toBe(newest(mended, 'rollout').version)
        }),
        { numRuns: 12 },
      )
    })

    it('takes nothing from before a signer was removed back, whoever signed it', async () => {
      const decision = { by: 'ann', at: '2026-11-18T00:00:00Z' }
      const [digest, other] = ['a'.repeat(64), 'b'.repeat(64)]
      const trusted: Change = { trust: { trusted: { [digest]: decision }, revoked: {} } }
      const revoked: Change = { trust: { trusted: {}, revoked: { [digest]: decision } } }
      const more: Change = { trust: { trusted: {}, revoked: { [digest]: decision, [other]: decision } } }
      const history: (readonly PolicyRow[])[] = [states[0] ?? []]
      for (const [change, key] of [
        [signers({ ANN, EVE }), ROOT],
        [trusted, ANN],
        [revoked, EVE],
        [more, EVE],
        [signers({ ANN }), ROOT],
      ] as const)
        history.push(then(history.at(-1) ?? [], change, key))
      const last = history.at(-1) ?? []
      const roots = last.filter(({ role }) => role === 'root')
      for (const [i, rows] of history.slice(0, -1).entries()) {
        const mixed = [...rows.filter(({ role }) => role !== 'root'), ...roots]
        for (const had of [undefined, ...history.slice(i + 1)]) {
          const member = newMachine()
          if (had) await fetchPolicy(clientOver(had), member)
          const before = readInForce(policyPlace(member.place))
          await expect(fetchPolicy(clientOver(mixed), member)).rejects.toThrow('stays in force')
          expect(readInForce(policyPlace(member.place))).toEqual(before)
        }
      }
    })
  })

  it('fetches again whatever its calls are refused for', async () => {
    const bundle = (at: string) => bundleFolder(at, readdirSync(join(at, 'bundles'))[0]?.slice(0, 64) ?? '')
    const moved = (path: string) => {
      renameSync(path, `${path}-moved`)
      symlinkSync(`${path}-moved`, path)
    }
    const damages: Readonly<Record<string, (folder: string) => void>> = {
      'rights of a file': (at) => chmodSync(join(bundle(at), 'rules.json'), 0o664),
      'rights of the bundle': (at) => chmodSync(bundle(at), 0o777),
      'rights of its list': (at) => chmodSync(`${bundle(at)}.json`, 0o666),
      'rights of bundles': (at) => chmodSync(join(at, 'bundles'), 0o775),
      'rights of the policy': (at) => chmodSync(at, 0o775),
      'rights of in-force.json': (at) => chmodSync(join(at, 'in-force.json'), 0o666),
      'a linked bundle': (at) => moved(bundle(at)),
      'linked bundles': (at) => moved(join(at, 'bundles')),
      'a linked policy': (at) => moved(at),
      'an empty folder': (at) => mkdirSync(join(bundle(at), 'more')),
    }
    for (const [what, damage] of Object.entries(damages)) {
      const member = newMachine()
      const place = policyPlace(member.place)
      const problems = () => fleetPolicies(place).flatMap(({ problem }) => problem ?? [])
      await fetchPolicy(clientAt(1), member)
      expect(problems(), what).toEqual([])
      damage(place.folder)
      expect(problems(), what).toHaveLength(1)
      await fetchPolicy(clientAt(1), member)
      expect(problems(), what).toEqual([])
    }
  })

  it('obeys its own fleet alone, whatever another one has left', async () => {
    const other = newKeyPair()
    const publisher = { models, key: other, rootKey: other.publicKey, now: Date.now() }
    const theirs = publication(publisher, [], {})
    const leave: Readonly<Record<string, (folder: string) => void>> = {
      everything: () => {},
      'only metadata': (at) => rmSync(join(at, 'in-force.json')),
      'only bundles': (at) => rmSync(join(at, 'tuf'), { recursive: true }),
    }
    for (const [what, leaves] of Object.entries(leave)) {
      const member = newMachine()
      await fetchPolicy(clientAt(3), member)
      leaves(member.place.policy)
      const moved = { ...member, rootKey: other.publicKey.toString('base64url') }
      await expect(fetchPolicy(clientAt(4), moved), what).rejects.toThrow('not one of the key of the fleet')
      expect((await fetchPolicy(clientOver(theirs), moved)).status, what).toBe('changed')
      const inForce = readInForce(policyPlace(member.place))
      expect([inForce?.rootKey, inForce?.enforced], what).toEqual([moved.rootKey, undefined])
    }
  })

  it('trusts no first root but that of its own fleet', async () => {
    const member = { ...newMachine(), rootKey: newKeyPair().publicKey.toString('base64url') }
    await expect(fetchPolicy(clientAt(0), member)).rejects.toThrow('not one of the key of the fleet')
    expect(readInForce(policyPlace(member.place))).toBeUndefined()
  })
})
