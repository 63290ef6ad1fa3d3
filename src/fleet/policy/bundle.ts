// A bundle: every file of a policy folder in one JSON text, named by its digest. The same folder always makes the same text.

import { lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sha256, sha256OfBytes } from '../../core/base/digest.js'
import { textOf } from '../../core/base/errors.js'
import { quoted } from '../../core/base/text.js'
import { count, fieldsOf, listOf, oneOf, type Reader, text } from '../../files/fields.js'
import {
  AFTER_EXPIRY,
  type AfterExpiry,
  DEFAULT_EXPIRES_DAYS,
  MOST_EXPIRES_DAYS,
  sha256Field,
} from '../../files/fleet/policy.js'
import { checkFormat, FIRST_FORMAT } from '../../files/format.js'
import { type RolloutPlan, rolloutPlan } from './rollout.js'

export const MOST_BUNDLE_BYTES = 8 * 1024 * 1024
const MOST_FILES = 5000
export const POLICY_FILE = 'policy.json'

export interface BundleFile {
  /** With `/`, relative to the folder. */
  readonly path: string
  readonly executable: boolean
  readonly sha256: string
  readonly bytes: Buffer
}

export interface Bundle {
  readonly text: string
  /** Of `text`. */
  readonly digest: string
  /** In the order of their paths. */
  readonly files: readonly BundleFile[]
  readonly policy: PolicyFile
}

/** `policy.json` of the folder. */
export interface PolicyFile {
  readonly afterExpiry: AfterExpiry
  /** How long machines may rely on it without news of their fleet. */
  readonly expiresDays: number
  /** Agents that are expected to be guarded on every machine. */
  readonly gates: readonly string[]
  readonly plan?: RolloutPlan
}

/** Throws for a folder that holds anything but plain files of a reasonable size. */
export function bundleOf(folder: string): Bundle {
  const files = filesIn(folder).map((path): BundleFile => {
    const full = join(folder, path)
    const bytes = readFileSync(full)
    const executable = (lstatSync(full).mode & 0o100) !== 0
    return { path, executable, sha256: sha256OfBytes(bytes), bytes }
  })
  const listed = files.map(({ path, executable, sha256, bytes }) => {
    return { path, executable, sha256, content: bytes.toString('base64') }
  })
  return bundleIn(`${JSON.stringify({ format: FIRST_FORMAT, files: listed })}\n`)
}

/** Throws for a text that `bundleOf` would not make. */
export function bundleIn(content: string): Bundle {
  if (Buffer.byteLength(content) > MOST_BUNDLE_BYTES)
    throw new Error(`the bundle has more than ${MOST_BUNDLE_BYTES / 1024 / 1024} MiB`)
  const fields = fieldsOf(JSON.parse(content), 'the bundle')
  checkFormat(fields.format, 'the bundle')
  const files = listOf(bundleFile)(fields.files, 'files')
  // A machine takes an empty folder for one whose files are gone, and closes.
  if (files.length === 0) throw new Error('it has no files')
  if (files.length > MOST_FILES) throw new Error(`the bundle has more than ${MOST_FILES} files`)
  checkPaths(files.map(({ path }) => path))
  const file = files.find(({ path }) => path === POLICY_FILE)
  return { text: content, digest: sha256(content), files, policy: policyIn(file?.bytes.toString('utf8')) }
}

/** What a machine writes beside the unpacked bundle, and checks its files against. */
export function listOfFiles({ files }: Pick<Bundle, 'files'>): string {
  const digests = Object.fromEntries(files.map(({ path, sha256 }) => [path, sha256]))
  const programs = files.filter(({ executable }) => executable).map(({ path }) => path)
  return `${JSON.stringify({ format: FIRST_FORMAT, files: digests, programs })}\n`
}

// ---- files ----------------------------------------------------------------------------------------------------

/** Not part of a policy, whoever put them there. */
const LEFT_OUT = new Set(['.git', '.DS_Store'])

