// Files on the disk that the patterns of a call match, so that a rule about one of them sees the pattern too.

import type { Effect } from './effect.js'
import { filesBy } from './paths/on-disk.js'

/** More files of one pattern are not looked at. */
const MOST_FILES = 5000
/** No system opens a longer path. */
const LONGEST = 4096

/**
 * The effect with the files that its pattern matches now. A search of whole folders (`**`) is not looked up: it is judged
 * like the folder.
 */
export function withMatchedFiles(effect: Effect): readonly Effect[] {
  if (effect.kind !== 'read' || !effect.place.wild || !effect.place.known) return [effect]
  const { place } = effect
  if (place.path.includes('**') || place.path.length > LONGEST) return [effect]
  const files = filesBy(place.path, MOST_FILES)
  if (!files)
    return [effect, { kind: 'unknown', why: 'a pattern matches too many files to look at', by: effect.by }]
  return files.length === 0 ? [effect] : [{ ...effect, place: { ...place, files } }]
}

/** The same effect on each of these files. */
export function onMatchedFiles(effect: Effect): readonly Effect[] {
  if (effect.kind !== 'read' || !effect.place.files) return []
  const { files, ...place } = effect.place
  return files.map((path) => ({ ...effect, place: { ...place, path, wild: false } }))
}
