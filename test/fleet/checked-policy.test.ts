// The check of a policy's metadata against tuf-js, which implements the same specification: they must accept the same, except
// for versions that tuf-js forgets, and for signers who are still in delegations and not in the root any more.

import fc from 'fast-check'
import { TrustedMetadataStore } from 'tuf-js/dist/store.js'
import { beforeAll, describe, expect, it } from 'vitest'
import { type KeyPair, newKeyPair } from '../../src/files/ed25519.js'
import { type Accepted, checkedPolicy, verified } from '../../src/fleet/policy/checked-policy.js'
import {
  DELEGATED,
  delegatedSigned,
  POLICY_ROLES,
  type PolicyRole,
  type PolicyRow,
  signedText,
  snapshotSigned,
  timestampSigned,
} from '../../src/fleet/policy/metadata.js'
import { type Change, firstSigners, publication, signTargets } from '../../src/fleet/policy/publication.js'
import { SIGNER_ROLES, type SignerRole } from '../../src/fleet/policy/signers.js'
import { type Models, tufModels } from '../../src/fleet/policy/tuf.js'
import { ROOT } from './fleet-scene.js'

const DAY_MS = 24 * 3_600_000
const [ANN, EVE, SECOND, THIRD] = [newKeyPair(), newKeyPair(), newKeyPair(), newKeyPair()]
const LONG_AGO = Date.now() - 30 * DAY_MS

function signers(...more: readonly KeyPair[]): Change {
  const names = more.map((key, i) => {
    return { name: `signer-${i}`, roles: SIGNER_ROLES, key: key.publicKey.toString('base64url') }
  })
  return { signers: { signers: [...firstSigners(ROOT.publicKey).signers, ...names], threshold: 1 } }
}

const trusting = (digit: string): Change => {
  const decision = { by: 'ann', at: '2026-11-18T00:00:00Z' }
  return { trust: { trusted: { [digit.repeat(64)]: decision }, revoked: {} } }
}

/** In this order: with more signers, one of whom is removed later, some that have expired since, and other keys of the fleet. */
const CHANGES: readonly { readonly change: Change; readonly key?: KeyPair; readonly now?: number }[] = [
  { change: {}, now: LONG_AGO },
  { change: signers(ANN, EVE) },
  { change: trusting('1'), key: EVE },
  { change: {}, key: ANN, now: LONG_AGO },
  { change: trusting('2'), key: EVE },
  { change: signers(ANN) },
  { change: trusting('3'), key: ANN },
  { change: { replaces: ROOT }, key: SECOND },
  { change: { replaces: SECOND }, key: THIRD },
  { change: trusting('4'), key: THIRD },
]

/** The same steps with tuf-js. */
function byTufJs(rows: readonly PolicyRow[], accepted: Accepted): void {
  const content = (role: PolicyRole) => {
    const found = rows.find((row) => row.role === role)
    if (!found) throw new Error(`${role} is missing`)
    return Buffer.from(found.content)
  }
  const roots = rows.filter(({ role }) => role === 'root').sort((a, b) => a.version - b.version)
  const store = new TrustedMetadataStore(Buffer.from(accepted.root ?? roots[0]?.content ?? ''))
  for (const root of roots.filter(({ version }) => version > store.root.signed.version))
    store.updateRoot(Buffer.from(root.content))
  const remember = (role: 'timestamp' | 'snapshot', take: (bytes: Buffer) => unknown) => {
    try {
      if (accepted[role] !== undefined) take(Buffer.from(accepted[role]))
    } catch {
      // It has expired, which does not matter for comparing versions, or a key that was removed signed it.
    }
  }
  remember('timestamp', (bytes) => store.updateTimestamp(bytes))
  const isSame = content('timestamp').toString() === accepted.timestamp
  if (!isSame || !store.timestamp) store.updateTimestamp(content('timestamp'))
  remember('snapshot', (bytes) => store.updateSnapshot(bytes, true))
  store.updateSnapshot(content('snapshot'))
  for (const role of ['targets', ...DELEGATED] as const)
    store.updateDelegatedTargets(content(role), role, role === 'targets' ? 'root' : 'targets')
}

function refusal(check: () => unknown): string | undefined {
  try {
    check()
    return undefined
  } catch (error) {
    return String(error)
  }
}

