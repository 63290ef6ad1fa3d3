// The Merkle tree of RFC 6962 over the leaves of a checkpoint: one root, which changes with any of them.

import { createHash } from 'node:crypto'

/** A leaf can then never be mistaken for a node. */
const LEAF = Buffer.from([0])
const NODE = Buffer.from([1])

function sha256(...parts: readonly Buffer[]): Buffer {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest()
}

/** Section 2.1. */
export function treeRoot(leaves: readonly string[]): Buffer {
  if (leaves.length === 0) return sha256()
  return rootOf(leaves.map((leaf) => sha256(LEAF, Buffer.from(leaf))))
}

function rootOf(hashes: readonly Buffer[]): Buffer {
  const [only] = hashes
  if (hashes.length === 1 && only) return only
  // The largest power of two below the number of leaves.
  const split = 1 << (31 - Math.clz32(hashes.length - 1))
  return sha256(NODE, rootOf(hashes.slice(0, split)), rootOf(hashes.slice(split)))
}
