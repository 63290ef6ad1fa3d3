// The policy, for machines. The gateway serves what people signed, and could not change it unnoticed.

import { count, fieldsOf, listOf, optional, type Reader, text } from '../../files/fields.js'
import { sha256Field } from '../../files/fleet/policy.js'
import { newestPolicy, policyAfter } from '../database/policy.js'
import { GatewayRefusal } from '../gateway-refusal.js'
import type { PolicyRow } from '../policy/metadata.js'
import { type MachineName, ringOf, rolloutIn } from '../policy/rollout.js'
import type { BundleAnswer, PolicyAnswer, PolicyRequest } from '../protocol.js'
import { type Handler, read } from './request.js'

const policyRequest: Reader<PolicyRequest> = (value, where) => {
  const fields = fieldsOf(value, where)
  return {
    root: count(fields.root, `${where}.root`),
    timestamp: count(fields.timestamp, `${where}.timestamp`),
    ...optional('name', fields.name, text, where),
    ...optional('has', fields.has, listOf(sha256Field), where),
  }
}

export const policy: Handler = async (request): Promise<PolicyAnswer> => {
  const { database, bundles: known, machine } = request
  const asked = read(request, policyRequest)
  const { root, timestamp: newest } = await newestPolicy(database)
  // With a new root, another signer may have signed the same version again.
  if (newest === asked.timestamp && root === asked.root) return { time: request.now(), newest, files: [] }
  const files = await policyAfter(database, asked.root)
  const { name, has = [] } = asked
  const digests = name === undefined ? [] : neededBy({ machine, name }, files)
  const bundles: string[] = []
  for (const digest of digests.filter((one) => !has.includes(one))) {
    const found = await known.text(digest)
    if (found !== undefined && found.length <= LONGEST_SENT) bundles.push(found)
  }
  return { time: request.now(), newest, files, ...(bundles.length > 0 && { bundles }) }
}

/** With longer ones, two bundles and the metadata may be more than a machine reads. */
const LONGEST_SENT = 1024 * 1024

/** A guess: the machine checks the roll-out, and asks for what it misses. */
function neededBy(machine: MachineName, files: readonly PolicyRow[]): readonly string[] {
  try {
    const { target = '' } = files.find(({ role }) => role === 'rollout') ?? {}
    const { enforced, shadow } = ringOf(rolloutIn(target), machine)?.ring ?? {}
    return [enforced, shadow].filter((one) => one !== undefined)
  } catch {
    return []
  }
}

export const bundle: Handler = async ({ bundles, query }): Promise<BundleAnswer> => {
  const found = await bundles.text(digestIn(query))
  return found === undefined ? {} : { bundle: found }
}

function digestIn(query: URLSearchParams): string {
  try {
    return sha256Field(query.get('digest'), 'digest')
  } catch {
    throw new GatewayRefusal('INVALID', 'A bundle is named by its digest')
  }
}
