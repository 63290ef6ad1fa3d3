// A folder of built files: whether it is what its inputs make, and putting a new one in its place while it is in use.

import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'

/** Says what a folder was made of, and what is in it. */
const STAMP = 'build.json'
/** Programs write these when they run: they belong to no build, and are checked by the program that reads them. */
const IS_CACHE = /\.cache$/

/** A digest of names and contents. @param {readonly string[]} paths files and folders @param {string} [more] */
export function inputsDigest(paths, more = '') {
  const hash = createHash('sha256').update(more)
  for (const path of paths.flatMap(filesOf)) hash.update(`\0${path}\0`).update(digestOf(path))
  return hash.digest('hex')
}

/** Every file is there as it was built, and no other. @param {string} folder @param {string} inputs */
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
 * Moves the files of `next` into `folder`, one by one: no system replaces a whole folder at once. Whoever is killed on
 * the way leaves a program that works. Files that only others import come first, entries after them, then the stamp;
 * old files go last.
 * @param {string} next
 * @param {string} folder
 * @param {readonly string[]} entries the files that are started or imported by name
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

/** The file itself, or all files below a folder, in order. None where there is nothing. @param {string} path @returns {string[]} */
function filesOf(path) {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (!stats) return []
  if (!stats.isDirectory()) return [path]
  return readdirSync(path)
    .sort()
    .flatMap((name) => filesOf(join(path, name)))
}
