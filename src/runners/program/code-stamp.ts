// The stamp of code that a warm process has loaded: changes when a file does, so that nobody gets the answer of old code.

import { type BigIntStats, readdirSync, statSync } from 'node:fs'
import { delimiter, dirname, extname, join, resolve } from 'node:path'
import { callerEnv } from '../../files/caller.js'
import { userHome } from '../../files/homes.js'
import { exactLstatIfThere, exactStatIfThere, statIfThere } from '../../files/if-there.js'
import { relativeImports } from '../../files/relative-imports.js'
import { moment, stampOf } from '../../files/stamp.js'
import { isBelow, realOf } from '../../files/within.js'

/** What a process is started from. */
export interface Code {
  /** Of a plugin or a skill. Everything in it counts. */
  readonly folder?: string | undefined
  /** For scripts among them, files that they import by a relative path count as well, and everything in their own folders that is not hidden. */
  readonly files: readonly string[]
  /** Whether code that imports packages has no stamp. */
  readonly withoutPackages?: boolean
}

const MOST_FILES = 2000
const MOST_IMPORTS = 500
/** Their content is too large to look at. Installing or removing a package changes the folder itself or its lock file. */
const PACKAGES = 'node_modules'
const LOCK = '.package-lock.json'
const LEFT_OUT: ReadonlySet<string> = new Set(['.git', '__pycache__'])
/** Hooks write these beside themselves. */
const WRITTEN = /\.(?:log|pid|lock|tmp|jsonl)$/i
const JAVASCRIPT = /^\.(?:[cm]?[jt]s|[jt]sx)$/
/** Others, such as data and compiled programs, load nothing from their folder. */
const SCRIPT = /^(?:|\.(?:[cm]?[jt]s|[jt]sx|pyw?|rb|pl|php|lua|(?:ba|z|k)?sh|exs?))$/

/** Too many files, or one that changed so recently that it may change again unnoticed. */
class Unknown extends Error {}

/** Looks at each folder once. */
export class CodeStamps {
  readonly #folders = new Map<string, string | undefined>()

  /** Undefined if it cannot be told whether the code changes. */
  of({ folder, files, withoutPackages = false }: Code): string | undefined {
    const around = new Set<string>()
    const isCovered = (path: string) =>
      (folder !== undefined && isBelow(path, folder)) || [...around].some((one) => isSeenFrom(one, path))
    for (const path of files.filter(isOwnScript)) {
      for (const one of [dirname(path), dirname(realOf(path))]) if (!isCovered(one)) around.add(one)
    }
    const others = withImports(files, withoutPackages)?.filter((path) => !isCovered(path))
    const stamps = [
      folder === undefined ? '' : this.#ofFolder(folder, true),
      ...[...around].map((one) => this.#ofFolder(one, false)),
      others && stampOfFiles(others),
    ]
    return stamps.includes(undefined) ? undefined : stamps.join('\n')
  }

  #ofFolder(folder: string, isUnit: boolean): string | undefined {
    const key = `${isUnit} ${folder}`
    const stamp = this.#folders.has(key)
      ? this.#folders.get(key)
      : unlessUnknown(() => stampOfFolder(folder, isUnit))
    this.#folders.set(key, stamp)
    return stamp
  }
}

/** Below the folder, and not hidden there. */
function isSeenFrom(folder: string, path: string): boolean {
  return isBelow(path, folder) && !/(?:^|\/)(?:\.|node_modules\/)/.test(path.slice(folder.length))
}

/** With all that they import by a relative path. Undefined if these are too many, or others might be imported that must not. */
function withImports(files: readonly string[], withoutPackages: boolean): readonly string[] | undefined {
  const all = new Set(files)
  for (const path of all) {
    if (all.size > MOST_IMPORTS) return undefined
    if (!JAVASCRIPT.test(extname(path))) continue
    const { files: imported, isOpen, hasPackages } = relativeImports(path)
    if (withoutPackages && (isOpen || hasPackages)) return undefined
    for (const one of imported) all.add(one)
  }
  return [...all]
}

/** In a folder of programs, the others have nothing to do with it. */
function isOwnScript(path: string): boolean {
  const isInstalled = [callerEnv().PATH, process.env.PATH].some((all) =>
    all?.split(delimiter).includes(dirname(path)),
  )
  return SCRIPT.test(extname(path)) && !isInstalled
}

// ---- stamps -----------------------------------------------------------------------------------------------------

function unlessUnknown(work: () => string): string | undefined {
  try {
    return work()
  } catch {
    return undefined // unknown, or not readable
  }
}

function stampOfFiles(files: readonly string[]): string | undefined {
  const seen = moment()
  return unlessUnknown(() => files.map((path) => stampAt(path, seen)).join('\n'))
}

/** Folders count by the files in them. A script may be in the home folder, where programs keep hidden files that change all the time. */
function stampOfFolder(folder: string, isUnit: boolean): string {
  const seen = moment()
  const stamps: string[] = []
  const folders = new Map([[realOf(folder), folder]])
  for (const [, path] of folders) {
    for (const { name } of readdirSync(path, { withFileTypes: true })) {
      if (LEFT_OUT.has(name) || WRITTEN.test(name) || (!isUnit && name.startsWith('.'))) continue
      if (stamps.length === MOST_FILES) throw new Unknown('too many files')
      const one = join(path, name)
      const isFolder = statIfThere(one)?.isDirectory() === true
      if (!isFolder || name === PACKAGES) stamps.push(stampAt(one, seen))
      else stamps.push(one)
      if (name === PACKAGES) stamps.push(stampAt(join(one, LOCK), seen))
      else if (isFolder && !folders.has(realOf(one))) folders.set(realOf(one), one)
    }
  }
  return stamps.join('\n')
}

/** Of the file itself, and of the one that it links to. */
function stampAt(path: string, seen: bigint): string {
  const own = exactLstatIfThere(path)
  if (!own) return `${path} absent`
  const target = own.isSymbolicLink() ? exactStatIfThere(path) : undefined
  return [path, old(own, seen), ...(target ? [old(target, seen)] : [])].join(' ')
}

function old(stats: BigIntStats, seen: bigint): string {
  const stamp = stampOf(stats, seen)
  if (stamp === '') throw new Unknown('too young')
  return stamp
}

// ---- command lines ----------------------------------------------------------------------------------------------

interface CommandLine {
  readonly file: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
}

/** Of `--require=FILE`, of quoted names, and of a command. */
const PARTS = [/=/, /['"]/, /[\s'"`;&|()<>=]+/] as const

/** The program, and the files that its arguments name, also within a command for a shell. */
export function namedFiles({ file, args, cwd, env }: CommandLine): readonly string[] {
  const words = [file, ...args].flatMap((word) => [word, ...PARTS.flatMap((part) => word.split(part))])
  const named = words
    .map((word) => word.replace(/^(?:~|\$HOME|\$\{HOME\})(?=\/)/, () => env.HOME ?? userHome()))
    .map((word) => resolve(cwd, word))
  const programs = file.includes('/') ? [] : (env.PATH ?? '').split(delimiter).map((one) => join(one, file))
  const program = programs.find(isFile)
  const all = [...named, ...(program === undefined ? [] : [program])]
  return [...new Set(all.filter((path) => !WRITTEN.test(path) && isFile(path)))]
}

/** False for a word that is no path: one with a NUL, or a name that is too long. */
function isFile(path: string): boolean {
  try {
    return statSync(path).isFile()
  } catch {
    return false
  }
}