describe('the check of a policy', () => {
  let models: Models
  /** All rows after each publication. */
  let states: readonly (readonly PolicyRow[])[]

  beforeAll(async () => {
    models = await tufModels()
    const made: (readonly PolicyRow[])[] = []
    for (const { change, key = ROOT, now = Date.now() } of CHANGES) {
      const before = made.at(-1) ?? []
      made.push([...before, ...publication({ models, key, rootKey: ROOT.publicKey, now }, before, change)])
    }
    states = made
  })

  /** The newest of each role in a state, and every root. */
  function newestIn(state: number, role: PolicyRole): readonly PolicyRow[] {
    const rows = (states[state] ?? []).filter((row) => row.role === role)
    return role === 'root' ? rows : rows.slice(-1)
  }
  const servedIn = (state: number) => POLICY_ROLES.flatMap((role) => newestIn(state, role))
  const check = (rows: readonly PolicyRow[], accepted: Accepted, now = Date.now()) =>
    checkedPolicy(models, rows, { rootKey: ROOT.publicKey, accepted, now })

  const state = fc.nat({ max: CHANGES.length - 1 })

  it('accepts what tuf-js accepts, unless it is older, whatever is mixed of old and new files, after whatever was accepted', () => {
    const [seen, mixed] = [new Set<boolean>(), fc.tuple(state, state, state, state, state, state)]
    fc.assert(
      fc.property(fc.option(state), state, mixed, fc.boolean(), (earlier, base, picked, isMixed) => {
        const accepted: Accepted = {}
        // What has expired since was accepted in its time.
        if (earlier !== null)
          refusal(() => check(servedIn(earlier), accepted, earlier % 3 === 0 ? LONG_AGO : Date.now()))
        const rows = POLICY_ROLES.flatMap((role, i) => newestIn(isMixed ? (picked[i] ?? 0) : base, role))
        const expected = refusal(() => byTufJs(rows, accepted))
        const found = refusal(() => check(rows, { ...accepted }))
        seen.add(found === undefined)
        const isOlder = expected === undefined && found?.endsWith('was there before') === true
        const isAccepted = expected === undefined && !isOlder
        expect([found === undefined, found, expected]).toEqual([isAccepted, found, expected])
      }),
      { numRuns: 150 },
    )
    expect(seen).toEqual(new Set([true, false]))
  })

  describe('of a new key of the fleet', () => {
    const publisher = (key: KeyPair) => ({ models, key, rootKey: ROOT.publicKey, now: Date.now() })
    const last = () => states.at(-1) ?? []

    it('follows every change that was missed, one after another', () => {
      const accepted: Accepted = {}
      check(servedIn(1), accepted)
      expect(check(servedIn(CHANGES.length - 1), accepted).rootKey).toEqual(THIRD.publicKey)
      const gap = servedIn(CHANGES.length - 1).filter(({ role, version }) => role !== 'root' || version !== 4)
      expect(() => check(gap, {})).toThrow(/root\.json/)
    })

    it('takes nothing of the old key any more', () => {
      for (const key of [ROOT, SECOND]) {
        expect(() => publication(publisher(key), last(), trusting('5'))).toThrow('belongs to no signer')
        expect(() => publication(publisher(ANN), last(), { replaces: key })).toThrow('the newest one')
      }
    })

    it('wants the signature of the old key, and of the new one', () => {
      const rows = publication(publisher(EVE), last(), { replaces: THIRD })
      const root = rows.find(({ role }) => role === 'root')
      const { signatures, signed } = JSON.parse(root?.content ?? '')
      expect(signatures).toHaveLength(2)
      for (const one of signatures) {
        const content = JSON.stringify({ signatures: [one], signed })
        const forged = rows.map((row) => (row === root ? { ...row, content } : row))
        expect(() => check([...last(), ...forged], {})).toThrow('root.json was signed by 0/1')
      }
      expect(check([...last(), ...rows], {}).rootKey).toEqual(EVE.publicKey)
    })
  })

  it.each(POLICY_ROLES)('names %s.json if it is damaged or missing', (role) => {
    for (const content of ['{', '{}', '[]']) {
      const rows = servedIn(1).map((row) => (row.role === role ? { ...row, content } : row))
      const contents = rows.map((row) => row.content)
      // Whatever names its digest says so first. The oldest roots and `timestamp` are named by nothing.
      const words = role === 'root' || role === 'timestamp' ? 'cannot be read' : 'is not the one'
      expect(contents).toContain(content)
      expect(() => check(rows, {})).toThrow(`${role}.json ${words}`)
    }
    const without = servedIn(1).filter((row) => row.role !== role)
    expect(() => check(without, {})).toThrow(`${role}.json is missing`)
  })

  it('needs as many different keys as the threshold says', () => {
    const two = publication({ models, key: ROOT, rootKey: ROOT.publicKey, now: Date.now() }, [], {})
    const root = JSON.parse(two.find(({ role }) => role === 'root')?.content ?? '')
    expect(Object.keys(root.signed.keys)).toHaveLength(1)
    expect(() =>
      publication({ models, key: ROOT, rootKey: ROOT.publicKey, now: Date.now() }, two, {
        signers: { ...firstSigners(ROOT.publicKey), threshold: 2 },
      }),
    ).toThrow('would have 1 of the 2 signatures')
  })

  describe('of a signer whom the key of the fleet removed, and two others did not', () => {
    const all = (threshold: number, ...names: readonly (readonly [KeyPair, SignerRole])[]): Change => {
      const more = names.map(([key, role], i) => {
        return { name: `s${i}`, roles: [role], key: key.publicKey.toString('base64url') }
      })
      return { signers: { signers: [...firstSigners(ROOT.publicKey).signers, ...more], threshold } }
    }
    const now = Date.now()
    const newest = (rows: readonly PolicyRow[], role: PolicyRole) =>
      rows.filter((row) => row.role === role).sort((a, b) => b.version - a.version)[0] as PolicyRow

    /** `gone` may sign that role until the last change. */
    function removed(gone: KeyPair, role: 'rollout' | 'trust'): readonly PolicyRow[] {
      const publisher = (key: KeyPair) => ({ models, key, rootKey: ROOT.publicKey, now })
      let rows = publication(publisher(ROOT), [], {})
      const then = (change: Change) => {
        rows = [...rows, ...publication(publisher(ROOT), rows, change)]
      }
      const [ann, tess] = [[ANN, 'policy'] as const, [SECOND, 'trust'] as const]
      then(all(1, ann, tess, [gone, role]))
      const state = verified(models, rows, ROOT.publicKey)
      const one = signTargets(publisher(ROOT), { state, signers: state, bundle: undefined }).text
      then({
        targets: signTargets(publisher(ANN), { state, signers: state, bundle: undefined }, one).text,
      })
      then(all(2, ann, tess, [gone, role]))
      then(all(2, ann, tess))
      expect(newest(rows, 'targets').content).toContain(gone.publicKey.toString('hex'))
      return rows
    }

    /** What the removed one signs on top, with a snapshot and a timestamp of somebody who still counts. */
    function forged(rows: readonly PolicyRow[], gone: KeyPair, role: 'rollout' | 'trust') {
      const { target = '', version } = newest(rows, role)
      const own: PolicyRow = {
        ...{ role, version: version + 1, target },
        content: signedText(models, role, delegatedSigned(role, target, version + 1, now), [gone]),
      }
      const others = (['targets', 'rollout', 'trust'] as const).filter((one) => one !== role)
      const named = [own, ...others.map((one) => newest(rows, one))]
      const next = (one: 'snapshot' | 'timestamp') => newest(rows, one).version + 1
      const row = (one: 'snapshot' | 'timestamp', signed: Readonly<Record<string, unknown>>): PolicyRow => {
        return { role: one, version: next(one), content: signedText(models, one, signed, [SECOND]) }
      }
      const snapshot = row('snapshot', snapshotSigned(named, next('snapshot'), now))
      const expires = new Date(now + DAY_MS).toISOString()
      return [own, snapshot, row('timestamp', timestampSigned(snapshot, next('timestamp'), { expires, now }))]
    }

    it.each(DELEGATED)('a %s of theirs is not accepted, although tuf-js accepts it', (role) => {
      const rows = removed(EVE, role)
      const accepted: Accepted = {}
      check(rows, accepted)
      const more = [...rows, ...forged(rows, EVE, role)]
      const served = POLICY_ROLES.flatMap((one) =>
        one === 'root' ? more.filter((row) => row.role === one) : [newest(more, one)],
      )
      expect(refusal(() => byTufJs(served, {}))).toBeUndefined()
      for (const had of [{}, accepted])
        expect(() => check(served, { ...had })).toThrow(`${role}.json was signed by 0/1 of the keys that may`)
    })

    it.each(DELEGATED)('a %s that they signed before sets no lowest version', (role) => {
      const rows = removed(EVE, role)
      const { target = '' } = newest(rows, role)
      const content = signedText(models, role, delegatedSigned(role, target, 2 ** 31, now), [EVE])
      expect(check(rows, { [role]: content }).rows[role].version).toBe(newest(rows, role).version)
    })
  })

  it('knows how new each file was whose signer still counts, also without a snapshot', () => {
    const accepted: Accepted = {}
    check(servedIn(6), accepted)
    delete accepted.timestamp
    delete accepted.snapshot
    expect(() => check(servedIn(5), { ...accepted })).toThrow(
      /its trust\.json has version .* was there before/,
    )
    expect(check(servedIn(6), accepted).rows.trust.content).toBe(accepted.trust)
  })

  it('recovers from a stolen key that signed the highest version there is', () => {
    const last = states.at(-1) ?? []
    const accepted: Accepted = {}
    check(servedIn(4), accepted)
    const { signed, signatures } = JSON.parse(accepted.timestamp ?? '')
    accepted.timestamp = JSON.stringify({ signatures, signed: { ...signed, version: 2 ** 31 } })
    expect(check(last, accepted).rows.timestamp.version).toBe(CHANGES.length)
  })
})
