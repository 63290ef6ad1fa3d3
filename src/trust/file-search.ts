// Searches the disk, within limits, for the files that commands name: files outside the copy, and paths with no file yet.

import { dirname, posix } from 'node:path'
import { quoted } from '../core/base/text.js'
import type { SimpleCommand } from '../effects/shell/simple-command.js'
import { callerEnv } from '../files/caller.js'
import { userHome } from '../files/homes.js'
import { completionsOf } from '../files/relative-imports.js'
import { isBelow, realOf } from '../files/within.js'
import { firstBytes, pathAt, tidy, typeAt } from './file-reading.js'
import { type HookReading, type Lead, readable, unmarked, type Variable } from './hook-reading.js'
import { isReader, isStream, SYSTEM } from './known-programs.js'
import { shebangOf } from './program-search.js'
import type { Unit } from './unit.js'

export interface Wanted {
  /** May contain marks; see hook-reading.ts. */
  readonly word: string
  /** True if it probably means a file. Then it counts even if no such file exists. */
  readonly isExpected: boolean
  /** True for the program or script itself. The reviewer is told if it is missing. */
  readonly isScript?: boolean
  /** The interpreter that completes the name if no such file exists. */
  readonly by?: string
}

/** Findings for the person who reviews. */
export interface Remarks {
  note(text: string): void
  /** The end of a sentence. */
  unseen(what: string): void
}

interface Origin {
  readonly isCopied: boolean
  readonly isExpected: boolean
  readonly from: string | undefined
}

/** These folders hold no lasting files. */
const NEVER = ['/proc', '/sys', '/dev/fd', '/dev/stdin', '/dev/stdout', '/dev/stderr']

/** Limits for a whole unit. Absent paths are checked each time before a hook runs. */
const MOST_LOOKS = 8000
const MOST_ABSENT = 1000
const TOO_MUCH = 'it names more files, in more folders, than can be checked'

export class FileSearch {
  readonly files = new Set<string>()
  readonly absent = new Set<string>()
  /** Scripts among the absent files. */
  readonly lacking = new Set<string>()
  readonly words = new Set<string>()
  /** The words for scripts that a command starts. */
  readonly started = new Set<string>()
  readonly interpreters = new Map<string, string>()
  readonly #unit: Unit
  /** The unit's real path. */
  readonly #own: string
  readonly #system: ReadonlySet<string>
  readonly #variables: readonly Variable[]
  readonly #peeked = new Set<string>()
  #looks = 0

  constructor(unit: Unit, systemFolders: readonly string[], variables: readonly Variable[]) {
    this.#unit = unit
    this.#own = realOf(unit.path)
    this.#system = new Set([...SYSTEM, ...systemFolders])
    this.#variables = variables
  }

