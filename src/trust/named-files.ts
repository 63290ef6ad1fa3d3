// Everything that a unit's commands name: files outside its copy, programs, and names that only the running shell can resolve.

import { resolve } from 'node:path'
import { quoted } from '../core/base/text.js'
import type { SimpleCommand } from '../effects/shell/simple-command.js'
import { relativeImports } from '../files/relative-imports.js'
import { pathAt, tidy, typeAt } from './file-reading.js'
import {
  expandedHome,
  FileSearch,
  isGoing,
  type Remarks,
  type Wanted,
  type WorkFolder,
  workFolders,
} from './file-search.js'
import {
  type HookReading,
  isUnfilled,
  markedText,
  readable,
  readHook,
  unmarked,
  unreadHook,
  type Variable,
  variablesOf,
} from './hook-reading.js'
import { INTERPRETERS, isReader, isWriter, operandsOf, SHELLS, soughtBy } from './known-programs.js'
import { moduleLoad } from './script-loads.js'
import type { ImplicitLoad, Unit, UnitHook } from './unit.js'

/** Something a reviewer should know about a hook, or that its text does not show. */
export interface HookNote {
  readonly hook: string
  readonly text: string
}

export interface Named {
  /** Absolute paths of files outside the copy, as the kernel follows them: `..` stays. */
  readonly files: readonly string[]
  /** Paths where a command looks for a file and there is none. */
  readonly absent: readonly string[]
  /** The programs and scripts among `absent`. */
  readonly lacking: readonly string[]
  /** Relative paths that name these files from where a hook starts. */
  readonly words: readonly string[]
  /** The ones among `words` that name scripts a command starts. */
  readonly started: readonly string[]
  /** Whether a command goes to another folder. */
  readonly goes: boolean
  /** Interpreters by file, for files that commands start with one. */
  readonly interpreters: ReadonlyMap<string, string>
  readonly implicit: readonly ImplicitLoad[]
  /** Names to find in `$PATH`. */
  readonly programs: readonly string[]
  readonly notes: readonly HookNote[]
  /** Sentences about files that commands may run and that are not part of what is trusted. */
  readonly unseen: readonly string[]
}

/** A file in one of the `systemFolders` is a program, not a script. */
export function namedBy(unit: Unit, systemFolders: readonly string[]): Named {
  const search = new Search(unit, systemFolders)
  for (const hook of unit.hooks) {
    if (hook.type === 'module') search.module(hook)
    else if (runsProgram(hook)) search.hook(hook)
  }
  return search.named()
}

function runsProgram({ type = 'command' }: UnitHook): boolean {
  return type === 'command' || type === 'process'
}

const BUILTINS = new Set(
  `. : [ [[ alias bg break builtin caller case cd command compgen complete continue coproc declare dirs disown echo enable
  eval exec exit export false fc fg function getopts hash help history if jobs kill let local logout mapfile popd printf
  pushd pwd read readarray readonly return set shift shopt source suspend test time times trap true type typeset ulimit
  umask unalias unset until wait while`.split(/\s+/),
)

/** A word that probably means a file: a path, or a name with an extension. */
const LIKE_A_FILE = /\/|^[\w@%+-][\w.@%+-]*\.[A-Za-z]\w{0,5}$/

