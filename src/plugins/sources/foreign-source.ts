// Sources that a project's lock file may not choose: paths and networks of this machine, and anything that uses the user's keys.

import { lookup } from 'node:dns/promises'
import { isAbsolute } from 'node:path'
import { isBelow, realOf } from '../../files/within.js'
import { isAddress, withoutBrackets } from '../../runners/http/allow-lists.js'
import { classOf, METADATA_NAMES } from '../../runners/http/reach.js'
import type { FetchableSource } from './source.js'

/** The reason, as the end of a sentence. Undefined if the user may be asked about it. Uses no network. */
export function foreignByName(source: FetchableSource, project: string): string | undefined {
  const place = placeOf(source)
  if (place === undefined) return undefined
  if (isAbsolute(place))
    return isBelow(realOf(place), realOf(project)) ? undefined : 'it is outside the project'
  const url = webAddress(place)
  if (!url) return 'it uses ssh, with your keys'
  const inside = insideByName(url)
  return inside && `its host is ${inside}`
}

/** The same for the addresses of its host name, just before a source that the user agreed to is fetched. */
export async function foreignByAddress(source: FetchableSource): Promise<string | undefined> {
  const url = webAddress(placeOf(source) ?? '')
  const inside = url && (await insideByAddress(url))
  return inside && `its host resolves to ${inside}`
}

/** Undefined for npm, which uses the registry that the user chose. */
function placeOf(source: FetchableSource): string | undefined {
  switch (source.kind) {
    case 'folder':
      return source.folder
    case 'archive':
      return source.place
    case 'git':
      return source.url
    case 'npm':
      return undefined
  }
}

function webAddress(text: string): URL | undefined {
  return /^https?:\/\//i.test(text) && URL.canParse(text) ? new URL(text) : undefined
}

// ---- addresses of this machine and its networks: only the user may send requests there ------------------------

/** Names that no public server has. */
const INSIDE = /^[^.]+$|\.(?:localhost|local|internal|lan|home\.arpa|intranet|corp|home)$/

/** Judges the address as it is written. Returns the end of a sentence, or undefined. Uses no network. */
export function insideByName(url: URL): string | undefined {
  const host = hostOf(url)
  if (isAddress(host)) return classOf(host)?.name
  return INSIDE.test(host) || METADATA_NAMES.has(host) ? 'a name of this machine or its network' : undefined
}

/** Judges every address that the name has now. A name without an address cannot be reached anyway. */
export async function insideByAddress(url: URL): Promise<string | undefined> {
  const known = insideByName(url)
  if (known !== undefined || isAddress(hostOf(url))) return known
  const found = await lookup(hostOf(url), { all: true }).catch(() => [])
  const inside = found.flatMap(({ address }) => classOf(address)?.name ?? [])
  return inside[0]
}

/** Drops the dot of the DNS root, which a name may end with. */
function hostOf({ hostname }: URL): string {
  return withoutBrackets(hostname).replace(/\.$/, '').toLowerCase()
}
