// A fleet with a policy for tests: publishes as the command line does, and machines that fetch.

import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type KeyPair, newKeyPair } from '../../src/files/ed25519.js'
import { userPlace } from '../../src/files/fleet-places.js'
import type { Database } from '../../src/fleet/database/connection.js'
import { addPolicy, policyAfter } from '../../src/fleet/database/policy.js'
import type { Member } from '../../src/fleet/machine/membership.js'
import { type Bundle, bundleOf } from '../../src/fleet/policy/bundle.js'
import { verified } from '../../src/fleet/policy/checked-policy.js'
import {
  type Change,
  firstSigners,
  hasTargets,
  publication,
  rolloutOf,
  signTargets,
} from '../../src/fleet/policy/publication.js'
import { planned, published } from '../../src/fleet/policy/rollout.js'
import { tufModels } from '../../src/fleet/policy/tuf.js'
import { type Fleet, joined, ORG, ROOT } from './fleet-scene.js'
import { run } from './postgres.js'

/** For benches, which load this file by itself: machines of another copy would have another key. */
export { joined, ROOT }

/** A bundle of these files. */
export function madeBundle(files: Readonly<Record<string, string>>): Bundle {
  const folder = mkdtempSync(join(tmpdir(), 'policy-'))
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content, { mode: path.endsWith('.sh') ? 0o755 : 0o644 })
  }
  return bundleOf(folder)
}

/** A small policy that says its number. */
export function numbered(n: number, more: Readonly<Record<string, string>> = {}): Bundle {
  return madeBundle({ 'rules.json': JSON.stringify({ rules: [], description: `policy ${n}` }), ...more })
}

export interface PublishOptions {
  readonly key?: KeyPair
  readonly keys?: readonly KeyPair[]
  readonly now?: number
  readonly ring?: string
  readonly shadow?: boolean
}

export async function publish(
  database: Database,
  bundle: Bundle,
  { key = ROOT, keys = [key], now = Date.now(), ring, shadow = false }: PublishOptions = {},
): Promise<void> {
  const models = await tufModels()
  const rows = await policyAfter(database)
  const state = rows.length === 0 ? undefined : verified(models, rows, ROOT.publicKey)
  const proposal = { state, signers: state ?? firstSigners(ROOT.publicKey), bundle }
  let targets: string | undefined
  if (!hasTargets(proposal))
    for (const one of keys)
      targets = signTargets({ models, key: one, rootKey: ROOT.publicKey, now }, proposal, targets).text
  const plan = bundle.policy.plan
  const before = plan ? planned(rolloutOf(state), plan) : rolloutOf(state)
  const rollout = published(before, bundle.digest, ring === undefined ? {} : { ring }, shadow)
  await change(database, { ...(targets !== undefined && { targets }), rollout }, { key, now, bundle })
}

export async function change(
  database: Database,
  what: Change,
  { key = ROOT, now = Date.now(), bundle }: { key?: KeyPair; now?: number; bundle?: Bundle } = {},
): Promise<void> {
  const models = await tufModels()
  const before = await policyAfter(database)
  const rows = publication({ models, key, rootKey: ROOT.publicKey, now }, before, what)
  if (!(await addPolicy(database, { rows, ...(bundle && { bundle }) })))
    throw new Error('published meanwhile')
}

export interface Machines {
  /** The gateway, and where the homes are. */
  readonly url: string
  readonly folder: string
  readonly count: number
  readonly nameOf?: (i: number) => string
}

/** Puts many machines on the list at once, without tokens. */
export async function addedMembers(
  fleet: Fleet,
  { url, folder, count, nameOf = (i) => `machine-${i}` }: Machines,
): Promise<readonly Member[]> {
  const keys = Array.from({ length: count }, () => newKeyPair())
  const values = keys.map((key, i) => `('${nameOf(i)}', '\\x${key.publicKey.toString('hex')}'::bytea)`)
  const rows = await run(fleet.owner, [
    `insert into fleet.machine (org, name, key, token) select o.org, v.name, v.key, 't' from (values ${values.join(',')}) v(name, key), fleet.org o where o.name = '${ORG}' returning machine, name`,
  ])
  const ids = new Map(rows.map(({ machine, name }) => [String(name), String(machine)]))
  const rootKey = ROOT.publicKey.toString('base64url')
  return keys.map((key, i): Member => {
    const name = nameOf(i)
    return {
      url,
      machine: ids.get(name) ?? '',
      name,
      rootKey,
      key,
      place: userPlace(join(folder, String(i))),
    }
  })
}

/** Everybody is in the first ring. */
export const ONE_RING = { 'policy.json': JSON.stringify({ rings: [{ name: '1' }] }) }
