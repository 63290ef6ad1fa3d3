// A folder of built files that is kept up to date with its inputs, and always holds a working program.

import { createHash } from 'node:crypto'
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, relative, sep } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { source } from './source.mjs'

/** Records the inputs of a folder, and its files. */
const STAMP = 'build.json'
/** Programs write these when they run. They are not part of a build, and the program that reads them checks them. */
const IS_CACHE = /\.cache$/

const RETRY_MS = 100

/**
 * @typedef {object} Output
 * @property {string} folder
 * @property {string} work beside the folder, so that files are renamed and not copied
 * @property {readonly string[]} entries the files that are started or imported by name
 * @property {() => string} inputs a digest of everything that `make` reads
 * @property {(next: string) => Promise<void>} make
 */

/** Rebuilds the folder unless it is up to date. One process at a time. @param {Output} output */
export async function keepUpToDate({ folder, work, entries, inputs, make }) {
  // Standard output belongs to the command that builds first: `npm run bench -- --json`.
  const say = (/** @type {string} */ line) => console.error(line)
  const upToDate = () => say(`${basename(folder)}/ is up to date`)
  if (isUpToDate(folder, inputs())) return upToDate()
  await alone(work, say, async () => {
    const digest = inputs()
    // Another process may have built it in the meantime.
    if (isUpToDate(folder, digest)) return upToDate()
    say(`Building ${basename(folder)}/ …`)
    const next = join(work, 'next')
    rmSync(next, { recursive: true, force: true })
    await make(next)
    stamp(next, digest)
    replaceOutput(next, folder, entries)
  })
}

/**
 * A killed process does not hold up the next one.
 * @param {string} folder @param {(line: string) => void} say @param {() => Promise<void>} run
 */
async function alone(folder, say, run) {
  mkdirSync(folder, { recursive: true })
  /** @type {typeof import('../src/files/mutex.js')} */
  const { Mutex } = await source('files/mutex.ts')
  const mutex = new Mutex(folder)
  for (let told = false; !mutex.tryTake(); told = true) {
    if (!told) say(`Waiting for another build: ${mutex.holder}`)
    await setTimeout(RETRY_MS)
  }
  try {
    await run()
  } finally {
    mutex.release()
  }
}

/** A digest of names and contents. @param {readonly string[]} paths files and folders @param {string} [more] */
export function inputsDigest(paths, more = '') {
  const hash = createHash('sha256').update(more)
  for (const path of paths.flatMap(filesOf)) hash.update(`\0${path}\0`).update(digestOf(path))
  return hash.digest('hex')
}

/** Whether the folder holds exactly the files that were built, unchanged. @param {string} folder @param {string} inputs */
export function isUpToDate(folder, inputs) {
  try {
    const stamp = JSON.parse(readFileSync(join(folder, STAMP), 'utf8'))
    return stamp.inputs === inputs && JSON.stringify(stamp.files) === JSON.stringify(digests(folder))
  } catch {
    return false
  }
}

/** @param {string} folder @param {string} inputs */
export function stamp(folder, inputs) {
  writeFileSync(join(folder, STAMP), `${JSON.stringify({ inputs, files: digests(folder) }, undefined, 2)}\n`)
}

/**
 * Moves the files of `next` into `folder`, one by one, because no system replaces a whole folder at once. If the process
 * is killed on the way, the program still works: files that only others import come first, then entries, then the stamp,
 * and old files are removed last.
 * @param {string} next
 * @param {string} folder
 * @param {readonly string[]} entries
 */
export function replaceOutput(next, folder, entries) {
  const names = namesIn(next)
  const rank = (/** @type {string} */ name) => [...entries, STAMP].indexOf(name)
  for (const name of names.toSorted((a, b) => rank(a) - rank(b))) {
    const target = join(folder, name)
    mkdirSync(dirname(target), { recursive: true })
    if (statSync(target, { throwIfNoEntry: false })?.isDirectory()) rmSync(target, { recursive: true })
    renameSync(join(next, name), target)
  }
  for (const name of namesIn(folder)) if (!names.includes(name)) rmSync(join(folder, name), { force: true })
  removeEmpty(folder)
}

/** @param {string} folder */
function removeEmpty(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true }))
    if (entry.isDirectory()) removeEmpty(join(folder, entry.name))
  if (readdirSync(folder).length === 0) rmdirSync(folder)
}

/** @param {string} folder */
function digests(folder) {
  const names = namesIn(folder).filter((name) => name !== STAMP && !IS_CACHE.test(name))
  return Object.fromEntries(names.map((name) => [name, digestOf(join(folder, name)).toString('hex')]))
}

/** @param {string} path */
function digestOf(path) {
  return createHash('sha256').update(readFileSync(path)).digest()
}

/** @param {string} folder */
function namesIn(folder) {
  return filesOf(folder).map((path) => relative(folder, path).split(sep).join('/'))
}

/** The file itself, or all files below a folder, in order. Empty if nothing is there. @param {string} path @returns {string[]} */
function filesOf(path) {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (!stats) return []
  if (!stats.isDirectory()) return [path]
  return readdirSync(path)
    .sort()
    .flatMap((name) => filesOf(join(path, name)))
}
