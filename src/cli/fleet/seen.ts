// What this user has seen of a fleet. An administrator of the database could remove what is newest there, for example the
// list without a person who has left; whoever then signs a change of the older one would bring that person back.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sha256 } from '../../core/base/digest.js'
import { textOf } from '../../core/base/errors.js'
import { visible } from '../../core/base/text.js'
import { type People, peopleIn, type SignedPeople, signed } from '../../files/fleet/people.js'
import { makePrivate } from '../../files/folder.js'
import { dataHome } from '../../files/homes.js'
import { placeWhole, readIfThere } from '../../files/plain-file.js'
import { readAccepted, writeAccepted } from '../../fleet/machine/policy-files.js'
import type { Accepted } from '../../fleet/policy/checked-policy.js'
import type { Output } from '../output.js'
import { shortPath } from '../print/lines.js'

const MOST_BYTES = 1024 * 1024

/** Of the fleet with this first key. */
export function seenFolder(rootKey: Buffer): string {
  return join(dataHome(), 'fleet', 'seen', sha256(encoded(rootKey)).slice(0, 16))
}

const peoplePath = (rootKey: Buffer): string => join(seenFolder(rootKey), 'people.json')
const encoded = (rootKey: Buffer): string => rootKey.toString('base64url')

/** Undefined if there is none that the key of the fleet signed. */
export function seenPeople(rootKey: Buffer): (SignedPeople & Pick<People, 'version'>) | undefined {
  const read = readIfThere(peoplePath(rootKey), MOST_BYTES)
  if (!read || 'problem' in read) return undefined
  try {
    const list = signed(JSON.parse(read.text), 'the file')
    return { ...list, version: peopleIn(list, rootKey).version }
  } catch {
    return undefined
  }
}

export async function rememberPeople(
  output: Output,
  rootKey: Buffer,
  { list, signature }: SignedPeople,
): Promise<void> {
  if (seenPeople(rootKey)?.list === list) return
  await remember(output, rootKey, () => {
    makePrivate(seenFolder(rootKey))
    const content = `${JSON.stringify({ list, signature })}\n`
    placeWhole(peoplePath(rootKey), (draft) => writeFileSync(draft, content, { flag: 'wx', mode: 0o600 }))
  })
}

/** The policy, as a machine keeps what it has accepted. */
export function seenPolicy(rootKey: Buffer): Accepted {
  return readAccepted(seenFolder(rootKey), encoded(rootKey))
}

export async function rememberPolicy(output: Output, rootKey: Buffer, accepted: Accepted): Promise<void> {
  if (JSON.stringify(accepted) === JSON.stringify(seenPolicy(rootKey))) return
  await remember(output, rootKey, () => writeAccepted(seenFolder(rootKey), encoded(rootKey), accepted))
}

/** What was asked for is done all the same. */
async function remember(output: Output, rootKey: Buffer, work: () => void): Promise<void> {
  try {
    work()
  } catch (error) {
    await output.complain([
      `carabiner: what you have seen of the fleet cannot be kept in ${shortPath(seenFolder(rootKey))}: ${visible(textOf(error))}`,
      '  so nobody would notice here if somebody removed it from the database',
    ])
  }
}