function filesIn(folder: string, under = ''): readonly string[] {
  return readdirSync(join(folder, under))
    .filter((name) => !LEFT_OUT.has(name))
    .sort()
    .flatMap((name) => {
      const path = under === '' ? name : `${under}/${name}`
      const stats = lstatSync(join(folder, path))
      if (stats.isDirectory()) return filesIn(folder, path)
      if (stats.isFile()) return [path]
      throw new Error(`${join(folder, path)} is not a plain file: a bundle holds no links and no devices`)
    })
    .sort()
}

const bundleFile: Reader<BundleFile> = (value, where) => {
  const fields = fieldsOf(value, where)
  const path = text(fields.path, `${where}.path`)
  const bytes = Buffer.from(text(fields.content, `${where}.content`), 'base64')
  const digest = sha256Field(fields.sha256, `${where}.sha256`)
  if (sha256OfBytes(bytes) !== digest) throw new Error(`${quoted(path)} in the bundle has another digest`)
  return { path, executable: fields.executable === true, sha256: digest, bytes }
}

const LONGEST_PATH = 500
const LONGEST_NAME = 200

/** Also names that only some file systems tell apart. */
function checkPaths(paths: readonly string[]): void {
  const taken = new Map<string, 'file' | 'folder'>()
  for (const path of paths) {
    const parts = path.split('/')
    if (path.length > LONGEST_PATH || !parts.every(isName))
      throw new Error(`${quoted(path)} is not the path of a file in a bundle`)
    const folded = parts.map((part) => part.normalize('NFC').toLowerCase())
    for (let length = 1; length <= folded.length; length++) {
      const name = folded.slice(0, length).join('/')
      const kind = length === folded.length ? 'file' : 'folder'
      const before = taken.get(name)
      if (before !== undefined && (before === 'file' || kind === 'file'))
        throw new Error(`${quoted(path)} is in the bundle twice, or is a file and a folder`)
      taken.set(name, kind)
    }
  }
}

function isName(part: string): boolean {
  return (
    part !== '' &&
    part !== '.' &&
    part !== '..' &&
    part.length <= LONGEST_NAME &&
    /^[^\p{Cc}\\:]+$/u.test(part)
  )
}

// ---- policy.json ----------------------------------------------------------------------------------------------

const days: Reader<number> = (value, where) => {
  const read = count(value, where)
  if (read >= 1 && read <= MOST_EXPIRES_DAYS) return read
  throw new Error(`is not valid: ${where} must be from 1 to ${MOST_EXPIRES_DAYS}`)
}

const KEYS = ['after_expiry', 'expires_days', 'gates', 'groups', 'rings'] as const

/** `undefined`: the folder has none. */
export function policyIn(content: string | undefined): PolicyFile {
  if (content === undefined) return { afterExpiry: 'close', expiresDays: DEFAULT_EXPIRES_DAYS, gates: [] }
  try {
    const fields = fieldsOf(JSON.parse(content), POLICY_FILE)
    const unknown = Object.keys(fields).find((key) => !KEYS.some((known) => known === key))
    if (unknown !== undefined)
      throw new Error(`${quoted(unknown)} is not one of its keys: ${KEYS.join(', ')}`)
    const { after_expiry = 'close', expires_days = DEFAULT_EXPIRES_DAYS, gates = [], groups, rings } = fields
    return {
      afterExpiry: oneOf(...AFTER_EXPIRY)(after_expiry, 'after_expiry'),
      expiresDays: days(expires_days, 'expires_days'),
      gates: listOf(text)(gates, 'gates'),
      ...((groups !== undefined || rings !== undefined) && {
        plan: rolloutPlan({ groups, rings }, POLICY_FILE),
      }),
    }
  } catch (error) {
    throw new Error(`${POLICY_FILE} cannot be used: ${textOf(error)}`)
  }
}
