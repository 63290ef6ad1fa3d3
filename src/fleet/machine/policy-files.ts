// The policy's files on this machine: metadata that was accepted, unpacked bundles, and what is in force.

import { chmodSync, lstatSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { sha256, sha256OfBytes } from '../../core/base/digest.js'
import { isObject } from '../../core/base/json.js'
import { fieldsOf } from '../../files/fields.js'
import {
  bundleFolder,
  bundleList,
  bundlesFolder,
  EXECUTABLE,
  type InForce,
  inForcePath,
  inForceText,
  metadataFolder,
} from '../../files/fleet-policy.js'
import { discard, isDiscarded, makePrivate, namesIn, removeDiscarded } from '../../files/folder.js'
import { lstatIfThere } from '../../files/if-there.js'
import { placeWhole, readIfThere, readPlainBytes } from '../../files/plain-file.js'
import {
  type Bundle,
  listOfFiles,
  MOST_BUNDLE_BYTES,
  POLICY_FILE,
  type PolicyFile,
  policyIn,
} from '../policy/bundle.js'
import type { Accepted } from '../policy/checked-policy.js'
import { POLICY_ROLES } from '../policy/metadata.js'

/*
 * Nothing is synced: after a power cut, a file may be empty. Then its digest is wrong, calls are refused, and the next
 * fetch unpacks it again.
 */

/** Everybody may read a policy, and only its owner may change it. */
const FILE = 0o644
const PROGRAM = 0o755
const FOLDER = 0o755

export function makeFolder(folder: string): void {
  if (makePrivate(folder) !== undefined) chmodSync(folder, FOLDER)
}

export function placeText(path: string, content: string): void {
  placeWhole(path, (draft) => write(draft, content, FILE))
}

/** Whatever the mask of this process says. */
function write(path: string, content: string | Buffer, mode: number): void {
  writeFileSync(path, content, { flag: 'wx', mode: 0o600 })
  chmodSync(path, mode)
}

// ---- metadata -------------------------------------------------------------------------------------------------

const MOST_METADATA_BYTES = 16 * 1024 * 1024

const acceptedPath = (folder: string): string => join(metadataFolder(folder), 'accepted.json')

/** Empty if there is none of the fleet with this first key that can be read. */
export function readAccepted(folder: string, rootKey: string): Accepted {
  const read = readIfThere(acceptedPath(folder), MOST_METADATA_BYTES)
  if (!read || 'problem' in read) return {}
  try {
    const fields = fieldsOf(JSON.parse(read.text), 'the file')
    if (fields.rootKey !== rootKey) return {}
    return Object.fromEntries(
      POLICY_ROLES.flatMap((role) => {
        const content = fields[role]
        return typeof content === 'string' && signedPart(content) ? [[role, content]] : []
      }),
    )
  } catch {
    return {}
  }
}

export function writeAccepted(folder: string, rootKey: string, accepted: Accepted): void {
  makeFolder(metadataFolder(folder))
  placeText(acceptedPath(folder), `${JSON.stringify({ rootKey, ...accepted })}\n`)
}

/** Undefined for a text that is not metadata. */
export function signedPart(
  content: string,
): { readonly version?: unknown; readonly expires?: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(content)
    return isObject(value) && isObject(value.signed) ? value.signed : undefined
  } catch {
    return undefined
  }
}

// ---- bundles --------------------------------------------------------------------------------------------------

/** The digest of its list if the bundle is unpacked here and every file is as it was. */
export function unpackedList(folder: string, digest: string): string | undefined {
  const read = readIfThere(bundleList(folder, digest), MOST_BUNDLE_BYTES)
  if (!read || !('text' in read)) return undefined
  try {
    const { files, programs } = JSON.parse(read.text) as {
      readonly files: Readonly<Record<string, string>>
      readonly programs: readonly string[]
    }
    const root = bundleFolder(folder, digest)
    const isAsUnpacked = (path: string) => isProgram(join(root, path)) === programs.includes(path)
    const isWhole = Object.entries(files).every(
      ([path, wanted]) => digestOf(join(root, path)) === wanted && isAsUnpacked(path),
    )
    return isWhole && countIn(root) === Object.keys(files).length ? sha256(read.text) : undefined
  } catch {
    return undefined
  }
}

/** Of a bundle that is unpacked here, every file as it was. */
export function unpackedPolicy(folder: string, digest: string): PolicyFile {
  const read = readIfThere(join(bundleFolder(folder, digest), POLICY_FILE), MOST_BUNDLE_BYTES)
  if (read && 'problem' in read) throw new Error(`${POLICY_FILE} of the bundle ${digest} ${read.problem}`)
  return policyIn(read?.text)
}

const NOTHING = sha256('')

function digestOf(path: string): string | undefined {
  const read = readPlainBytes(path, MOST_BUNDLE_BYTES)
  if ('bytes' in read) return sha256OfBytes(read.bytes)
  return read.problem === 'is empty' ? NOTHING : undefined
}

function isProgram(path: string): boolean {
  return (lstatSync(path).mode & EXECUTABLE) !== 0
}

function countIn(folder: string): number {
  return namesIn(folder).reduce((sum, name) => {
    const inside = namesIn(join(folder, name))
    return sum + (inside.length === 0 ? 1 : countIn(join(folder, name)))
  }, 0)
}

/** The folder gets its name when it is complete. Returns the digest of its list. */
export function unpack(folder: string, bundle: Bundle): string {
  const root = bundleFolder(folder, bundle.digest)
  makeFolder(folder)
  makeFolder(bundlesFolder(folder))
  if (lstatIfThere(root)) discard(root)
  placeWhole(root, (draft) => {
    const made = new Set<string>()
    const make = (path: string) => {
      if (made.has(path)) return
      if (path !== draft) make(dirname(path))
      mkdirSync(path)
      chmodSync(path, FOLDER)
      made.add(path)
    }
    make(draft)
    for (const { path, executable, bytes } of bundle.files) {
      make(dirname(join(draft, path)))
      write(join(draft, path), bytes, executable ? PROGRAM : FILE)
    }
  })
  const list = listOfFiles(bundle)
  placeText(bundleList(folder, bundle.digest), list)
  return sha256(list)
}

// ---- in force -------------------------------------------------------------------------------------------------

export function putInForce(folder: string, next: InForce): void {
  placeText(inForcePath(folder), inForceText(next))
}

/** What a killed process was about to place. */
const DRAFT = /\.[0-9a-f]+\.tmp$/

/** Removes what a killed process left behind. */
export function sweepLeftovers(folder: string): void {
  for (const one of [folder, metadataFolder(folder), bundlesFolder(folder)])
    for (const name of namesIn(one))
      if (DRAFT.test(name) || isDiscarded(name)) removeDiscarded(join(one, name))
}

/** Removes bundles that neither of these names. */
export function sweepBundles(folder: string, kept: readonly (InForce | undefined)[]): void {
  const digests = new Set(kept.flatMap((one) => [one?.enforced?.digest, one?.shadow?.digest]))
  for (const name of namesIn(bundlesFolder(folder)))
    if (!digests.has(name.replace(/\.json$/, ''))) removeDiscarded(join(bundlesFolder(folder), name))
}
