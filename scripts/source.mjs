// Loads a file of src/, bundled on the fly, for scripts and benches that need more than the package exports.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'

const here = (/** @type {string} */ path) => fileURLToPath(new URL(path, import.meta.url))

/**
 * The exports of one file, such as `store/audit/file-audit.ts`. Every call returns new instances, so classes from two
 * calls differ.
 * @template T
 * @param {string} path below src/
 * @returns {Promise<T>}
 */
export async function source(path) {
  // Below node_modules, so that its imports are found.
  const cache = here('../node_modules/.cache')
  mkdirSync(cache, { recursive: true })
  const folder = mkdtempSync(join(cache, 'carabiner-source-'))
  try {
    const outfile = join(folder, 'source.mjs')
    await build({
      entryPoints: [here(`../src/${path}`)],
      outfile,
      bundle: true,
      packages: 'external',
      platform: 'node',
      target: 'node20',
      format: 'esm',
      logLevel: 'warning',
    })
    return await import(pathToFileURL(outfile).href)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
