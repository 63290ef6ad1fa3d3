// The text of a script on disk.

import { existsSync, statSync } from 'node:fs'
import { readPlain } from '../../files/plain-file.js'
import { realOf } from '../../files/within.js'

const MAX_BYTES = 256 * 1024

/** Undefined if there is no such file. */
export function storedText(path: string): string | { readonly problem: string } | undefined {
  // Most are missing, and an error takes longer than this look.
  if (!existsSync(path)) return undefined
  try {
    const real = realOf(path)
    const found = readPlain(real, MAX_BYTES)
    if ('problem' in found) return statSync(real).isDirectory() ? undefined : found
    return found.text.includes('\0') ? { problem: 'has a NUL' } : found.text
  } catch {
    return { problem: 'cannot be read' }
  }
}

/** Undefined also if it cannot be read. */
export function knownText(path: string): string | undefined {
  const text = storedText(path)
  return typeof text === 'string' ? text : undefined
}
