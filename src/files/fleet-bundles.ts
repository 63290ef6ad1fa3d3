// The fleet's bundles on this machine: which of them count now, and whether every file is as it was signed.

import { type BigIntStats, readdirSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import { sha256OfBytes } from '../core/base/digest.js'
import { textOf } from '../core/base/errors.js'
import { fieldsOf, listOf, text } from './fields.js'
import {
  type BundleInForce,
  bundleFolder,
  bundleList,
  bundlesFolder,
  CLOCK_BEHIND_MS,
  EXECUTABLE,
  type InForce,
  inForcePath,
  type PolicyPlace,
  readInForce,
  sha256Field,
} from './fleet-policy.js'
import { exactLstatIfThere, lstatIfThere } from './if-there.js'
import { noted } from './looks.js'
import { readPlainBytes } from './plain-file.js'
import { checkOwned } from './root-owned.js'
import { moment, stampOf } from './stamp.js'

/** A policy of the company: one that its fleet sent, or a folder of root. */
export interface CompanyPolicy {
  /** Laid out like `.amplifier`. */
  readonly folder: string
  /** For people and records: `company`, `fleet`, or `fleet@8` for version 8 in shadow mode. */
  readonly source: string
  /** Its hooks and rules run in shadow mode, and its settings do not count. */
  readonly mode?: 'shadow'
  /** Its folder is the user's own, who could write anything into it. */
  readonly isUsers?: true
  /** Why nobody can rely on it. Then every tool call is refused. */
  readonly problem?: string
  /** ISO-8601. */
  readonly expires?: string
  /** What people should know about it, although it counts. */
  readonly warning?: string
  /** What to do about the problem or the warning. */
  readonly todo?: string
}

/** The policies of the fleet in this place. Empty if there are none. A policy that cannot be relied on is one, too. */
export function fleetPolicies({ folder, owner }: PolicyPlace): readonly CompanyPolicy[] {
  const found = policiesAt(`${owner} ${folder}`)
  return found === undefined ? [] : JSON.parse(found)
}

/** As JSON. Undefined if the machine has none, which is the usual case. */
const policiesAt = noted((asked): string | undefined => {
  const [, owner = '', folder = ''] = /^(\d+) (.*)$/s.exec(asked) ?? []
  const place = { folder, owner: Number(owner) }
  try {
    const inForce = hasPolicy(place) ? readInForce(place) : undefined
    return inForce && JSON.stringify(policiesIn(place, inForce))
  } catch (error) {
    return JSON.stringify([unreliable(inForcePath(folder), textOf(error))])
  }
})

/** Throws if the policy is there, but not the file that names it. */
function hasPolicy({ folder, owner }: PolicyPlace): boolean {
  if (!isThere(folder)) return false
  checkOwned(dirname(folder), owner)
  if (isThere(inForcePath(folder))) return true
  const bundles = bundlesFolder(folder)
  if (!isThere(bundles) || !readdirSync(bundles).some((name) => DIGEST.test(name))) return false
  throw new Error(`${inForcePath(folder)} is missing`)
}

const DIGEST = /^[0-9a-f]{64}$/

function isThere(path: string): boolean {
  try {
    return lstatIfThere(path) !== undefined
  } catch (error) {
    // A file in the place of a folder holds no policy.
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return false
    throw error
  }
}

function policiesIn(place: PolicyPlace, inForce: InForce): readonly CompanyPolicy[] {
  const { enforced, shadow, expires, afterExpiry } = inForce
  const past = expiryText(inForce)
  const isClosed = past !== undefined && enforced !== undefined && afterExpiry === 'close'
  const about = past === undefined || isClosed ? {} : { warning: past, todo: TO_FETCH }
  return [
    ...(isClosed ? [unreliable(inForcePath(place.folder), past)] : []),
    ...(enforced ? [{ ...checked(place, enforced, 'fleet'), expires, ...about }] : []),
    ...(shadow ? [checked(place, shadow, `fleet@${shadow.version}`, 'shadow')] : []),
  ]
}

/** Undefined while the policy holds. */
function expiryText({ expires, time, signed }: InForce): string | undefined {
  const now = Date.now()
  if (now >= Date.parse(expires)) {
    const since = signed === undefined ? '' : ` than what was signed at ${signed}`
    return `it expired at ${expires}, and nothing newer${since} has come from the fleet`
  }
  if (now >= Date.parse(time) - CLOCK_BEHIND_MS) return undefined
  return `the clock of this machine is behind: the fleet’s gateway had ${time} before`
}

function checked(place: PolicyPlace, bundle: BundleInForce, source: string, mode?: 'shadow'): CompanyPolicy {
  const folder = bundleFolder(place.folder, bundle.digest)
  try {
    checkBundle(place, bundle)
    return { folder, source, ...(mode && { mode }) }
  } catch (error) {
    return unreliable(folder, textOf(error))
  }
}

const TO_FETCH = 'Run carabiner fleet policy fetch, as root where root owns the file.'

function unreliable(folder: string, problem: string): CompanyPolicy {
  return { folder, source: 'fleet', problem, todo: TO_FETCH }
}

// ---- files ----------------------------------------------------------------------------------------------------

const MOST_BYTES = 16 * 1024 * 1024

/** Throws unless the folder has every file of the list with these bytes, and nothing else. */
function checkBundle(place: PolicyPlace, { digest, list }: BundleInForce): void {
  const path = bundleList(place.folder, digest)
  for (const one of [bundlesFolder(place.folder), path]) checkOwned(one, place.owner)
  const expected = filesIn(path, list)
  const folder = bundleFolder(place.folder, digest)
  const missing = new Set(expected.keys())
  checkOwned(folder, place.owner)
  const folders = ['']
  for (let at = folders.pop(); at !== undefined; at = folders.pop()) {
    for (const name of namesOf(join(folder, at))) {
      const inside = at === '' ? name : `${at}/${name}`
      const file = join(folder, at, name)
      const seen = moment()
      const stats = exactLstatIfThere(file)
      if (!stats) throw new Error(`${file} vanished`)
      checkOwned(file, place.owner, stats)
      if (stats.isDirectory()) {
        folders.push(inside)
        continue
      }
      const wanted = expected.get(inside)
      if (wanted === undefined) throw new Error(`${file} is not part of what was signed`)
      checkFile(file, stats, wanted, stampOf(stats, seen))
      missing.delete(inside)
    }
  }
  const [first] = missing
  if (first !== undefined) throw new Error(`${folder}${sep}${first} is missing`)
}

/** A folder without files was not signed: a bundle is made of files. */
function namesOf(folder: string): readonly string[] {
  const names = readdirSync(folder)
  if (names.length === 0) throw new Error(`${folder} is empty`)
  return names
}

/** By path: the stamp and the digest of files that were read before, so that each is read once while it stays as it is. */
const known = new Map<string, string>()
/** A machine has two bundles. */
const MOST_KNOWN = 50_000

function checkFile(path: string, stats: BigIntStats, wanted: Wanted, stamp: string): void {
  const { digest, isProgram } = wanted
  if (((Number(stats.mode) & EXECUTABLE) !== 0) !== isProgram)
    throw new Error(`${path} was signed ${isProgram ? 'as a program, and is none' : 'not to be a program'}`)
  if (stamp !== '' && known.get(path) === `${digest} ${stamp}`) return
  if (digestOf(path, stats) !== digest) throw new Error(`${path} is not as it was signed`)
  if (stamp === '') return
  if (known.size >= MOST_KNOWN) known.clear()
  known.set(path, `${digest} ${stamp}`)
}

function digestOf(path: string, stats: BigIntStats): string {
  if (stats.isFile() && stats.size === 0n) return EMPTY
  const read = readPlainBytes(path, MOST_BYTES)
  if ('problem' in read) throw new Error(`${path} ${read.problem}`)
  return sha256OfBytes(read.bytes)
}

const EMPTY = sha256OfBytes(new Uint8Array())

interface Wanted {
  /** SHA-256 in hex. */
  readonly digest: string
  readonly isProgram: boolean
}

let lists = new Map<string, ReadonlyMap<string, Wanted>>()

/** The files of a list whose bytes have this digest. */
function filesIn(path: string, digest: string): ReadonlyMap<string, Wanted> {
  const read = readPlainBytes(path, MOST_BYTES)
  if ('problem' in read) throw new Error(`${path} ${read.problem}`)
  if (sha256OfBytes(read.bytes) !== digest) throw new Error(`${path} is not as it was fetched`)
  const before = lists.get(digest)
  if (before) return before
  const { files, programs } = fieldsOf(JSON.parse(read.bytes.toString('utf8')), path)
  const all = Object.entries(fieldsOf(files, `${path}: files`))
  const executable = new Set(listOf(text)(programs, `${path}: programs`))
  const made = new Map(
    all.map(([name, one]) => {
      return [name, { digest: sha256Field(one, `${path}: ${name}`), isProgram: executable.has(name) }]
    }),
  )
  lists = new Map([...lists, [digest, made] as const].slice(-4))
  return made
}
