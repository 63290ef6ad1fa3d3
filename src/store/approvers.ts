// The people who may allow calls on this machine, each with a passkey, in a file that only root can change.

import { join } from 'node:path'
import { textOf } from '../core/base/errors.js'
import { fieldsOf, listOf, type Reader, text } from '../files/fields.js'
import { checkFormat, FIRST_FORMAT } from '../files/format.js'
import { lstatIfThere } from '../files/if-there.js'
import { readPlain, removeIfThere } from '../files/plain-file.js'
import { checkRootOwned, ROOT_FOLDER, writeRootOwned } from '../files/root-owned.js'

export interface Approver {
  /** Goes on record with each answer. */
  readonly name: string
  /** The id of the passkey, base64url. */
  readonly id: string
  /** The public key of the passkey in COSE form, base64url. */
  readonly publicKey: string
}

export const APPROVERS_FILE = join(ROOT_FOLDER, 'approvers.json')
const MAX_BYTES = 1024 * 1024

/**
 * Undefined if there is no list: then people allow by typing. Throws if the list is there and cannot be relied on,
 * because a list that does not count would let anybody allow.
 */
export function readApprovers(path: string = APPROVERS_FILE): readonly Approver[] | undefined {
  if (!lstatIfThere(path)) return undefined
  try {
    checkRootOwned(path)
    const read = readPlain(path, MAX_BYTES)
    if ('problem' in read) throw new Error(read.problem)
    const file = fieldsOf(JSON.parse(read.text), 'the file')
    checkFormat(file.format, path)
    return listOf(approver)(file.approvers, 'approvers')
  } catch (error) {
    throw new Error(
      `the list of people who may allow, ${path}, cannot be used: ${textOf(error)}; no call is allowed until root repairs or removes it`,
      { cause: error },
    )
  }
}

/** Needs the rights of root. Without anybody on it, the list is removed. */
export function writeApprovers(approvers: readonly Approver[], path: string = APPROVERS_FILE): void {
  if (approvers.length === 0) {
    removeIfThere(path)
    return
  }
  writeRootOwned(path, `${JSON.stringify({ format: FIRST_FORMAT, approvers }, null, 2)}\n`)
}

const LONGEST_NAME = 100
const NAME = /^[\p{L}\p{N}][\p{L}\p{N} ._@+-]*$/u
const BASE64URL = /^[\w-]+$/

const name: Reader<string> = (value, where) => {
  const read = text(value, where)
  if (NAME.test(read) && read.length <= LONGEST_NAME) return read
  throw new Error(`${where} must be a name of at most ${LONGEST_NAME} letters, digits and . _ @ + -`)
}

const encoded: Reader<string> = (value, where) => {
  const read = text(value, where)
  if (BASE64URL.test(read)) return read
  throw new Error(`${where} must be base64url`)
}

const approver: Reader<Approver> = (value, where) => {
  const fields = fieldsOf(value, where)
  return {
    name: name(fields.name, `${where}.name`),
    id: encoded(fields.id, `${where}.id`),
    publicKey: encoded(fields.publicKey, `${where}.publicKey`),
  }
}

// ---- from the browser to root ---------------------------------------------------------------------------------

/** One word to type: what the page knows about a new passkey, for the command that root runs. */
export function enrolmentCode(approver: Approver): string {
  return Buffer.from(JSON.stringify(approver)).toString('base64url')
}

/** Throws for anything that `enrolmentCode` did not make. */
export function readEnrolment(code: string): Approver {
  const decoded = Buffer.from(code, 'base64url').toString()
  let value: unknown
  try {
    value = JSON.parse(decoded)
  } catch {
    throw new Error('is not an enrolment code')
  }
  return approver(value, 'the enrolment')
}
