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
import { acceptedPath, readAccepted, writeAccepted } from '../../fleet/machine/policy-files.js'
import type { Accepted } from '../../fleet/policy/checked-policy.js'
import type { Output } from '../output.js'
import { shortPath } from '../print/lines.js'
import { Refusal } from '../refusal.js'

const MOST_BYTES = 1024 * 1024

/** Of the fleet with this first key. */
export function seenFolder(rootKey: Buffer): string {
  return join(dataHome(), 'fleet', 'seen', sha256(encoded(rootKey)).slice(0, 16))
}

const peoplePath = (rootKey: Buffer): string => join(seenFolder(rootKey), 'people.json')
const encoded = (rootKey: Buffer): string => rootKey.toString('base64url')

/** Undefined if this user has seen none. Throws if what was kept is damaged: then nobody knows what was there. */
export function seenPeople(rootKey: Buffer): (SignedPeople & Pick<People, 'version'>) | undefined {
  const path = peoplePath(rootKey)
  const read = readIfThere(path, MOST_BYTES)
  if (!read) return undefined
  if ('problem' in read) throw damaged(path, read.problem)
  try {
    const list = signed(JSON.parse(read.text), 'the file')
    return { ...list, version: peopleIn(list, rootKey).version }
  } catch (error) {
    throw damaged(path, textOf(error))
  }
}

/** Nobody would notice what was removed from the database, so nothing is signed on top of it. */
function damaged(path: string, why: string): Refusal {
  const file = shortPath(path)
  return new Refusal(
    'FLEET_UNUSABLE',
    `What you have seen of the fleet is kept in ${file}, which cannot be relied on: ${why}`,
    {
      hint: `It shows whether somebody removed what is newest in the database. Bring it back from a backup. If there is none, check with another administrator or with a checkpoint that nothing is missing, then remove ${file}.`,
    },
  )
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

/** The policy, as a machine keeps what it has accepted. Throws if it is damaged. */
export function seenPolicy(rootKey: Buffer): Accepted {
  const folder = seenFolder(rootKey)
  return readAccepted(folder, encoded(rootKey), (why) => {
    throw damaged(acceptedPath(folder), why)
  })
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
