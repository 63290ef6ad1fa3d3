// A hook's command taken apart: what it would run, what it sets, and every piece of its text that may name a file.

import { homedir } from 'node:os'
import { dirname } from 'node:path'
import type { Assignment, Command, ParsedScript, Redirection, SyntaxNode, Word } from 'unbash'
import { nonce } from '../files/nonce.js'
import { inQuotes } from '../shell/shell-quoted.js'
import { readShell } from '../shell/shell-reading.js'
import { isOpen, SimpleCommand, wordOf, wordsOf } from '../shell/simple-command.js'
import { isHarmless, isReader, isRunner, isWriter } from './known-programs.js'
import type { Unit, UnitHook } from './unit.js'

export interface HookReading {
  readonly commands: readonly SimpleCommand[]
  /** Why more may run than the commands tell. */
  readonly why: string | undefined
  /** Texts that were parsed as scripts. */
  readonly scripts: ReadonlySet<string>
  /** Whether files named by commands that only read are nothing but data. */
  readonly isDataSafe: boolean
  /** All pieces of the text, except names of files that are written or are data. */
  readonly pieces: readonly string[]
  /** `NAME=value`: assignments of the shell, and words that look like one. */
  readonly assignments: readonly string[]
  /** Words as written, with quotes. */
  readonly written: readonly string[]
  /** The folder that everything starts in: `cd X && …`. */
  readonly begin: string | undefined
  /** Whether a command may run more than once or under another name. */
  readonly repeats: boolean
}

export function readHook(text: string): HookReading {
  const notes = new Notes(text)
  const { commands, why } = readShell(text, (node, source) => notes.take(node, source))
  return notes.reading(commands, why)
}

/** For text that is not shell: every piece counts. */
export function unreadHook(text: string): HookReading {
  return { ...new Notes(text).reading([], undefined), isDataSafe: false }
}

const REPEATING: ReadonlySet<SyntaxNode['type']> = new Set([
  'While',
  'For',
  'ArithmeticFor',
  'Select',
  'Function',
])

interface Cut {
  readonly source: string
  readonly pos: number
  readonly end: number
  /** `word` has quotes in it, which would cut it in two. */
  readonly what: 'output' | 'data' | 'script' | 'word'
  readonly text: string
}

/** Collects facts on the way through the syntax tree. */
class Notes {
  readonly #scripts = new Set<string>()
  readonly #text: string
  readonly #cuts: Cut[] = []
  readonly #assignments: string[] = []
  readonly #written: string[] = []
  #begin: string | undefined
  #repeats = false
  #writes = false
  #defines = false
  #isBroken = false

  constructor(text: string) {
    this.#text = text
  }

