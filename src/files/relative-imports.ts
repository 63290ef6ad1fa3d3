// The files that a JavaScript file imports by a relative path, and the names that interpreters complete.

import { readFileSync, statSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname, resolve } from 'node:path'
import { realOf } from './within.js'

/** `require('x')`, `import('x')`, `from 'x'`. Has no name if that is only known at run time. */
export const LOADED =
  /(?:\b(?:require(?:\.resolve)?|import)\s*\(\s*|\b(?:import|from)\s*(?=["']))(?:(["'`])([^"'`]*)\1)?|\b(?:require\b(?!\s*[(.])|createRequire\b)/g

const LONGEST_SCRIPT = 8 * 1024 * 1024

export interface Imports {
  /** Absolute paths. A file that does not exist is listed as it is written. */
  readonly files: readonly string[]
  /** Whether it also imports files whose names are not in its text. */
  readonly isOpen: boolean
  /** Whether it imports anything but files, Node.js and us. */
  readonly hasPackages: boolean
}

export function relativeImports(path: string): Imports {
  const text = textOf(path, LONGEST_SCRIPT)
  if (text === undefined) return { files: [], isOpen: false, hasPackages: false }
  const names = [...text.matchAll(LOADED)].map(([, , name = '']) => name)
  const folder = dirname(realOf(path))
  const files = names
    .filter(isRelative)
    .map((name) => resolve(folder, name))
    .map((at) => triedAt(at).find((one) => sizeOf(one) !== undefined) ?? at)
  return { files: [...new Set(files)], isOpen: names.includes(''), hasPackages: names.some(isPackage) }
}

function isRelative(name: string): boolean {
  return /^\.\.?(?:\/|$)/.test(name)
}

function isPackage(name: string): boolean {
  return name !== '' && !isRelative(name) && !isBuiltin(name) && !/^carabiner(?:\/|$)/.test(name)
}

/** The path, and those that Node.js tries if it is not a file. */
export function triedAt(path: string): readonly string[] {
  return [path, ...completionsOf('node', path, path)]
}

// ---- completed names --------------------------------------------------------------------------------------------

const NODE = ['.js', '.json', '.node']
const TYPED = ['.ts', '.tsx', '.mts', '.cts', '.js', '.jsx', '.mjs', '.cjs', '.json']

/** The files that an interpreter tries if `path` is not a file. `at` is where to read package.json. */
export function completionsOf(name: string, path: string, at: string): readonly string[] {
  if (/^python[\d.]*$/.test(name)) return [`${path}/__main__.py`]
  const endings = /^node(?:js)?$/.test(name)
    ? NODE
    : /^(?:bun|tsx|ts-node|deno)$/.test(name)
      ? TYPED
      : undefined
  if (!endings) return []
  const ofFile = (file: string) => [file, ...endings.map((ending) => file + ending)]
  const main = mainOf(`${at}/package.json`)
  return [
    ...ofFile(path).slice(1),
    `${path}/package.json`,
    ...ofFile(`${path}/index`).slice(1),
    ...(main === undefined
      ? []
      : [...ofFile(`${path}/${main}`), ...ofFile(`${path}/${main}/index`).slice(1)]),
  ]
}

const LONGEST_PACKAGE = 1024 * 1024

function mainOf(path: string): string | undefined {
  try {
    const found: unknown = JSON.parse(textOf(path, LONGEST_PACKAGE) ?? '')
    const main = typeof found === 'object' && found !== null && 'main' in found ? found.main : undefined
    return typeof main === 'string' && main !== '' && !main.includes('\0') ? main : undefined
  } catch {
    // the interpreter cannot read it either; if it exists, it is hashed
    return undefined
  }
}

function textOf(path: string, limit: number): string | undefined {
  const size = sizeOf(path)
  try {
    return size === undefined || size > limit ? undefined : readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

/** Undefined if it is not a file. */
function sizeOf(path: string): number | undefined {
  try {
    const stats = statSync(path)
    return stats.isFile() ? stats.size : undefined
  } catch {
    return undefined
  }
}
