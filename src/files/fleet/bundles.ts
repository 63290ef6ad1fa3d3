// The fleet's bundles on this machine: which of them count now, and whether every file is as it was signed.

import { type BigIntStats, readdirSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import { sha256OfBytes } from '../../core/base/digest.js'
import { textOf } from '../../core/base/errors.js'
import { fieldsOf, listOf, text } from '../fields.js'
import { inForcePath, type PolicyPlace } from '../fleet-places.js'
import { exactLstatIfThere, lstatIfThere } from '../if-there.js'
import { noted } from '../looks.js'
import { readPlainBytes } from '../plain-file.js'
import { checkOwned } from '../root-owned.js'
import { isSame, moment, stampOf } from '../stamp.js'
import {
  type BundleInForce,
  bundleFolder,
  bundleList,
  bundlesFolder,
  EXECUTABLE,
  expiryText,
  hasTrusted,
  type InForce,
  readInForce,
  sha256Field,
} from './policy.js'

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
  /** A sentence that people should know, although it counts. */
  readonly warning?: string
  /** It has no hooks, rules or settings here: only decisions of reviewers. */
  readonly isEmpty?: true
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
  const path = inForcePath(place.folder)
  const past = expiryText(inForce)
  const isClosed = past !== undefined && enforced !== undefined && afterExpiry === 'close'
  const lapsed = hasTrusted(inForce) ? 'what reviewers of the fleet trusted no longer counts' : undefined
  const warn = (text: string | undefined) =>
    past === undefined || isClosed || text === undefined ? {} : { warning: text, todo: TO_FETCH }
  const counts = `the company’s policy still counts, but ${past}${lapsed === undefined ? '' : `; ${lapsed}`}`
  return [
    ...(isClosed ? [unreliable(path, past)] : []),
    ...(enforced ? [{ ...checked(place, enforced, 'fleet'), expires, ...warn(counts) }] : []),
    ...(!enforced && lapsed !== undefined
      ? [{ folder: path, source: 'fleet', isEmpty: true, expires, ...warn(`${lapsed}: ${past}`) } as const]
      : []),
    ...(shadow ? [checked(place, shadow, `fleet@${shadow.version}`, 'shadow')] : []),
  ]
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

/** Whether calls are judged by it: a fetch unpacks any other again. */
export function isIntact(place: PolicyPlace, bundle: BundleInForce): boolean {
  try {
    checkBundle(place, bundle)
    return true
  } catch {
    return false
  }
}

/** Throws unless the folder has every file of the list with these bytes, and nothing else. */
function checkBundle({ folder: around, owner }: PolicyPlace, { digest, list }: BundleInForce): void {
  const seen = moment()
  const path = bundleList(around, digest)
  for (const one of [bundlesFolder(around), path]) checkOwned(one, owner)
  const expected = filesIn(path, list)
  const root = bundleFolder(around, digest)
  const folders = [{ path: root, inside: '', stats: ownedStats(root, owner) }]
  let found = 0
  for (let at = folders.pop(); at !== undefined; at = folders.pop()) {
    for (const name of namesOf(at.path, at.stats, seen)) {
      const file = `${at.path}${sep}${name}`
      const inside = `${at.inside}${name}`
      const stats = ownedStats(file, owner)
      if (stats.isDirectory()) {
        folders.push({ path: file, inside: `${inside}/`, stats })
        continue
      }
      const wanted = expected.get(inside)
      if (wanted === undefined) throw new Error(`${file} is not part of what was signed`)
      checkFile(file, stats, wanted, seen)
      found++
    }
  }
  if (found < expected.size) throw new Error(`${root}${sep}${firstMissing(root, expected.keys())} is missing`)
}

function ownedStats(path: string, owner: number): BigIntStats {
  const stats = exactLstatIfThere(path)
  if (!stats) throw new Error(`${path} is missing`)
  checkOwned(path, owner, stats)
  return stats
}

function firstMissing(root: string, paths: Iterable<string>): string | undefined {
  for (const path of paths) if (!lstatIfThere(join(root, path))) return path
  return undefined
}

/** By path: what was read, and what the file or folder was then. Each is read once while it stays as it is. */
const known = new Map<string, { readonly stats: BigIntStats; readonly content: string | readonly string[] }>()
/** A machine has two bundles. */
const MOST_KNOWN = 50_000

/** `seen`: a moment before `stats` were taken. */
function contentOf<T extends string | readonly string[]>(
  path: string,
  stats: BigIntStats,
  seen: bigint,
  read: (path: string) => T,
): T {
  const before = known.get(path)
  if (before && isSame(before.stats, stats)) return before.content as T
  const content = read(path)
  if (stampOf(stats, seen) === '') return content
  if (known.size >= MOST_KNOWN) known.clear()
  known.set(path, { stats, content })
  return content
}

/** A folder without files was not signed: a bundle is made of files. */
function namesOf(folder: string, stats: BigIntStats, seen: bigint): readonly string[] {
  const names = contentOf(folder, stats, seen, (path): readonly string[] => readdirSync(path))
  if (names.length === 0) throw new Error(`${folder} is empty`)
  return names
}

function checkFile(path: string, stats: BigIntStats, { digest, isProgram }: Wanted, seen: bigint): void {
  if (((Number(stats.mode) & EXECUTABLE) !== 0) !== isProgram)
    throw new Error(`${path} was signed ${isProgram ? 'as a program, and is none' : 'not to be a program'}`)
  if (contentOf(path, stats, seen, () => digestOf(path, stats)) !== digest)
    throw new Error(`${path} is not as it was signed`)
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
