// The policy's files on this machine: metadata that was accepted, unpacked bundles, and what is in force.

import { chmodSync, lstatSync, mkdirSync, type Stats, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { sha256 } from '../../core/base/digest.js'
import { textOf } from '../../core/base/errors.js'
import { isObject } from '../../core/base/json.js'
import { timestamp } from '../../core/base/time.js'
import { fieldsOf } from '../../files/fields.js'
import {
  bundleFolder,
  bundleList,
  bundlesFolder,
  fetchedPath,
  type InForce,
  inForceText,
  metadataFolder,
} from '../../files/fleet/policy.js'
import { inForcePath } from '../../files/fleet-places.js'
import { discard, isDiscarded, makePrivate, namesIn, removeDiscarded } from '../../files/folder.js'
import { lstatIfThere } from '../../files/if-there.js'
import { placeWhole, readIfThere } from '../../files/plain-file.js'
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
const RIGHTS = 0o777

/** One that somebody else owns is replaced, and so is a link: its content could be anything. */
export function makeFolder(folder: string): void {
  const found = lstatIfThere(folder)
  if (found && !(found.isDirectory() && isOwn(found))) discard(folder)
  makePrivate(folder)
  if ((lstatSync(folder).mode & RIGHTS) !== FOLDER) chmodSync(folder, FOLDER)
}

function isOwn({ uid }: Stats): boolean {
  const { geteuid } = process
  return geteuid === undefined || geteuid() === uid
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

export const acceptedPath = (folder: string): string => join(metadataFolder(folder), 'accepted.json')

/** What there is of the fleet with this first key, and can be read. `onDamage` is told why anything else does not count. */
export function readAccepted(
  folder: string,
  rootKey: string,
  onDamage: (why: string) => void = () => {},
): Accepted {
  const read = readIfThere(acceptedPath(folder), MOST_METADATA_BYTES)
  if (!read) return {}
  const fields = 'problem' in read ? read.problem : fieldsOfFleet(read.text, rootKey)
  if (typeof fields === 'string') {
    onDamage(fields)
    return {}
  }
  return Object.fromEntries(
    POLICY_ROLES.flatMap((role) => {
      const content = fields[role]
      if (typeof content === 'string' && signedPart(content)) return [[role, content]]
      // The root is accepted first.
      if (content !== undefined || role === 'root') onDamage(`has no valid ${role}.json`)
      return []
    }),
  )
}

/** Or why they do not count. */
function fieldsOfFleet(text: string, rootKey: string): ReturnType<typeof fieldsOf> | string {
  try {
    const fields = fieldsOf(JSON.parse(text), 'the file')
    return fields.rootKey === rootKey ? fields : 'is of another fleet'
  } catch (error) {
    return textOf(error)
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

/** Of a bundle that is unpacked here, every file as it was. */
export function unpackedPolicy(folder: string, digest: string): PolicyFile {
  const read = readIfThere(join(bundleFolder(folder, digest), POLICY_FILE), MOST_BUNDLE_BYTES)
  if (read && 'problem' in read) throw new Error(`${POLICY_FILE} of the bundle ${digest} ${read.problem}`)
  return policyIn(read?.text)
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

/** Says that root has asked the fleet for its policy, and got what there is. */
export function noteFetched(folder: string): void {
  makeFolder(folder)
  placeText(fetchedPath(folder), `${timestamp()}\n`)
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
