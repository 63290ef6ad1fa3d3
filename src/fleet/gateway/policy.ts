// The policy, for machines. The gateway serves what people signed, and could not change it unnoticed.

import { sha256 } from '../../core/base/digest.js'
import { count, fieldsOf, type Reader } from '../../files/fields.js'
import type { Database } from '../database/connection.js'
import { bundleText, newestPolicy, policyAfter } from '../database/policy.js'
import type { BundleAnswer, PolicyAnswer, PolicyRequest } from '../protocol.js'
import { GatewayRefusal } from './refusal.js'
import { type Handler, read } from './request.js'

const policyRequest: Reader<PolicyRequest> = (value, where) => {
  const fields = fieldsOf(value, where)
  return {
    root: count(fields.root, `${where}.root`),
    timestamp: count(fields.timestamp, `${where}.timestamp`),
  }
}

export const policy: Handler = async (request): Promise<PolicyAnswer> => {
  const { root, timestamp } = read(request, policyRequest)
  const newest = await newestPolicy(request.database)
  const files = newest === timestamp ? [] : await policyAfter(request.database, root)
  return { time: request.now(), newest, files }
}

export const bundle: Handler = async ({ database, query }): Promise<BundleAnswer> => {
  const digest = query.get('digest') ?? ''
  if (!/^[0-9a-f]{64}$/.test(digest)) throw new GatewayRefusal('INVALID', 'A bundle is named by its digest')
  const known = knownBundles(database)
  const text = known.get(digest) ?? (await bundleText(database, digest))
  if (text === undefined) return {}
  if (!known.has(digest) && sha256(text) === digest) known.set(digest, text)
  for (const oldest of known.keys()) if (known.size > MOST_KNOWN) known.delete(oldest)
  return { bundle: text }
}

/** All machines fetch the same few bundles at once. */
const allKnown = new WeakMap<Database, Map<string, string>>()
const MOST_KNOWN = 4

function knownBundles(database: Database): Map<string, string> {
  const known = allKnown.get(database) ?? new Map()
  allKnown.set(database, known)
  return known
}
