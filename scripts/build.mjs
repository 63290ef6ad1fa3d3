// npm run build: the program, the library and its types, in dist/.

import { execFile } from 'node:child_process'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const [{ bundle }, { bundleLibrary, ENTRY_NAMES }, { inputsDigest, keepUpToDate }] = await Promise.all([
  import('./bundle.mjs'),
  import('./library.mjs'),
  import('./output.mjs'),
]).catch((error) => {
  if (!/^Cannot find package/.test(error?.message)) throw error
  console.error('The packages that Carabiner is built with are missing: run npm install first.')
  process.exit(1)
})

const here = (/** @type {string} */ path) => fileURLToPath(new URL(`../${path}`, import.meta.url))

const INPUTS = [
  'src',
  'scripts',
  'prebuilt',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'tsconfig.build.json',
]

await keepUpToDate({
  folder: here('dist'),
  work: here('.build'),
  // The id comes last: no service of the old program may have the new id.
  entries: [...ENTRY_NAMES.toReversed().map((name) => `${name}.js`), 'bin/carabiner.js', 'bin/build-id'],
  inputs: () => inputsDigest(INPUTS.map(here), process.version),
  make: async (next) => {
    await Promise.all([declarations(next), bundleLibrary(next), bundle(join(next, 'bin'))])
  },
})

/** @param {string} next */
async function declarations(next) {
  const tsc = here('node_modules/typescript/bin/tsc')
  const args = [tsc, '-p', here('tsconfig.build.json'), '--outDir', next]
  await promisify(execFile)(process.execPath, args).catch((error) => {
    throw new Error(`The types cannot be written\n${error.stdout}${error.stderr}`)
  })
  const used = reachable(ENTRY_NAMES.map((name) => join(next, `${name}.d.ts`)))
  for (const path of readdirSync(next, { recursive: true, encoding: 'utf8' }).map((name) => join(next, name)))
    if (path.endsWith('.d.ts') && !used.has(path)) rmSync(path)
}

/** Declarations that the entries refer to, directly or not. Nothing else can be imported. @param {string[]} paths */
function reachable(paths) {
  const found = new Set(paths)
  for (const path of found) {
    const specifiers = readFileSync(path, 'utf8').matchAll(/\b(?:from|import)[ (]["'](\.[^"']+)\.js["']/g)
    for (const [, specifier] of specifiers) found.add(resolve(path, '..', `${specifier}.d.ts`))
  }
  return found
}