  /** Looks in every folder that the command may be in. */
  look({ word, isExpected, isScript, by }: Wanted, folders: readonly WorkFolder[], remarks: Remarks): void {
    const { text, variable } = unmarked(word, this.#variables)
    if (text === '' || text.includes('\0')) return
    const path = expandedHome(text).replace(/^(?:~\+|\$PWD|\$\{PWD\})\//, '')
    const isCopied = variable?.isCopied ?? false
    const places = path.startsWith('/') ? [ROOT] : folders
    for (const folder of places) {
      if (this.#isExhausted(remarks)) return
      const find = (one: string) => {
        const from = folder.from === undefined ? undefined : tidy(`${folder.from}/${one}`)
        const origin = {
          isCopied: folder === ROOT ? isCopied : folder.isCopied,
          isExpected: isExpected && folder.isEntered,
          from,
        }
        const type = this.#at(pathAt(folder.path, one), origin, folders, remarks)
        if (isScript && type === 'file' && from !== undefined) this.started.add(from)
        return type
      }
      const type = find(path)
      if (isScript && type === 'other' && !isStream(path))
        remarks.unseen(`${quoted(text)} is not a regular file, and may hold the output of another command`)
      if (by === undefined) continue
      const at = pathAt(folder.path, path)
      if (type === 'file') this.interpreters.set(at, by)
      else for (const one of completionsOf(by, path, at)) find(one)
    }
    if (isScript && isExpected) this.#noteLacking(path, places)
  }

  /** Reports a missing script once, with its path in the first folder. */
  #noteLacking(path: string, places: readonly WorkFolder[]): void {
    const [first] = places.filter(({ isEntered }) => isEntered)
    const isThere = places.some((folder) => typeAt(pathAt(folder.path, path)) !== undefined)
    const at = pathAt(first?.path ?? '/', path)
    if (first && !isThere && this.absent.has(at)) this.lacking.add(at)
  }

  #isExhausted(remarks: Remarks): boolean {
    if (this.#looks <= MOST_LOOKS) return false
    remarks.unseen(TOO_MUCH)
    return true
  }

  #at(
    path: string,
    origin: Origin,
    folders: readonly WorkFolder[],
    remarks: Remarks,
  ): ReturnType<typeof typeAt> {
    const { kind, path: own } = this.#unit
    this.#looks++
    if (this.#isNever(path, remarks)) return undefined
    const type = typeAt(path)
    const isOwn =
      kind === 'folder' && (type === 'file' || origin.isCopied) && isBelow(realOf(path), this.#own)
    if (kind === 'folder' && origin.isCopied) {
      if (type === 'file' && isOwn) this.#interpreter(path, folders, remarks)
      else if (type === 'file') {
        remarks.note(`It names ${quoted(path)}, which is outside the folder, so the copy will not find it.`)
      }
    } else if (type === 'file' && !this.#system.has(dirname(path)) && !(kind === 'file' && path === own)) {
      this.files.add(path)
      if (origin.from !== undefined) this.words.add(origin.from)
      if (isOwn) {
        remarks.note(`It names ${quoted(path)} in the project, so this file runs instead of its copy.`)
      }
      this.#interpreter(path, folders, remarks)
    } else if (type === undefined && origin.isExpected) {
      if (this.absent.size >= MOST_ABSENT && !this.absent.has(path)) {
        remarks.unseen(TOO_MUCH)
        return type
      }
      this.absent.add(path)
      if (origin.from !== undefined) this.words.add(origin.from)
    }
    return type
  }

  #isNever(path: string, remarks: Remarks): boolean {
    const place = path.includes('/../') ? realOf(path) : path
    if (!NEVER.some((folder) => isBelow(place, folder))) return false
    if (/\/(?:cwd|root|fd|task)(?:\/|$)/.test(path))
      remarks.unseen(`${quoted(path)} is a different file each time`)
    return true
  }

  /** The kernel resolves `#!./x` from the working folder, not from the script's folder. */
  #interpreter(script: string, folders: readonly WorkFolder[], remarks: Remarks): void {
    if (this.#peeked.has(script)) return
    this.#peeked.add(script)
    const { file } = shebangOf(firstBytes(script))
    if (file === undefined || this.#system.has(dirname(file))) return
    if (!file.startsWith('/')) {
      remarks.unseen(
        `${quoted(script)} begins with "#!" and ${quoted(file)}, which is looked up where the command runs, not beside the script`,
      )
    }
    this.look(
      { word: file, isExpected: true },
      folders.filter(({ isCopied }) => !isCopied),
      remarks,
    )
  }
}

/** For absolute paths. */
const ROOT: WorkFolder = { path: '/', isCopied: false, from: undefined, isEntered: true }

// ---- the folders a command may be in: where it starts, and where `cd` and the like lead -----------------------

export interface WorkFolder {
  readonly path: string
  /** True if it is in the copy at run time. */
  readonly isCopied: boolean
  /** The path from where the hook starts. Undefined if that does not matter. */
  readonly from: string | undefined
  /** True if a command goes there. Then files that do not exist yet count too. */
  readonly isEntered: boolean
}

interface WorkFolders {
  readonly folders: readonly WorkFolder[]
  /** Doubts about the folders, each as the end of a sentence. */
  readonly unseen: readonly string[]
}

/** Each `cd` may double their number. */
const MOST_FOLDERS = 16

/** Options that make a program start elsewhere: `git -C x`, `make --directory=x`. */
const ELSEWHERE = /^(?:-C|--(?:chdir|cwd|directory|prefix|project|working-directory))(?:=|$)/

export function workFolders(
  start: string,
  reading: HookReading,
  variables: readonly Variable[],
): WorkFolders {
  const found = new Map<string, WorkFolder>()
  const unseen = new Set<string>()
  const add = (folder: WorkFolder) => {
    if (found.size < MOST_FOLDERS) found.set(keyOf(folder), folder)
    else if (!found.has(keyOf(folder))) unseen.add('it may use more folders than can be checked')
  }
  const begin = unmarked(reading.begin ?? '', variables)
  const first: WorkFolder = { path: start, isCopied: false, from: '', isEntered: true }
  for (const folder of begin.text.startsWith('/') ? reached(first, begin) : [first]) add(folder)
  for (const target of reading.commands.flatMap(targetsOf)) {
    if (target === '-') continue
    const lead = unmarked(target, variables)
    const doubt = doubtAbout(lead.text, reading)
    if (doubt !== undefined) unseen.add(`it goes to ${quoted(readable(target, variables))}, ${doubt}`)
    if (DYNAMIC.test(lead.text)) continue
    // The `cd` may fail or happen in a subshell, so both folders count.
    for (const folder of [...found.values()]) for (const next of reached(folder, lead)) add(next)
  }
  return { folders: [...found.values()], unseen: [...unseen] }
}

const DYNAMIC = /[$`*?[{]|^~[^/]/

function doubtAbout(target: string, { repeats, assignments }: HookReading): string | undefined {
  if (DYNAMIC.test(target)) return 'a folder that only the shell knows'
  if (/^[/~]|^$/.test(target)) return undefined
  if (repeats) return 'perhaps more than once'
  const isSought = !/^\.\.?(?:\/|$)/.test(target)
  const hasPath = callerEnv().CDPATH || assignments.some((one) => one.startsWith('CDPATH='))
  return isSought && hasPath ? 'and CDPATH may lead elsewhere' : undefined
}

function keyOf({ path, from, isCopied }: WorkFolder): string {
  return [path, from ?? '/', isCopied].join('\0')
}

/** Follows the path as the kernel does and as the shell does. For the shell, `link/..` is the link's own folder. */
function reached(folder: WorkFolder, { text, variable }: Lead): readonly WorkFolder[] {
  const target = expandedHome(text === '' ? '~/' : text)
  if (target.startsWith('/')) {
    const common = { isCopied: variable?.isCopied ?? false, from: undefined, isEntered: true }
    return [pathAt('/', target), posix.resolve(target)].map((path) => ({ ...common, path }))
  }
  const { path, from, isCopied } = folder
  const common = { isCopied, isEntered: true }
  const way = from === undefined ? undefined : `${from}/${target}`
  return [
    { ...common, path: pathAt(path, target), from: way && tidy(way) },
    { ...common, path: posix.resolve(path, target), from: way && tidy(posix.join('.', tidy(way))) },
  ]
}

/** Does not normalize the path, because it may go through links. */
export function expandedHome(text: string): string {
  return /^~(?:\/|$)/.test(text) ? userHome() + text.slice(1) : text
}

export function isGoing({ name }: Pick<SimpleCommand, 'name'>): boolean {
  return /^(?:cd|chdir|pushd)$/.test(name)
}

/** The folders that a command goes to, or starts another command in. */
function targetsOf(command: SimpleCommand): readonly string[] {
  const [, ...words] = command.words
  if (isGoing(command)) {
    return [words.find((word) => word === '-' || !/^[-+]./.test(word)) ?? '']
  }
  if (isReader(command)) return []
  return words.flatMap((word, i) => {
    if (/^-C./.test(word)) return [word.slice(2)]
    if (!ELSEWHERE.test(word)) return []
    return word.includes('=') ? [word.slice(word.indexOf('=') + 1)] : (words[i + 1] ?? [])
  })
}
