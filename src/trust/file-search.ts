// Looks on the disk for what commands name, within bounds: files outside the copy, and places where none is yet.

import { closeSync, constants, openSync, readSync } from 'node:fs'
import { dirname } from 'node:path'
import { quoted } from '../core/base/text.js'
import { isBelow, realOf } from '../files/within.js'
import { SYSTEM } from './data-readers.js'
import { pathAt, tidy, typeAt } from './file-place.js'
import { completionsOf } from './finders.js'
import { unmarked, type Variable } from './hook-text.js'
import { shebangOf } from './shebang.js'
import type { Unit } from './unit.js'
import { expandedHome, type WorkFolder } from './work-folders.js'

export interface Wanted {
  /** With marks. */
  readonly word: string
  /** It most likely means a file, so that it counts too if there is none. */
  readonly isExpected: boolean
  /** What completes the name where it is no file. */
  readonly by?: string
}

/** What is found out on the way, for the person who reviews. */
export interface Remarks {
  note(text: string): void
  /** The end of a sentence. */
  unseen(what: string): void
}

/** Where a path comes from. */
interface Origin {
  readonly isCopied: boolean
  readonly isExpected: boolean
  readonly from: string | undefined
}

/** Nothing in there is a file that stays. */
const NEVER = ['/proc', '/sys', '/dev/fd', '/dev/stdin', '/dev/stdout', '/dev/stderr']

/** Of a whole unit. What is absent is looked at each time before a hook runs. */
const MOST_LOOKS = 8000
const MOST_ABSENT = 1000
const TOO_MUCH = 'it names more files, in more folders, than are looked for'

export class FileSearch {
  readonly files = new Set<string>()
  readonly absent = new Set<string>()
  readonly words = new Set<string>()
  readonly #unit: Unit
  /** Where links lead. */
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

  /** In every folder that the command may be in. */
  look({ word, isExpected, by }: Wanted, folders: readonly WorkFolder[], remarks: Remarks): void {
    const { text, variable } = unmarked(word, this.#variables)
    if (text === '' || text.includes('\0')) return
    const path = expandedHome(text).replace(/^(?:~\+|\$PWD|\$\{PWD\})\//, '')
    const isCopied = variable?.isCopied ?? false
    const places = path.startsWith('/') ? [ROOT] : folders
    for (const folder of places) {
      if (this.#isExhausted(remarks)) return
      const origin = (one: string, expected: boolean): Origin => ({
        isCopied: folder === ROOT ? isCopied : folder.isCopied,
        isExpected: expected && folder.isEntered,
        from: folder.from === undefined ? undefined : tidy(`${folder.from}/${one}`),
      })
      const at = pathAt(folder.path, path)
      if (this.#at(at, origin(path, isExpected), folders, remarks) === 'file' || by === undefined) continue
      for (const one of completionsOf(by, path, at)) {
        this.#at(pathAt(folder.path, one), origin(one, isExpected), folders, remarks)
      }
    }
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
        remarks.note(
          `It names ${quoted(path)}, which is outside the folder, and will not find it from the copy.`,
        )
      }
    } else if (type === 'file' && !this.#system.has(dirname(path)) && !(kind === 'file' && path === own)) {
      this.files.add(path)
      if (origin.from !== undefined) this.words.add(origin.from)
      if (isOwn) {
        remarks.note(`It names ${quoted(path)} in the project, so that this file runs and not its copy.`)
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
      remarks.unseen(`${quoted(path)} is another file each time`)
    return true
  }

  /** The kernel looks for `#!./x` where the command is, not beside the script. */
  #interpreter(script: string, folders: readonly WorkFolder[], remarks: Remarks): void {
    if (this.#peeked.has(script)) return
    this.#peeked.add(script)
    const { file } = shebangOf(firstBytes(script))
    if (file === undefined || this.#system.has(dirname(file))) return
    if (!file.startsWith('/')) {
      remarks.unseen(
        `${quoted(script)} begins with "#!" and ${quoted(file)}, which is looked for where the command is, not beside the script`,
      )
    }
    this.look(
      { word: file, isExpected: true },
      folders.filter(({ isCopied }) => !isCopied),
      remarks,
    )
  }
}

/** Of a word that is a whole path. */
const ROOT: WorkFolder = { path: '/', isCopied: false, from: undefined, isEntered: true }

/** Does not wait for the writer of a pipe. */
const OPEN = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0)

/** None of what cannot be read: whoever hashes it says so. */
function firstBytes(path: string): Buffer {
  const bytes = Buffer.alloc(256)
  let fd: number | undefined
  try {
    fd = openSync(path, OPEN)
    return bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, 0))
  } catch {
    return bytes.subarray(0, 0)
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
}
