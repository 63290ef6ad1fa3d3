// The company's policy on this machine: a folder of root that is laid out like `.amplifier`, and what its fleet sent.

import { lstatSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { textOf } from '../core/base/errors.js'
import type { CompanyPolicy } from './fleet/bundles.js'
import { fleetPolicies } from './fleet-files.js'
import { type PolicyPlace, policyPlace, ROOT_PLACE, userPlace } from './fleet-places.js'
import { lstatIfThere } from './if-there.js'
import { noted } from './looks.js'
import { checkOwned, ROOT_FOLDER } from './root-owned.js'

export type { CompanyPolicy }

export interface CompanyFolder {
  readonly path: string
  /** Default: root. */
  readonly owner?: number
  /** Where the policy of a fleet may be. Every one that is there counts, as the folder does. */
  readonly fleet?: readonly PolicyPlace[]
}

/**
 * Where this machine has its company's policy. The fleet's counts in both places, whatever became of the membership: it
 * must not end because somebody removed the marker.
 */
export function companyFolder(dataDir?: string): CompanyFolder {
  return { path: join(ROOT_FOLDER, 'policy'), fleet: [ROOT_PLACE, userPlace(dataDir)].map(policyPlace) }
}

/** Empty if this machine has none. Those of root come first. */
export function companyPolicies({ path, owner = 0, fleet = [] }: CompanyFolder): readonly CompanyPolicy[] {
  const problem = problemOf(`${owner} ${path}`)
  const own = { folder: path, source: 'company' }
  const roots = fleet.filter((place) => place.owner === owner)
  const users = fleet.filter((place) => place.owner !== owner)
  return [
    ...roots.flatMap(fleetPolicies),
    ...(problem === undefined ? [] : [problem === '' ? own : { ...own, problem, todo: TO_OWN }]),
    ...users.flatMap(fleetPolicies).map((policy) => ({ ...policy, isUsers: true as const })),
  ]
}

/** Those that count. */
export function enforcedIn(policies: readonly CompanyPolicy[]): readonly CompanyPolicy[] {
  return policies.filter(({ mode, isEmpty }) => mode !== 'shadow' && !isEmpty)
}

/** When the next of them expires, in milliseconds since 1970. Infinity if none will. */
export function expiryOf(company: CompanyFolder): number {
  const times = companyPolicies(company).flatMap(({ expires }) => expires ?? [])
  return Math.min(...times.map((time) => Date.parse(time)).filter((time) => time > Date.now()))
}

const TO_OWN = 'As root, give the folder to root, and let nobody else write to it.'

/** A policy is a few files. More would slow down every event. */
const MOST_FILES = 10_000

/** Empty if there is none, undefined if there is no such folder. Every file counts: one that others can write is not the company's. */
const problemOf = noted((asked): string | undefined => {
  const [, owner = '', path = ''] = /^(\d+) (.*)$/s.exec(asked) ?? []
  try {
    if (lstatIfThere(path) === undefined) return undefined
    checkOwned(dirname(path), Number(owner))
    checkAll(Number(owner), path)
    return ''
  } catch (error) {
    return textOf(error)
  }
})

function checkAll(owner: number, folder: string): void {
  const paths = [folder]
  for (let seen = 0; paths.length > 0; seen++) {
    if (seen >= MOST_FILES) throw new Error(`${folder} has more than ${MOST_FILES} files`)
    const path = paths.pop() as string
    checkOwned(path, owner)
    if (lstatSync(path).isDirectory()) for (const name of readdirSync(path)) paths.push(join(path, name))
  }
}
