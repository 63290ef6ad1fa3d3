// Where a path of a call leads, and whether the guard's own files are there.

import { existsSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { absolutePath, SOMEWHERE } from '../../effects/paths/absolute-path.js'
import { isFolder, linksBy, namesIn, treeOf } from '../../effects/paths/on-disk.js'
import { beginsAt, isAny, isPattern, type Parts, partsOf } from '../../effects/paths/path-overlap.js'
import { isWild, type Word } from '../../effects/script/word.js'
import { backupPrefix, dataHome, RESTORE_SCRIPT, stateHome } from '../../files/homes.js'
import { isBelow, realOf } from '../../files/within.js'
import type { PackContext } from '../pack-hook.js'
import { movedByAgents, OF_AGENTS, OF_GIT, OF_SYSTEM, SHARED } from './protected-paths.js'

export const OF_AGENTS_WHAT = 'hooks and settings of agents'

export interface Hit {
  readonly what: string
  readonly verdict: 'deny' | 'ask'
}

interface Place {
  readonly path: string
  readonly parts: Parts
  /** Whether everything in it is protected. */
  readonly isFolder: boolean
  readonly verdict: Hit['verdict']
  readonly what: string
}

/** Protected paths: relative ones that count below any folder, and absolute ones. */
interface Guarded {
  readonly anywhere: readonly Place[]
  readonly fixed: readonly Place[]
}

export type Depth = boolean | 'names'

export interface PathQuestion {
  /** Absolute, but not normalised, because `..` may lead through a link. */
  readonly path: string
  readonly wild: boolean
  /** Whether everything below it changes too. `names`: only if the path itself says so. */
  readonly deep: Depth
  /** Whether a star also matches a leading dot. */
  readonly dots?: boolean
}

/** The most files of one listing that are compared. */
const MOST_FILES = 5000

const LONGEST = 4096

/** The most questions about one call. Each reads the disk a few times. */
const MOST_QUESTIONS = 4000

/** A call names more files than can be checked in time. */
export class TooMuch extends Error {}

export class Places {
  #questions = 0
  readonly cwd: string
  readonly projectDir: string
  readonly home: string
  readonly #context: PackContext
  #guarded: Guarded | undefined

  constructor(context: PackContext, cwd: string) {
    const { home, projectDir } = context
    this.cwd = cwd
    this.home = home
    this.projectDir = projectDir
    this.#context = context
  }

  /** Built on first use, because most calls name no path. */
  get #places(): Guarded {
    this.#guarded ??= this.#guard()
    return this.#guarded
  }

  #guard(): Guarded {
    const { settings, env } = this.#context
    const { selfProtection } = settings
    const known = [
      ...OF_AGENTS.map((path) => placeOf(path, OF_AGENTS_WHAT, 'deny')),
      ...OF_GIT.map((path) => placeOf(path, "git's commit checks", 'ask')),
    ]
    const own = [dataHome(env), stateHome(env), `${backupPrefix(env)}*`, ...ownProgram()]
    const named = settings.protect.map((path) => this.absolute(path, this.projectDir))
    return {
      // Paths that the settings name stay protected even without self-protection.
      anywhere: selfProtection ? known : [],
      fixed: [
        ...fixed(selfProtection ? own : [], "Carabiner's own files"),
        ...fixed(selfProtection ? movedByAgents(env) : [], OF_AGENTS_WHAT),
        ...fixed(selfProtection ? OF_SYSTEM : [], 'settings that an administrator manages'),
        ...fixed(named, 'a path that your settings protect'),
      ],
    }
  }

  /** Counts one more read of the disk. */
  count(): void {
    if (++this.#questions > MOST_QUESTIONS) throw new TooMuch()
  }

  /** Not normalised, because `link/..` may lead elsewhere. */
  absolute(text: string, folder: string): string {
    return absolutePath(text, folder, this.home)
  }

  /** Whether a folder already exists there, so that a file put there gets a name inside it. */
  isFolder(word: Word, folders: readonly string[]): boolean {
    if (isWild(word)) return false
    return folders.every((folder) => isFolder(this.absolute(word.text, folder)))
  }

  /** Whether a folder is or contains one that must not be deleted. */
  isAbove(path: string): boolean {
    const stays = [this.cwd, this.projectDir, this.home].flatMap(waysOf)
    return waysOf(path).some((way) => stays.some((one) => isBelow(one, way.replace(/(.)\/+$/, '$1'))))
  }

  /** Whether it is or contains the user's home. */
  holdsHome({ text }: Word, folders: readonly string[]): boolean {
    const homes = waysOf(this.home)
    return folders
      .flatMap((folder) => waysOf(this.absolute(text, folder)))
      .some((way) => homes.some((home) => isBelow(home, way.replace(/(.)\/+$/, '$1'))))
  }

  /** Whether a folder is neither inside nor above one where an agent works. */
  isAside(word: Word, folder: string): boolean {
    const path = this.absolute(word.text, folder)
    if (folder === SOMEWHERE || isWild(word) || this.isAbove(path)) return false
    const near = [this.cwd, this.projectDir, this.home].flatMap(waysOf)
    return waysOf(path).every((way) => near.every((one) => !isBelow(way, one)))
  }

  /** Whether a file belongs to the program that runs this guard. */
  isOwnProgram(path: string): boolean {
    return ownProgram().some((folder) => isBelow(path, folder))
  }

  /** Whether it can be the script that brings back what `carabiner remove` removed. */
  isRestoring(word: Word, folders: readonly string[]): boolean {
    if (!isWild(word) && !/restore/i.test(word.text)) return false // most words, without a look at the disk
    const script = `${backupPrefix(this.#context.env)}*/${RESTORE_SCRIPT}`
    const scripts = [script, realOf(script)].map(partsOf)
    return folders
      .flatMap((folder) => waysOf(this.absolute(word.text, folder)))
      .map(partsOf)
      .some((parts) =>
        scripts.some((one) => parts.length === one.length && beginsAt(parts, 0, one, isWild(word), true)),
      )
  }

  /** The protected place that a path is, is in, or (deep) contains. */
  hit(question: PathQuestion): Hit | undefined {
    this.count()
    for (const path of waysOf(question.path)) {
      const hit = this.#hitAt({ ...question, path })
      if (hit) return hit
    }
    if (!question.wild || question.path.includes('**')) return undefined
    for (const path of linksBy(question.path, question.dots ?? false)) {
      const hit = this.hit({ ...question, path, wild: false })
      if (hit) return hit
    }
    return undefined
  }

  /** The same for a word, in each folder that the command may run in. */
  hitBy(word: Word, folders: readonly string[], deep: Depth, dots = false): Hit | undefined {
    for (const folder of folders) {
      const wild = isWild(word) || (folder !== SOMEWHERE && isPattern(folder))
      const text = folder === SOMEWHERE && !/^[/~]/.test(word.text) ? `/${SOMEWHERE}/${word.text}` : word.text
      const hit = this.hit({ path: this.absolute(text, folder), wild, deep, dots })
      if (hit) return hit
    }
    return undefined
  }

  #hitAt({ path, wild, deep, dots = false }: PathQuestion): Hit | undefined {
    const parts = partsOf(path)
    if (wild && parts.includes('**')) return this.#hitOnDisk(parts, deep !== false)
    for (const place of this.#places.anywhere) {
      for (let at = 0; at < parts.length; at++) {
        const isMet =
          isIn(parts, at, place, wild, dots) ||
          (deep !== false && isAbove(path, parts, at, place, wild, dots))
        if (isMet && (!wild || isThere(path, at, place))) return place
      }
    }
    return this.#places.fixed.find(
      (place) => isIn(parts, 0, place, wild, dots) || (deep === true && holds(parts, place, wild, dots)),
    )
  }

  /** For any number of folders, only existing files count, because almost anything could match. */
  #hitOnDisk(parts: Parts, deep: boolean): Hit | undefined {
    const start = parts.slice(0, parts.indexOf('**'))
    const end = parts.slice(parts.indexOf('**') + 1).filter((part) => part !== '**')
    for (const place of [...this.#places.anywhere, ...this.#places.fixed]) {
      for (const file of this.#filesOf(place)) {
        const names = partsOf(file)
        if (!beginsAt(names, 0, start, false, true)) continue
        const last = deep ? names.length : names.length - end.length
        for (let at = deep ? start.length : last; at >= start.length && at <= last; at++) {
          if (beginsAtGlob(end, names, at) && (deep || at + end.length === names.length)) return place
        }
      }
    }
    return undefined
  }

  #filesOf(place: Place): readonly string[] {
    const roots = this.#places.fixed.includes(place)
      ? ['/']
      : [...new Set([this.cwd, this.projectDir, this.home])]
    return roots.flatMap((root) => {
      const path = join(root, place.path)
      if (!path.includes('*')) return existsSync(path) ? [path, ...filesIn(path, treeOf(path))] : []
      return filesIn(dirname(path), namesIn(dirname(path)))
        .filter((file) => isIn(partsOf(file), partsOf(root).length, place, false, true))
        .flatMap((file) => (place.isFolder ? [file, ...filesIn(file, treeOf(file))] : [file]))
    })
  }
}