  take(node: SyntaxNode, source: string): void {
    if (node.type === 'Script') {
      if (this.#scripts.size === 0) this.#begin = beginOf(node)
      this.#scripts.add(source)
      this.#isBroken ||= (node.errors?.length ?? 0) > 0
    } else if (node.type === 'Command') this.#command(node, source)
    else if (node.type === 'Redirected') this.#redirects(node.redirects, source, false)
    else if (node.type === 'TestUnary') this.#cut(node.operand, source, 'data')
    else if (node.type === 'TestBinary') {
      this.#cut(node.left, source, 'data')
      this.#cut(node.right, source, 'data')
    } else if (REPEATING.has(node.type)) this.#repeats = true
    this.#defines ||= node.type === 'Function'
  }

  reading(commands: readonly SimpleCommand[], why: string | undefined): HookReading {
    // `sh run` is reported as `sh run` and as `run`.
    const operands = new Set(commands.filter(isRunner).map(({ words }) => words[1]))
    const isDataSafe =
      why === undefined &&
      !this.#defines &&
      !this.#assignments.some((one) => one.startsWith('PATH=')) &&
      commands.every((command) => operands.has(command.program) || isHarmless(command)) &&
      // A file that is written may be run afterwards.
      !(this.#writes && commands.some(isRunner))
    return {
      commands,
      why,
      scripts: this.#scripts,
      isDataSafe,
      pieces: this.#pieces(isDataSafe),
      assignments: this.#assignments,
      written: this.#written,
      begin: this.#begin,
      repeats: this.#repeats,
    }
  }

  #command(node: Command, source: string): void {
    for (const item of [...node.prefix, ...node.args]) {
      if (item.type === 'Assignment') this.#assignments.push(assignmentText(item))
      else if (item.type === 'Word' && /^["']?\w+=/.test(item.text)) this.#assignments.push(wordOf(item).text)
    }
    const call = callOf(node)
    this.#redirects(node.redirects, source, call !== undefined && isReader(call))
    const words = node.args.filter((arg): arg is Word => arg.type === 'Word')
    if (node.name) this.#written.push(node.name.text, ...words.map(({ text }) => text))
    for (const word of words) {
      if (call && isReader(call)) this.#cut(word, source, 'data')
      else if (call && isWriter(call)) this.#output(word, source)
      else this.#cut(word, source, 'script')
    }
    for (const word of node.name ? [node.name, ...words] : words) {
      if (/["'\\]/.test(word.text)) this.#cut(word, source, 'word')
    }
  }

  #redirects(redirects: readonly Redirection[], source: string, isReading: boolean): void {
    for (const redirect of redirects) {
      if (redirect.type !== 'Redirect' || !redirect.target) continue
      const { operator, target } = redirect
      // `<>` also reads.
      if (operator.includes('>') && operator !== '<>') this.#output(target, source)
      else if (isReading) this.#cut(target, source, 'data')
    }
  }

  #output(word: Word, source: string): void {
    this.#writes ||= !/^(?:\d+|-|\/dev\/(?:null|stderr|stdout))$/.test(wordOf(word).text)
    this.#cut(word, source, 'output')
  }

  #cut(word: Word, source: string, what: Cut['what']): void {
    const read = wordOf(word)
    if (!isOpen(read)) this.#cuts.push({ source, pos: word.pos, end: word.end, what, text: read.text })
  }

  /**
   * Splits at blanks, quotes and operators. Finds names in redirections, assignments, here-documents and code in other
   * languages.
   */
  #pieces(isDataSafe: boolean): readonly string[] {
    const cuts = this.#isBroken ? [] : this.#cuts.filter((cut) => this.#isMeant(cut, isDataSafe))
    const texts = [...new Set([this.#text, ...this.#scripts])].map((source) =>
      without(
        source,
        cuts.filter((cut) => cut.source === source),
      ),
    )
    const pieces = texts.flatMap((text) => text.split(/[\s"'`;|&<>()=,:{}\\]+/))
    return [...new Set(pieces)].filter((piece) => piece !== '' && piece.length < 4096)
  }

  /** A text that was parsed as a script has its own pieces. */
  #isMeant({ what, text, source }: Cut, isDataSafe: boolean): boolean {
    if (what === 'script') return text !== source && this.#scripts.has(text)
    if (what === 'word') return !/\s/.test(text)
    return what === 'output' || isDataSafe
  }
}

/** If the `cd` fails, nothing else runs. */
function beginOf({ commands }: ParsedScript): string | undefined {
  const [statement] = commands
  if (commands.length !== 1 || statement?.command.type !== 'AndOr') return undefined
  const { operators, commands: parts } = statement.command
  const [first] = parts
  if (first?.type !== 'Command' || operators.some((operator) => operator !== '&&')) return undefined
  const [target, ...more] = first.suffix
  if (first.name?.text !== 'cd' || first.prefix.length > 0 || more.length > 0) return undefined
  return target?.type === 'Word' && !isOpen(wordOf(target)) ? wordOf(target).text : undefined
}

function callOf(node: Command): SimpleCommand | undefined {
  const [program] = wordsOf(node)
  return node.name && program && !isOpen(program) ? new SimpleCommand(program.text, node) : undefined
}

function assignmentText({ name, value, text }: Assignment): string {
  return value.type === 'ArrayValue' ? text : `${name}=${wordOf(value).text}`
}

/** Words stay in the text, as the shell understands them. */
function without(source: string, cuts: readonly Cut[]): string {
  let [text, at] = ['', 0]
  for (const { pos, end, what, text: word } of [...cuts].sort((a, b) => a.pos - b.pos)) {
    if (pos >= at) text += `${source.slice(at, pos)} ${what === 'word' ? `${word} ` : ''}`
    at = Math.max(at, end)
  }
  return text + source.slice(at)
}

// ---- our variables in a command: each is replaced by a mark, which shows whether a word leads into the copy ---

/** A variable that stands for a folder. */
export interface Variable {
  readonly name: string
  readonly folder: string
  /** At run time it leads into the copy. */
  readonly isCopied: boolean
}

/** The order gives each variable its mark. */
export function variablesOf({ kind, path, projectDir, hooksDir = dirname(path) }: Unit): readonly Variable[] {
  const isCopied = kind === 'folder'
  const own = ['CLAUDE_PLUGIN_ROOT', 'PLUGIN_ROOT', 'AMPLIFIER_SKILL_DIR', 'CLAUDE_SKILL_DIR']
  return [
    { name: 'CLAUDE_PROJECT_DIR', folder: projectDir, isCopied: false },
    { name: 'AMPLIFIER_PROJECT_DIR', folder: projectDir, isCopied: false },
    { name: 'HOME', folder: homedir(), isCopied: false },
    { name: 'AMPLIFIER_HOOKS_DIR', folder: hooksDir, isCopied },
    ...(isCopied ? own.map((name) => ({ name, folder: path, isCopied })) : []),
  ]
}

let drawn: string | undefined

/** Plain text for every shell parser. It differs in each process, so no folder of a project can have this name. */
function sign(): string {
  drawn ??= `/%${nonce()}`
  return drawn
}

function marks(): RegExp {
  return new RegExp(`${sign()}(\\d)%`, 'g')
}

/** The text as a shell would read it, with a mark for each of our variables. */
export function markedText(hook: UnitHook, unit: Unit, variables: readonly Variable[]): string {
  const isSkill = unit.kind === 'folder' && unit.hooksDir === unit.path
  const inSkill = (text: string) => (isSkill && /^\.\.?\//.test(text) ? `\${CLAUDE_SKILL_DIR}/${text}` : text)
  const text =
    hook.args === undefined
      ? inSkill(hook.command)
      : `${circumstances(hook, unit)}${[inSkill(hook.command), ...hook.args].map(inQuotes).join(' ')}`
  return variables.reduce((marked, { name }, i) => marked.replace(patternOf(name), `${sign()}${i}%`), text)
}

/** A process's folder and variables, written as shell. */
function circumstances({ dir, env = {} }: UnitHook, { kind }: Unit): string {
  const variables = Object.entries(env).map(([name, value]) =>
    /^[A-Za-z_]\w*$/.test(name) ? `${name}=${inQuotes(value)} ` : '',
  )
  if (dir === undefined) return variables.join('')
  const isBelow = !/^[/$]/.test(dir)
  const folder = isBelow && kind === 'folder' ? `\${CLAUDE_PLUGIN_ROOT}/${dir}` : dir
  return `cd ${inQuotes(folder)} && ${variables.join('')}`
}

/** `$NAME`, `${NAME}` and `${NAME:-x}`. The last is NAME too, because it is always set. */
function patternOf(name: string): RegExp {
  return new RegExp(`\\$(?:${name}(?!\\w)|\\{${name}(?::?[-=?][^{}]*)?\\}|env:${name}(?!\\w))`, 'g')
}

/** A word with its marks resolved. */
export interface Lead {
  /** With folders in place of the marks. */
  readonly text: string
  readonly variable: Variable | undefined
}

export function unmarked(word: string, variables: readonly Variable[]): Lead {
  let variable: Variable | undefined
  const text = word.replace(marks(), (_, i: string) => {
    variable ??= variables[Number(i)]
    return variables[Number(i)]?.folder ?? ''
  })
  return { text, variable }
}

/** For people: with variable names in place of the marks, even for a mark that was cut short. */
export function readable(text: string, variables: readonly Variable[]): string {
  const named = text.replace(marks(), (_, i: string) => `$${variables[Number(i)]?.name}`)
  return named.replace(/\/%[0-9a-f]*\d?…$/, (cut) =>
    `${sign()}0`.startsWith(cut.slice(0, -1)) || cut.startsWith(sign()) ? '/…' : cut,
  )
}

/** Whether the shell leaves a variable as it is: in single quotes, or after a backslash. */
export function isUnfilled(written: string): boolean {
  return written.startsWith(`'${sign()}`) || written.startsWith(`\\${sign()}`)
}
