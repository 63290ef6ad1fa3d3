// Whether an address leads to this machine, or into its networks: where only the user may send a request.

import { lookup } from 'node:dns/promises'
import { BlockList } from 'node:net'
import { Addresses, METADATA_NAMES } from '../../runners/http/addresses.js'
import { isAddress, withoutBrackets } from '../../runners/http/private-hosts.js'

/** Names that no public server answers to. */
const INSIDE = /^[^.]+$|\.(?:localhost|local|internal|lan|home\.arpa|intranet|corp|home)$/

const addresses = new Addresses(() => new BlockList())

/** By how it is written, as the end of a sentence; undefined where that says nothing against it. Asks nobody. */
export function insideByName(url: URL): string | undefined {
  const host = hostOf(url)
  if (isAddress(host)) return addresses.classOf(host)?.name
  return INSIDE.test(host) || METADATA_NAMES.has(host) ? 'a name of this machine or its network' : undefined
}

/** The same of every address that its name has now. One that has none is not reached anyway. */
export async function insideByAddress(url: URL): Promise<string | undefined> {
  const known = insideByName(url)
  if (known !== undefined || isAddress(hostOf(url))) return known
  const found = await lookup(hostOf(url), { all: true }).catch(() => [])
  const inside = found.flatMap(({ address }) => addresses.classOf(address)?.name ?? [])
  return inside[0]
}

/** A name may be written with the dot of the root behind it. */
function hostOf({ hostname }: URL): string {
  return withoutBrackets(hostname).replace(/\.$/, '').toLowerCase()
}
