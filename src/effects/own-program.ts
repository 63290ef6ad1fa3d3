// Where Carabiner itself is installed.

import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The program that reads this, but only if it is installed: in a checkout, nobody could work on it. */
export function ownProgram(): readonly string[] {
  const folder = dirname(fileURLToPath(import.meta.url))
  return /[/\\]dist[/\\]bin$/.test(folder) ? [folder] : []
}
