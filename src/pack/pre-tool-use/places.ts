// Where a path of a call leads, and whether the guard's own files are there.

import { existsSync } from 'node:fs'
import { dirname, isAbsolute, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { dataHome, stateHome } from '../../files/homes.js'
import { isBelow, realOf } from '../../files/within.js'
import type { PackContext } from '../pack-hook.js'
import { isFolder, linksBy, namesIn, treeOf } from './on-disk.js'
import { beginsAt, isAny, isPattern, type Parts, partsOf } from './path-overlap.js'
import { OF_AGENTS, OF_GIT, OF_SYSTEM, SHARED } from './protected-paths.js'
import { isWild, type Word } from './word.js'

/** Stands for a folder that only the running shell knows. */
export const SOMEWHERE = '?'

export const OF_AGENTS_WHAT = 'hooks and settings of agents'

export interface Hit {
  readonly what: string
  readonly verdict: 'deny' | 'ask'
}

interface Place {
  readonly path: string
  readonly parts: Parts
  /** All that is in it. */
  readonly isFolder: boolean
  readonly verdict: Hit['verdict']
  readonly what: string
}

/** What is guarded: wherever it stands, and at one place. */
interface Guarded {
  readonly anywhere: readonly Place[]
  readonly fixed: readonly Place[]
}

export type Depth = boolean | 'names'

export interface PathQuestion {
  /** Absolute, as it was written: `..` may lead through a link. */
  readonly path: string
  readonly wild: boolean
  /** Whether what is below it is changed as well; `names`: only where the path itself says that it is one of them. */
  readonly deep: Depth
  /** Whether a star stands for a dot, too. */
  readonly dots?: boolean
}

/** In one listing: more are not compared. */
const MOST_FILES = 5000

const LONGEST = 4096

/** Questions about one call; each takes a few looks at the disk. */
const MOST_QUESTIONS = 4000

/** A call names more than anybody can look at in time. */
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

  /** Made when the first path is asked about: most calls name none. */
  get #places(): Guarded {
    this.#guarded ??= this.#guard()
    return this.#guarded
  }

  #guard(): Guarded {
    const { settings, env } = this.#context
    const { selfProtection } = settings
    const known = [
      ...OF_AGENTS.map((path) => placeOf(path, OF_AGENTS_WHAT, 'deny')),
      ...OF_GIT.map((path) => placeOf(path, 'what git checks commits with', 'ask')),
    ]
    const own = [dataHome(env), stateHome(env), ...ownProgram()]
    const named = settings.protect.map((path) => this.absolute(path, this.projectDir))
    return {
      // Who switches it off still means the paths that the settings name.
      anywhere: selfProtection ? known : [],
      fixed: [
        ...fixed(selfProtection ? own : [], "Carabiner's own files"),
        ...fixed(selfProtection ? OF_SYSTEM : [], 'settings that an administrator manages'),
        ...fixed(named, 'a path that your settings protect'),
      ],
    }
  }

  /** One more look at the disk. */
  count(): void {
    if (++this.#questions > MOST_QUESTIONS) throw new TooMuch()
  }

  /** Not made shorter: `link/..` is not where it seems to be. */
  absolute(text: string, folder: string): string {
    const path = ofProcess(text.startsWith('file://') ? fromUrl(text) : text, folder)
    if (/^~(?:\/|$)/.test(path)) return this.home + path.slice(1)
    return isAbsolute(path) ? path : `${folder}/${path}`
  }

  /** Whether there is a folder already, so that what is put there gets a name in it. */
  isFolder(word: Word, folders: readonly string[]): boolean {
    if (isWild(word)) return false
    return folders.every((folder) => isFolder(this.absolute(word.text, folder)))
  }

  /** Whether a folder is, or holds, one that must stay. */
  isAbove(path: string): boolean {
    const stays = [this.cwd, this.projectDir, this.home].flatMap(waysOf)
    return waysOf(path).some((way) => stays.some((one) => isBelow(one, way.replace(/(.)\/+$/, '$1'))))
  }

  /** Whether it is the user's home, or holds it. */
  holdsHome({ text }: Word, folders: readonly string[]): boolean {
    const homes = waysOf(this.home)
    return folders
      .flatMap((folder) => waysOf(this.absolute(text, folder)))
      .some((way) => homes.some((home) => isBelow(home, way.replace(/(.)\/+$/, '$1'))))
  }

  /** Whether a folder is neither in nor above one where an agent works. */
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

  /** What of the guard a path is, or lies in, or (deep) contains. */
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

  /** By a word, in each folder that a command may be in. */
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

  /** Any number of folders: only what is there counts, for almost everything could be. */
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
      return filesIn(dirname(path), namesIn(dirname(path))).filter((file) =>
        isIn(partsOf(file), partsOf(root).length, place, false, true),
      )
    })
  }
}

function placeOf(path: string, what: string, verdict: Hit['verdict']): Place {
  return { path, parts: partsOf(path), isFolder: path.endsWith('/'), what, verdict }
}

/** By name and by where links lead. */
function fixed(paths: readonly string[], what: string): readonly Place[] {
  const all = new Set(paths.flatMap((path) => [posix.normalize(path), realOf(path)]))
  return [...all].map((path) => placeOf(`${path}/`, what, 'deny'))
}

/** The program that runs this guard; only as it is installed, or nobody could work on it. */
function ownProgram(): readonly string[] {
  const folder = dirname(fileURLToPath(import.meta.url))
  return /[/\\]dist[/\\]bin$/.test(folder) ? [folder] : []
}

/** `/proc/self/cwd` is where the call is, not where the guard is. */
export function ofProcess(path: string, folder: string): string {
  const [, place, rest = ''] =
    /^\/[/.]*proc\/+[^/]+(?:\/+task\/+[^/]+)?\/+(cwd|root)(?=\/|$)(.*)$/s.exec(path) ?? []
  if (place === undefined) return path
  return place === 'cwd' ? folder + rest : rest || '/'
}

function fromUrl(text: string): string {
  try {
    return fileURLToPath(text)
  } catch {
    return text.slice('file://'.length)
  }
}

/** As it is written, as a shell goes it, and as the kernel goes it. */
function waysOf(path: string): readonly string[] {
  const lexical = posix.normalize(path)
  // No system opens a longer one; a tool may make it shorter first.
  if (path.length > LONGEST) return lexical.length > LONGEST ? [] : [lexical]
  const wild = path.search(/[*?[]|[@!+]\(/)
  const start = wild < 0 ? path : path.slice(0, path.lastIndexOf('/', wild))
  const rest = path.slice(start.length)
  const realWay = (from: string) => posix.normalize((from === '' ? '' : realOf(from)) + rest)
  // `new/../link`: what is made on the way is not there yet.
  const later = path.includes('/../') ? [realWay(posix.normalize(start))] : []
  return [...new Set([lexical, realWay(start), ...later])]
}

function isIn(parts: Parts, at: number, place: Place, wild: boolean, dots: boolean): boolean {
  if (!beginsAt(parts, at, place.parts, wild, dots)) return false
  return place.isFolder || parts.length === at + place.parts.length
}

/** The path ends where the place begins: `.claude`, for `.claude/hooks`. */
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

/** A star stands for what is there. Where its own folder is not known, only a name that says more than a star counts. */
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
