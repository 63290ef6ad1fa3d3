// Where a machine's membership of a fleet is written down: in a folder of root, or in the user's own where that cannot be.

import { join } from 'node:path'
import { dataHome } from './homes.js'
import { lstatIfThere } from './if-there.js'
import { ROOT_FOLDER } from './root-owned.js'

export interface FleetPlace {
  readonly marker: string
  readonly key: string
  /** The signed list of people. Root's copy is as old as the last command that root ran. */
  readonly people: string
  /** The folder of the fleet's policy. */
  readonly policy: string
  /** Whether an agent, which has the rights of its user, cannot change the marker. */
  readonly binding: boolean
}

export const ROOT_PLACE: FleetPlace = {
  marker: join(ROOT_FOLDER, 'fleet.json'),
  key: join(ROOT_FOLDER, 'fleet.key'),
  people: join(ROOT_FOLDER, 'fleet-people.json'),
  policy: join(ROOT_FOLDER, 'fleet-policy'),
  binding: true,
}

export function userPlace(dataDir: string = dataHome()): FleetPlace {
  const folder = join(dataDir, 'fleet')
  return {
    marker: join(folder, 'fleet.json'),
    key: join(folder, 'fleet.key'),
    people: join(folder, 'people.json'),
    policy: join(folder, 'policy'),
    binding: false,
  }
}

/** The folder of a policy, and the user whose files it must hold. */
export interface PolicyPlace {
  readonly folder: string
  readonly owner: number
}

/** Root's folder where the membership is binding, otherwise the user's own. */
export function policyPlace({ policy, binding }: Pick<FleetPlace, 'policy' | 'binding'>): PolicyPlace {
  return { folder: policy, owner: binding ? 0 : (process.getuid?.() ?? 0) }
}

/** Names the bundles that count. */
export const inForcePath = (folder: string): string => join(folder, 'in-force.json')

/** The place that counts. Undefined if this machine is in no fleet. A place that nobody may look into counts as one. */
export function fleetPlace(dataDir?: string): FleetPlace | undefined {
  return [ROOT_PLACE, userPlace(dataDir)].find(({ marker }) => mayBeThere(marker))
}

/** Whatever cannot be looked at may be there. */
export function mayBeThere(path: string): boolean {
  try {
    return lstatIfThere(path) !== undefined
  } catch (error) {
    // A file in the place of the folder holds no marker.
    return (error as NodeJS.ErrnoException).code !== 'ENOTDIR'
  }
}
