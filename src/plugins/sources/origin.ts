// Where a plugin is updated from: a source as it was asked for, before anybody fetched it.

import type { LockEntry } from '../lock-file.js'

export type Origin = Pick<LockEntry, 'source' | 'kind' | 'ref' | 'path' | 'catalog'>

const PARTS = ['source', 'kind', 'ref', 'path', 'catalog'] as const

/** A catalogue names another version, or another folder of the same repository, whenever it likes: that is its use. */
export function isSameOrigin(a: Origin, b: Origin): boolean {
  const parts = isFoundAlike(a, b) ? (['source', 'kind'] as const) : PARTS
  return parts.every((part) => a[part] === b[part])
}

/** By one name in one catalogue. */
export function isFoundAlike(a: Origin, b: Origin): boolean {
  return a.catalog !== undefined && a.catalog === b.catalog
}
