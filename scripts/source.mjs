// Loads a file of src/, bundled on the fly, for scripts and benches that need more than the package exports.

import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'

const here = (/** @type {string} */ path) => fileURLToPath(new URL(path, import.meta.url))

/** SDKs are not installed here. Whatever an adapter takes from one is an empty class, so that its tables can be read. */
const missingPackages = {
  name: 'missing-packages',
  setup(/** @type {import('esbuild').PluginBuild} */ build) {
    build.onResolve({ filter: /^[^./]/ }, ({ path, kind }) => {
      if (kind === 'entry-point' || isBuiltin(path) || isInstalled(path)) return undefined
      return { path, namespace: 'missing' }
    })
    build.onLoad({ filter: /.*/, namespace: 'missing' }, () => ({
      // As the prototype, because esbuild copies the module's own names.
      contents: 'module.exports = Object.create(new Proxy({}, { get: () => class {} }))',
    }))
  },
}

function isInstalled(/** @type {string} */ path) {
  const name = path.split('/').slice(0, path.startsWith('@') ? 2 : 1)
  return existsSync(here(`../node_modules/${name.join('/')}`))
}

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
      // That files have no side effects is true of the library, not of tests.
      ignoreAnnotations: true,
      plugins: [missingPackages],
    })
    return await import(pathToFileURL(outfile).href)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
