// The files of the fleet on this machine, for whoever judges a call. Without a fleet, this only looks whether there are any;
// what reads them is loaded when there are.

import type { CompanyPolicy } from './fleet/bundles.js'
import type { TrustList } from './fleet/policy.js'
import { inForcePath, mayBeThere, type PolicyPlace, ROOT_PLACE, userPlace } from './fleet-places.js'
import { noted } from './looks.js'

export type FleetReader = typeof import('./fleet/reader.js')

let reader: FleetReader | undefined

/** Await it before somebody is asked, or a command runs. On a machine without a fleet it only looks. */
export function readyForFleet(dataDir?: string): Promise<void> {
  return readyFor([ROOT_PLACE, userPlace(dataDir)].flatMap(({ marker, policy }) => [marker, policy]))
}

/** Await it before hooks are planned, because planning awaits nothing. */
export function readyForPolicies(places: readonly PolicyPlace[] = []): Promise<void> {
  return readyFor(places.map(({ folder }) => folder))
}

async function readyFor(paths: readonly string[]): Promise<void> {
  if (!reader && paths.some(mayBeThere)) await load()
}

async function load(): Promise<void> {
  reader ??= await import('./fleet/reader.js')
}

/** For files that are there. Throws if they came a moment ago: the next call can read them. */
export function fleetReader(): FleetReader {
  if (reader) return reader
  loadSoon()
  throw new Error(`${TOO_SOON}; try again`)
}

/** A failure is told by whoever awaits the next load. */
function loadSoon(): void {
  load().catch(() => {})
}

const TOO_SOON = 'this machine has just joined a fleet, whose files are not read yet'

/** The policies of the fleet in this place. Empty if there are none. A policy that cannot be relied on is one, too. */
export function fleetPolicies(place: PolicyPlace): readonly CompanyPolicy[] {
  if (hasReader('') && reader) return reader.fleetPolicies(place)
  if (!isThere(place.folder)) return []
  loadSoon()
  return [{ folder: inForcePath(place.folder), source: 'fleet', problem: TOO_SOON, todo: 'Try again.' }]
}

const hasReader = noted(() => reader !== undefined)
const isThere = noted(mayBeThere)

const NOTHING: TrustList = { trusted: {}, revoked: {} }

/** What reviewers of the fleet decided. Throws if that cannot be relied on. */
export function fleetTrust(places: readonly PolicyPlace[]): TrustList {
  return reader || places.some(({ folder }) => mayBeThere(folder))
    ? fleetReader().fleetTrust(places)
    : NOTHING
}
