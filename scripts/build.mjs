// npm run build: writes dist/, unless it is up to date. dist/ holds a working program all the while, whoever ends this.

import { execFile } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { bundle } from './bundle.mjs'
import { bundleLibrary } from './library.mjs'
import { inputsDigest, isUpToDate, replaceOutput, stamp } from './output.mjs'
import { source } from './source.mjs'

const here = (/** @type {string} */ path) => fileURLToPath(new URL(`../${path}`, import.meta.url))

const INPUTS = ['src', 'scripts', 'package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json']
const ENTRIES = ['core/index.js', 'author/index.js', 'index.js', 'bin/carabiner.js']
const DIST = here('dist')
/** Beside dist/, so that files are renamed and not copied. */
const WORK = here('.build')
const NEXT = here('.build/next')
const RETRY_MS = 100

/** Standard output belongs to the command that builds first: `npm run bench -- --json`. */
const say = (/** @type {string} */ line) => console.error(line)

const digest = () => inputsDigest(INPUTS.map(here), process.version)

if (isUpToDate(DIST, digest())) say('dist/ is up to date')
else await alone(build)

async function build() {
  const inputs = digest()
  // Another build may have been at it meanwhile.
  if (isUpToDate(DIST, inputs)) return say('dist/ is up to date')
  rmSync(NEXT, { recursive: true, force: true })
  await Promise.all([declarations(), bundleLibrary(NEXT), bundle(here('.build/next/bin'))])
  stamp(NEXT, inputs)
  replaceOutput(NEXT, DIST, ENTRIES)
}

async function declarations() {
  const tsc = here('node_modules/typescript/bin/tsc')
  const args = [tsc, '-p', here('tsconfig.build.json'), '--outDir', NEXT]
  await promisify(execFile)(process.execPath, args).catch((error) => {
    throw new Error(`The types cannot be written\n${error.stdout}${error.stderr}`)
  })
  const used = reachable(['index', 'core/index', 'author/index'].map((name) => join(NEXT, `${name}.d.ts`)))
  for (const path of readdirSync(NEXT, { recursive: true, encoding: 'utf8' }).map((name) => join(NEXT, name)))
    if (path.endsWith('.d.ts') && !used.has(path)) rmSync(path)
}

/** Declarations that the entries mention, however far away: nobody can import the others. @param {string[]} paths */
function reachable(paths) {
  const found = new Set(paths)
  for (const path of found) {
    const specifiers = readFileSync(path, 'utf8').matchAll(/\b(?:from|import)[ (]["'](\.[^"']+)\.js["']/g)
    for (const [, specifier] of specifiers) found.add(resolve(path, '..', `${specifier}.d.ts`))
  }
  return found
}

/** One build at a time. A build that was killed does not hold up the next. @param {() => Promise<void>} work */
async function alone(work) {
  mkdirSync(WORK, { recursive: true })
  /** @type {typeof import('../src/files/mutex.js')} */
  const { Mutex } = await source('files/mutex.ts')
  const mutex = new Mutex(WORK)
  for (let told = false; !mutex.tryTake(); told = true) {
    if (!told) say(`Waiting for another build: ${mutex.holder}`)
    await setTimeout(RETRY_MS)
  }
  try {
    await work()
  } finally {
    mutex.release()
  }
}