/** Only the running shell can complete such a word, unless the name contains the character itself. */
const FILLED_IN = /[*?[\]{}$`]/

/** Programs with an option for the file that holds their program. */
const WITH_PROGRAM = /^(?:[gmn]?awk|g?sed|g?make|jq)$/
const PROGRAM_OPTION = /^(?:-\w*f|--(?:file|from-file|makefile))(?:=|$)/

/** Variables that make programs load other files. */
const LOADING =
  /^(?:LD_\w+|DYLD_\w+|NODE_OPTIONS|NODE_PATH|PYTHON(?:PATH|HOME|STARTUP)|PERL5\w+|RUBY(?:LIB|OPT)|LUA_\w+|R_\w+|PHP\w+|GIT_\w+|(?:BASH_)?ENV)=/

/** The limit for one hook. */
const MOST_WORDS = 2000
/** The limit for a PATH that a hook sets. Setting PATH is always reported. */
const MOST_ENTRIES = 32
/** Folders that are named but not entered. */
const MOST_NAMED_FOLDERS = 16
/** The limit for one module. */
const MOST_IMPORTS = 500

class Search {
  readonly #unit: Unit
  readonly #variables: readonly Variable[]
  readonly #search: FileSearch
  readonly #programs = new Set<string>()
  readonly #notes = new Map<string, HookNote>()
  readonly #unseen = new Set<string>()
  readonly #implicit: ImplicitLoad[] = []
  #goes = false

  constructor(unit: Unit, systemFolders: readonly string[]) {
    this.#unit = unit
    this.#variables = variablesOf(unit)
    this.#search = new FileSearch(unit, systemFolders, this.#variables)
  }

  named(): Named {
    const { files, absent, lacking, words, started, interpreters } = this.#search
    return {
      files: [...files].sort(),
      absent: [...absent].sort(),
      lacking: [...lacking].sort(),
      words: [...words].sort(),
      started: [...started],
      goes: this.#goes,
      interpreters,
      implicit: this.#implicit,
      programs: [...this.#programs].sort(),
      notes: [...this.#notes.values()],
      unseen: [...this.#unseen],
    }
  }

  hook(hook: UnitHook): void {
    const text = markedText(hook, this.#unit, this.#variables)
    const isShell = hook.shell !== 'powershell' || hook.args !== undefined
    const remarks = this.#remarks(hook)
    if (hook.args === undefined && hook.shell === 'bash') this.#programs.add('bash')
    if (!isShell) {
      this.#programs.add('pwsh')
      remarks.note('It is PowerShell, which is not analysed: read the command itself.')
    }
    const reading = isShell ? readHook(text) : unreadHook()
    const { why, commands } = reading
    this.#goes ||= commands.some(isGoing)
    if (why !== undefined) remarks.note(`Not everything it runs is visible: ${this.#plain(why)}.`)
    const names = this.#programsOf(reading)
    const wanted = [...wantedBy(reading), ...this.#behindPath(reading, names)]
    for (const command of commands) this.#dynamicWords(command, remarks)
    for (const what of [...commands.flatMap((one) => soughtBy(one).unseen), ...this.#doubts(hook, reading)]) {
      remarks.unseen(what)
    }
    const all = distinct([...wanted, ...reading.inputs.flatMap(variantsOf), ...assignedBy(reading, text)])
    if (all.length > MOST_WORDS) remarks.unseen('it has more words than can be checked')
    const some = all.slice(0, MOST_WORDS)
    const folders = this.#folders(reading, some, remarks)
    for (const one of some) this.#search.look(one, folders, remarks)
    this.#modules(reading, folders)
  }

  /** The file that it imports, and unless that is in the copy, everything that this one imports by a relative path. */
  module(hook: UnitHook): void {
    const remarks = this.#remarks(hook)
    const word = markedText({ ...hook, shell: 'sh' }, this.#unit, this.#variables)
    const look = (one: string) =>
      this.#search.look({ word: one, isExpected: true, isScript: true, by: 'node' }, [], remarks)
    const { text, variable } = unmarked(word, this.#variables)
    if (variable?.isCopied) {
      look(word)
      return
    }
    // Node.js resolves `..` before it follows links.
    const file = resolve(this.#unit.projectDir, text)
    look(file)
    const seen = new Set([file])
    for (const path of seen) {
      const { files, isOpen } = relativeImports(path)
      if (isOpen) remarks.unseen(`${quoted(path)} decides while it runs which files it imports`)
      if (seen.size > MOST_IMPORTS) {
        remarks.unseen('it imports more files than can be checked')
        return
      }
      for (const one of files) {
        seen.add(one)
        this.#search.look({ word: one, isExpected: true }, [], remarks)
      }
    }
  }

  #modules({ commands }: HookReading, folders: readonly WorkFolder[]): void {
    const named = commands.flatMap((one) => soughtBy(one).modules ?? [])
    if (!commands.some((one) => soughtBy(one).modules)) return
    for (const { path, isEntered, isCopied } of folders)
      if (isEntered && !isCopied) this.#implicit.push(moduleLoad(path, named))
  }

  #remarks({ name }: UnitHook): Remarks {
    return {
      note: (text) => {
        this.#notes.set(`${name}\0${text}`, { hook: name, text })
      },
      unseen: (what) => {
        this.#unseen.add(
          `The hook ${quoted(name)} may run files that are not part of what is trusted: ${what}.`,
        )
      },
    }
  }

  /** Names to find in `$PATH`. A shell's operand is a file: `sh run`. */
  #programsOf({ commands, scripts }: HookReading): ReadonlySet<string> {
    const ofShells = commands.filter(({ name }) => SHELLS.test(name))
    const files = new Set(ofShells.flatMap(({ words }) => operandsOf(words)))
    const names = new Set<string>()
    for (const { program } of commands) {
      if (program.includes('/') || (files.has(program) && !scripts.has(program))) continue
      names.add(program)
      const isProgram = /^[\w.+@-]+$/.test(program) && !/^\.+$/.test(program) && !BUILTINS.has(program)
      if (isProgram) this.#programs.add(program)
    }
    return names
  }

  /** The first places to look for a command if the hook changes `$PATH`. */
  #behindPath({ assignments }: HookReading, names: ReadonlySet<string>): readonly Wanted[] {
    const entries = assignments
      .filter((one) => one.startsWith('PATH='))
      .flatMap((one) => one.slice('PATH='.length).split(':'))
      .filter((entry) => !FILLED_IN.test(entry))
      .slice(0, MOST_ENTRIES)
    return entries.flatMap((entry) =>
      [...names].map((name) => ({ word: `${entry || '.'}/${name}`, isExpected: true })),
    )
  }

  #doubts(hook: UnitHook, { assignments, written }: HookReading): readonly string[] {
    const names = new Set(this.#variables.map(({ name }) => name))
    const ofAssignments = assignments.flatMap((one) => {
      const [name = ''] = one.split('=', 1)
      if (name === 'PATH') return ['it changes PATH, so other programs may run than the ones found here']
      if (LOADING.test(one)) return [`programs load other files because of ${name}`]
      return names.has(name) ? [`it points ${name} at another folder`] : []
    })
    const unfilled = hook.args === undefined ? written.filter(isUnfilled) : []
    const plain = (word: string) =>
      `${quoted(this.#plain(word))} is quoted, and may be a path in the project as written`
    return [...ofAssignments, ...unfilled.map(plain)]
  }

  /** Folders that are only named count too: a program may go there and look for files. */
  #folders(reading: HookReading, wanted: readonly Wanted[], remarks: Remarks): readonly WorkFolder[] {
    const { folders, unseen } = workFolders(this.#unit.projectDir, reading, this.#variables)
    for (const what of unseen) remarks.unseen(what)
    const found = new Map<string, WorkFolder>()
    for (const { word } of wanted) {
      const { text, variable } = unmarked(word, this.#variables)
      const path = pathAt(this.#unit.projectDir, expandedHome(text))
      if (found.has(path) || path.includes('\0') || typeAt(path) !== 'folder') continue
      if (found.size === MOST_NAMED_FOLDERS) {
        remarks.unseen('it names more folders than can be checked')
        break
      }
      const from = /^[/~]/.test(text) ? undefined : tidy(text)
      found.set(path, { path, isCopied: variable?.isCopied ?? false, from, isEntered: false })
    }
    const entered = new Set(folders.map(({ path }) => path))
    return [...folders, ...[...found.values()].filter(({ path }) => !entered.has(path))]
  }

  #dynamicWords(command: SimpleCommand, remarks: Remarks): void {
    if (!command.dynamic) return
    const [, ...words] = command.words
    const operands = INTERPRETERS.test(command.name) ? operandsOf(command.words) : []
    for (const word of words) {
      const isPath = operands.includes(word) || word.includes('/')
      if (isPath && FILLED_IN.test(word) && !/\s/.test(word)) {
        remarks.note(`Only the shell knows which file ${quoted(this.#plain(word))} is.`)
      }
    }
  }

  #plain(text: string): string {
    return readable(text, this.#variables)
  }
}

/** Programs and their files come first, because words over the limit are dropped. */
function wantedBy({ commands, isDataSafe }: HookReading): readonly Wanted[] {
  const first: Wanted[] = []
  const rest: Wanted[] = []
  // `sh run` is listed both as `sh run` and as `run`.
  const scripts = new Set(commands.map(scriptOf))
  for (const command of commands) {
    const { program, name, words } = command
    // In quotes, such a character is part of the name.
    const isKnown = (word: string) => !command.dynamic || !FILLED_IN.test(word)
    if (program.includes('/')) first.push({ word: program, isExpected: isKnown(program), isScript: true })
    if (INTERPRETERS.test(name)) {
      const isExpected = (word: string) => !CODE.test(word) && isKnown(word)
      first.push(
        ...operandsOf(words).map((word) => ({
          word,
          isExpected: isExpected(word),
          isScript: true,
          by: name,
        })),
      )
    }
    first.push(...soughtBy(command).paths.map((word) => ({ word, isExpected: true })))
    if (WITH_PROGRAM.test(name)) first.push(...programFiles(words))
    if (isWriter(command) || (isDataSafe && isReader(command))) continue
    const args = scripts.has(program) ? 1 : argumentsAfter(command)
    rest.push(...words.slice(1, args).flatMap(variantsOf), ...words.slice(args).flatMap(variantsOfData))
  }
  return [...first, ...rest]
}

/** `NAME=a:b`. A variable that the command itself does not use is for scripts, so its value counts as an argument. */
function assignedBy({ assignments, isDataSafe }: HookReading, text: string): readonly Wanted[] {
  return assignments.flatMap((one) => {
    const [name = ''] = one.split('=', 1)
    const isUsed = [`$${name}`, `{${name}`, '{!'].some((use) => text.includes(use))
    const isPassedOn = isDataSafe && !isUsed && !LOADING.test(one)
    const values = one.slice(name.length + 1).split(':')
    return values.flatMap(isPassedOn ? variantsOfData : variantsOf)
  })
}

/** The index of a script's first argument. A reviewed script may do what it likes with its arguments. */
function argumentsAfter({ program, name, words }: SimpleCommand): number {
  if (program.includes('/') && !INTERPRETERS.test(name)) return 1
  const script = scriptOf({ name, words })
  return script === undefined ? Infinity : words.indexOf(script) + 1
}

function scriptOf({ name, words }: Pick<SimpleCommand, 'name' | 'words'>): string | undefined {
  return INTERPRETERS.test(name) ? operandsOf(words).at(-1) : undefined
}

/** Files that hooks often rewrite, and that nothing runs. */
const WRITTEN = /\.(?:log|out|err|pid|lock|tmp|jsonl|ndjson|csv|tsv|db|sqlite3?|cache|state)$/i

/** Data that a hook may create later. Programs load some JSON files on their own. */
function isState(word: string): boolean {
  return /\.json$/i.test(word) && !LOADED_JSON.test(word)
}

const LOADED_JSON =
  /(?:^|[/=])(?:package(?:-lock)?|[tj]sconfig[\w.-]*|deno|composer|settings[\w.-]*|hooks[\w.-]*|[\w.-]*rc|[\w.-]*config)\.json$/i

function distinct(wanted: readonly Wanted[]): readonly Wanted[] {
  const keyOf = ({ word, isExpected, isScript, by }: Wanted) => [word, isExpected, isScript, by].join('\0')
  return [...new Map(wanted.map((one) => [keyOf(one), one])).values()]
}

/** `-f FILE`, `-fFILE`, `--file=FILE` */
function programFiles(words: readonly string[]): readonly Wanted[] {
  return words.flatMap((word, i) => {
    const isBehind = PROGRAM_OPTION.test(words[i - 1] ?? '') && !(words[i - 1] ?? '').includes('=')
    const [, glued] = /^(?:-f|--(?:file|from-file|makefile)=)(.+)$/s.exec(word) ?? []
    const file = isBehind ? word : glued
    return file === undefined ? [] : [{ word: file, isExpected: isName(file) }]
  })
}

/** The word, and the value if it is attached to an option: `-f./x`, `--require=./x`. */
function variantsOf(word: string): readonly Wanted[] {
  const whole = { word, isExpected: LIKE_A_FILE.test(word) && isName(word) && !word.includes('://') }
  if (!word.startsWith('-')) return [whole]
  const [, path] = /^--?(?:[\w-]+=|\w{0,4}?(?=\.{0,2}\/|~\/))(.+)$/s.exec(word) ?? []
  const glued =
    path === undefined ? { word: word.slice(2), isExpected: false } : { word: path, isExpected: isName(path) }
  return [{ ...whole, isExpected: false }, glued]
}

/** For a word that only a reviewed script uses. Files that it may write do not count. */
function variantsOfData(word: string): readonly Wanted[] {
  if (WRITTEN.test(word)) return []
  const wanted = variantsOf(word)
  return isState(word) ? wanted.map((one) => ({ ...one, isExpected: false })) : wanted
}

/** An operand with spaces or brackets is code, not a name. */
const CODE = /[\s;()]/

function isName(word: string): boolean {
  return !CODE.test(word) && !FILLED_IN.test(word)
}