function placeOf(path: string, what: string, verdict: Hit['verdict']): Place {
  return { path, parts: partsOf(path), isFolder: path.endsWith('/'), what, verdict }
}

/** Both the path itself and the path that its links lead to. */
function fixed(paths: readonly string[], what: string): readonly Place[] {
  const all = new Set(paths.flatMap((path) => [posix.normalize(path), realOf(path)]))
  return [...all].map((path) => placeOf(`${path}/`, what, 'deny'))
}

/** The program that runs this guard, but only if it is installed: in a checkout, nobody could work on it. */
function ownProgram(): readonly string[] {
  const folder = dirname(fileURLToPath(import.meta.url))
  return /[/\\]dist[/\\]bin$/.test(folder) ? [folder] : []
}

/** The path as written, as a shell follows it, and as the kernel follows it. */
function waysOf(path: string): readonly string[] {
  const lexical = posix.normalize(path)
  // No system opens a longer path, but a tool may shorten it first.
  if (path.length > LONGEST) return lexical.length > LONGEST ? [] : [lexical]
  const wild = path.search(/[*?[]|[@!+]\(/)
  const start = wild < 0 ? path : path.slice(0, path.lastIndexOf('/', wild))
  const rest = path.slice(start.length)
  const realWay = (from: string) => posix.normalize((from === '' ? '' : realOf(from)) + rest)
  // `new/../link`: folders on the way may not exist yet.
  const later = path.includes('/../') ? [realWay(posix.normalize(start))] : []
  return [...new Set([lexical, realWay(start), ...later])]
}

function isIn(parts: Parts, at: number, place: Place, wild: boolean, dots: boolean): boolean {
  if (!beginsAt(parts, at, place.parts, wild, dots)) return false
  return place.isFolder || parts.length === at + place.parts.length
}

/** Whether the path is a folder above the place: `.claude` for `.claude/hooks`. */
function isAbove(
  path: string,
  parts: Parts,
  at: number,
  place: Place,
  wild: boolean,
  dots: boolean,
): boolean {
  const names = place.parts.slice(0, parts.length - at)
  if (names.length === place.parts.length || !beginsAt(parts, at, names, wild, dots)) return false
  if (!SHARED.has(names.join('/'))) return true
  const rest = place.parts.slice(names.length)
  return wild || existsSync(join(path, ...rest)) || (rest.at(-1)?.includes('*') ?? false)
}

/** A star only matches existing files. If its folder is not known, only a name that is more than a star counts. */
function isThere(path: string, at: number, place: Place): boolean {
  const names = path.split('/').filter((name) => name !== '' && name !== '.')
  if (!isPattern(names.slice(at, at + place.parts.length).join('/'))) return true
  const folder = names.slice(0, at).join('/')
  if (isPattern(folder)) return !isAny(names[at] as string)
  const own = join('/', folder, place.path)
  return existsSync(own.includes('*') ? dirname(own) : own)
}

function holds(parts: Parts, place: Place, wild: boolean, dots: boolean): boolean {
  return (
    parts.length < place.parts.length && beginsAt(parts, 0, place.parts.slice(0, parts.length), wild, dots)
  )
}

function beginsAtGlob(end: Parts, names: Parts, at: number): boolean {
  return beginsAt(end, 0, names.slice(at, at + end.length), true, true) && names.length >= at + end.length
}

function filesIn(folder: string, names: readonly string[]): readonly string[] {
  return names.slice(0, MOST_FILES).map((name) => join(folder, name))
}
