// Files that interpreters load because of a script's location, and whether they are still as reviewed.

import { dirname, join } from 'node:path'
import { quoted } from '../core/base/text.js'
import { readableNames } from '../files/folder.js'
import { isBelow, realOf } from '../files/within.js'
import { readFile, typeAt } from './file-reading.js'
import type { ImplicitLoad } from './unit.js'

/** A sentence about the first one that is not as reviewed. */
export function loadProblem({ folder, modules, package: says, isModule }: ImplicitLoad, projectDir: string) {
  if (says !== undefined) {
    const now = nearestPackage(folder, projectDir)
    if (saysOf(now, isModule ?? false) === says) return undefined
    const path = quoted(now ?? join(folder, 'package.json'))
    return `${path} is new or was changed since it was trusted, and decides how Node.js runs the scripts below it.`
  }
  const names = new Set(modules)
  const found = modulesIn(folder, names)[0]
  if (found === undefined) return undefined
  return `${quoted(join(folder, found))} appeared since it was trusted, and Python would load it.`
}

// ---- python: the folder of a script comes before the standard modules -------------------------------------------

const MODULE = /^\w+(?:\.pyc?|(?:\.[\w-]+)*\.(?:so|pyd))$/

/** The files and packages with these names. Other folders cannot shadow a module. */
export function modulesIn(folder: string, names: ReadonlySet<string>): readonly string[] {
  return readableNames(folder).filter((name) => {
    if (!names.has(stemOf(name))) return false
    if (MODULE.test(name)) return true
    const starts = name.includes('.') ? [] : ['__init__.py', '__init__.pyc']
    return starts.some((start) => typeAt(join(folder, name, start)) !== undefined)
  })
}

export function stemOf(name: string): string {
  return name.split('.', 1)[0] as string
}

// ---- Node.js: the nearest package.json says what a script is -----------------------------------------------------

const LARGEST_PACKAGE = 1024 * 1024

export function nearestPackage(folder: string, projectDir: string): string | undefined {
  return upTo(projectDir, folder)
    .map((one) => join(one, 'package.json'))
    .find((path) => typeAt(path) !== undefined)
}

/** A package.json without "type" and "imports" counts as none. So does "commonjs" for a CommonJS script. */
export function saysOf(path: string | undefined, isModule: boolean): string {
  if (path === undefined) return '[]'
  const read = readFile(path, { follow: true, limit: LARGEST_PACKAGE })
  if (read === 'untouched' || 'problem' in read) return 'unreadable'
  try {
    const { type, imports } = JSON.parse(read.bytes.toString('utf8')) as Record<string, unknown>
    const kind = type === 'module' || (isModule && type === 'commonjs') ? type : undefined
    const parts = imports === undefined ? [kind] : [kind, imports]
    return kind === undefined && imports === undefined ? '[]' : JSON.stringify(parts)
  } catch {
    return 'unreadable'
  }
}

/** The folder and those above it, up to the project. */
export function upTo(projectDir: string, folder: string): readonly string[] {
  const top = [projectDir, realOf(projectDir)].find((one) => isBelow(folder, one))
  if (top === undefined) return [folder]
  const folders = [folder]
  for (let at = folder; at !== top; at = dirname(at)) folders.push(dirname(at))
  return folders
}
