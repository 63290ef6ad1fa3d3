// Peers that are too large for everybody's install: fetched once from npm, and kept in a cache outside the checkout.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { cacheFolder, installPackage } from '../scripts/runtimes.mjs'

/** The path of a file in the package. Undefined, with a line that says why, if it cannot be installed. */
export function peerFile(name, version, file) {
  const folder = cacheFolder('peers', `${name.replace('/', '-')}-${version}`)
  const path = join(folder, 'node_modules', name, file)
  try {
    if (!existsSync(path)) installPackage(`${name}@${version}`, folder)
    return path
  } catch (error) {
    console.error(`SKIPPED: ${name}, which cannot be installed here: ${error.message}`)
    return undefined
  }
}
