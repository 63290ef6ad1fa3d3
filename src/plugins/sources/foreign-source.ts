// What a project's lock file may not lead to by itself: places and networks of this machine, and ways that use the user's keys.

import { isAbsolute } from 'node:path'
import { isBelow, realOf } from '../../files/within.js'
import { insideByAddress, insideByName } from './inside-address.js'
import type { FetchableSource } from './source.js'

/** Why, as the end of a sentence; undefined where somebody may be asked about it. Asks nobody. */
export function foreignByName(source: FetchableSource, project: string): string | undefined {
  const place = placeOf(source)
  if (place === undefined) return undefined
  if (isAbsolute(place))
    return isBelow(realOf(place), realOf(project)) ? undefined : 'it lies outside the project'
  const url = webAddress(place)
  if (!url) return 'it is reached by ssh, with your keys'
  const inside = insideByName(url)
  return inside && `its host is ${inside}`
}

/** The same of the addresses that a name has: for a source that somebody agreed to, just before it is fetched. */
export async function foreignByAddress(source: FetchableSource): Promise<string | undefined> {
  const url = webAddress(placeOf(source) ?? '')
  const inside = url && (await insideByAddress(url))
  return inside && `its host leads to ${inside}`
}

/** Undefined for npm, which asks the registry that the user chose. */
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
