// What the commands of a unit name: files outside its copy, programs, and what only the running shell knows.

import { statSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { readShell } from '../shell/shell-reading.js'
import type { SimpleCommand } from '../shell/simple-command.js'
import { markedText, unmarked, type Variable, variablesOf } from './hook-text.js'
import { isBelow } from './program-search.js'
import { quoted } from './quoted.js'
import type { Unit, UnitHook } from './unit.js'

/** What a person who reviews should know about a hook, and what cannot be seen from its text. */
export interface HookNote {
  readonly hook: string
  readonly text: string
}

export interface Named {
  /** Absolute paths of files outside the copy. */
  readonly files: readonly string[]
  /** Paths where a command looks for a file, and none is. */
  readonly absent: readonly string[]
  /** Relative words that name them, or would. */
  readonly words: readonly string[]
  /** Names for `$PATH` to find. */
  readonly programs: readonly string[]
  /** Paths below the unit's folder that are read from its copy. */
  readonly copied: readonly string[]
  readonly notes: readonly HookNote[]
}

/** `systemFolders`: a file in one of them is a program, not a script. */
export function namedBy(unit: Unit, systemFolders: readonly string[]): Named {
  const search = new Search(unit, systemFolders)
  for (const hook of unit.hooks) if (hook.type === undefined || hook.type === 'command') search.hook(hook)
  return search.named()
}

const SYSTEM = ['/bin', '/sbin', '/usr/bin', '/usr/sbin', '/usr/local/bin', '/opt/homebrew/bin']
/** Nothing in there is a file that stays. */
const NEVER = ['/proc', '/sys', '/dev']

/** What the shell does itself. */
const BUILTINS = new Set(
  `. : [ [[ alias bg break builtin caller case cd command compgen complete continue coproc declare dirs disown echo enable
  eval exec exit export false fc fg function getopts hash help history if jobs kill let local logout mapfile popd printf
  pushd pwd read readarray readonly return set shift shopt source suspend test time times trap true type typeset ulimit
  umask unalias unset until wait while`.split(/\s+/),
)

/** They write to the files that they name, and run none. */
const WRITERS = new Set(['tee', 'touch', 'mkdir', 'rm', 'rmdir', 'truncate'])

/** Their first operand is a program, however it is called. */
const INTERPRETERS =
  /^(?:(?:ba|da|z|k|a)?sh|\.|source|node|nodejs|bun|deno|tsx|python[\d.]*|perl|ruby|php|pwsh)$/

/** A word that most likely means a file: a path, or a name with an ending. */
const LIKE_A_FILE = /\/|^[\w@%+-][\w.@%+-]*\.[A-Za-z]\w{0,5}$/

const GLOB = /[*?[\]{}]/

class Search {
  readonly #unit: Unit
  readonly #system: readonly string[]
  readonly #variables: readonly Variable[]
  readonly #files = new Set<string>()
  readonly #words = new Set<string>()
  readonly #absent = new Set<string>()
  readonly #programs = new Set<string>()
  readonly #copied = new Set<string>()
  readonly #notes: HookNote[] = []

  constructor(unit: Unit, systemFolders: readonly string[]) {
    this.#unit = unit
    this.#system = [...SYSTEM, ...systemFolders]
    this.#variables = variablesOf(unit)
  }

  named(): Named {
    return {
      files: [...this.#files].sort(),
      absent: [...this.#absent].sort(),
      words: [...this.#words].sort(),
      programs: [...this.#programs].sort(),
      copied: [...this.#copied].sort(),
      notes: this.#notes,
    }
  }

  hook(hook: UnitHook): void {
    const text = markedText(hook, this.#unit, this.#variables)
    const isShell = hook.shell !== 'powershell' || hook.args !== undefined
    if (hook.args === undefined && hook.shell === 'bash') this.#programs.add('bash')
    if (!isShell) {
      this.#programs.add('pwsh')
      this.#note(hook, 'It is PowerShell, which is not read: look at the command itself.')
    }
    const { commands, why } = isShell ? readShell(text) : { commands: [], why: undefined }
    if (why !== undefined) this.#note(hook, `Not everything that it runs can be seen: ${this.#plain(why)}.`)
    const names = new Set<string>()
    const words = new Set<string>()
    const outputs = new Set<string>()
    for (const command of commands) {
      const [program = '', ...others] = command.words
      if (program.includes('/')) words.add(program)
      else this.#program(program, names)
      for (const word of others) (WRITERS.has(command.name) ? outputs : words).add(word)
      this.#dynamicWords(hook, command)
    }
    // Words in quotes keep their spaces; pieces also come from redirections, assignments, and code in other languages.
    const known = [words, outputs, names]
    const pieces = piecesOf(text).filter((piece) => !known.some((set) => set.has(piece)))
    const bases = this.#bases([...words, ...pieces])
    for (const word of words) this.#word(word, bases, hook, isLikeAFile(word, commands))
    for (const piece of pieces) this.#word(piece, bases, hook, false)
  }

  #program(name: string, names: Set<string>): void {
    names.add(name)
    if (/^[\w.+@-]+$/.test(name) && !/^\.+$/.test(name) && !BUILTINS.has(name)) this.#programs.add(name)
  }

  /** A folder that is named may be where the words are looked for: `cd hooks && ./check.sh`. */
  #bases(words: readonly string[]): readonly Base[] {
    const project: Base = { folder: this.#unit.projectDir, isCopied: false, isStart: true }
    const named = words.flatMap((word): Base[] => {
      const { text, variable } = unmarked(word, this.#variables)
      const folder = resolve(this.#unit.projectDir, expanded(text))
      const isCopied = variable?.isCopied ?? false
      return typeAt(folder) === 'folder' ? [{ folder, isCopied, isStart: false }] : []
    })
    return [project, ...named]
  }

  /** `expected`: it most likely means a file, so that it counts too if there is none. */
  #word(word: string, bases: readonly Base[], hook: UnitHook, expected: boolean): void {
    const { text, variable } = unmarked(word, this.#variables)
    if (text === '' || text.includes('\0') || text.includes('://')) return
    const path = expanded(text)
    if (isAbsolute(path)) {
      this.#path(resolve(path), variable?.isCopied ?? false, expected, hook)
      return
    }
    if (/[$`]/.test(path) || GLOB.test(path) || path.startsWith('-')) return
    for (const { folder, isCopied, isStart } of bases) {
      const at = resolve(folder, path)
      this.#path(at, isCopied, expected && isStart, hook)
      if (isStart && (this.#files.has(at) || this.#absent.has(at))) this.#words.add(path)
    }
  }

  #path(path: string, isCopied: boolean, expected: boolean, hook: UnitHook): void {
    const { kind, path: own } = this.#unit
    if (/[$`]/.test(path) || GLOB.test(path) || NEVER.some((folder) => isBelow(path, folder))) return
    if (kind === 'folder' && isCopied) {
      if (isBelow(path, own)) this.#copied.add(path)
      else if (typeAt(path) === 'file') {
        this.#note(
          hook,
          `It names ${quoted(path)}, which is outside the folder, and will not find it from the copy.`,
        )
      }
      return
    }
    if (kind === 'file' && path === own) return
    const type = typeAt(path)
    if (type === 'file' && !this.#system.includes(dirname(path))) {
      this.#files.add(path)
      if (kind === 'folder' && isBelow(path, own)) {
        this.#note(hook, `It names ${quoted(path)} in the project, so that this file runs and not its copy.`)
      }
    } else if (type === undefined && expected) this.#absent.add(path)
  }

  #dynamicWords(hook: UnitHook, command: SimpleCommand): void {
    if (!command.dynamic) return
    const [, ...words] = command.words
    const first = INTERPRETERS.test(command.name) ? operand(command.words) : undefined
    for (const word of words) {
      const isPath = word === first || word.includes('/')
      if (isPath && /[$`*?]/.test(word) && !/\s/.test(word)) {
        this.#note(hook, `Only the shell knows which file ${quoted(this.#plain(word))} is.`)
      }
    }
  }

  #plain(text: string): string {
    return text.replace(/\/%carabiner(\d)%/g, (_, i: string) => `$${this.#variables[Number(i)]?.name}`)
  }

  #note({ name }: UnitHook, text: string): void {
    if (!this.#notes.some((note) => note.hook === name && note.text === text)) {
      this.#notes.push({ hook: name, text })
    }
  }
}

interface Base {
  readonly folder: string
  readonly isCopied: boolean
  /** Where hooks are started, most of the time. */
  readonly isStart: boolean
}

/** A log that a hook writes is none of its scripts. `<>` is for reading as well. */
const OUTPUT = /(?<![<=-])(?:\d|&)?>{1,2}[|&]?\s*(?:"[^"]*"|'[^']*'|[^\s;|&<>()"']+)/g

/** Pieces between blanks, quotes and operators. */
function piecesOf(text: string): readonly string[] {
  const pieces = text.replace(OUTPUT, ' ').split(/[\s"'`;|&<>()=,:{}\\]+/)
  return [...new Set(pieces)].filter((piece) => piece !== '' && piece.length < 4096)
}

/** Code that is an operand has blanks and brackets. */
function isLikeAFile(word: string, commands: readonly SimpleCommand[]): boolean {
  if (/[\s;()]/.test(word)) return false
  return (
    LIKE_A_FILE.test(word) ||
    commands.some(({ name, words }) => INTERPRETERS.test(name) && operand(words) === word)
  )
}

function operand([, ...words]: readonly string[]): string | undefined {
  return words.find((word) => !word.startsWith('-'))
}

function expanded(text: string): string {
  return text.startsWith('~/') ? join(homedir(), text.slice(2)) : text
}

function typeAt(path: string): 'file' | 'folder' | 'other' | undefined {
  try {
    const stats = statSync(path, { throwIfNoEntry: false })
    if (!stats) return undefined
    if (stats.isFile()) return 'file'
    return stats.isDirectory() ? 'folder' : 'other'
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // Anything else (no permission, a circle of links) stands for something that is there.
    return code === 'ENOTDIR' || code === 'ENAMETOOLONG' ? undefined : 'other'
  }
}
