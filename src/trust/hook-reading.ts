// The command of a hook taken apart: what would run, what it sets, and every piece of its text that may name a file.

import type { Assignment, Command, ParsedScript, Redirection, SyntaxNode, Word } from 'unbash'
import { readShell } from '../shell/shell-reading.js'
import { isOpen, wordOf } from '../shell/shell-word.js'
import { SimpleCommand, wordsOf } from '../shell/simple-command.js'
import { isHarmless, isReader, isRunner, isWriter } from './data-readers.js'

export interface HookReading {
  readonly commands: readonly SimpleCommand[]
  /** Why more may run than the commands. */
  readonly why: string | undefined
  /** Texts that were read as scripts. */
  readonly scripts: ReadonlySet<string>
  /** Whether the files that a command for reading names are nothing but data. */
  readonly isDataSafe: boolean
  /** Pieces of all the text but names of files that are written, or that are data. */
  readonly pieces: readonly string[]
  /** As `NAME=value`, of the shell's own and of words that look like it. */
  readonly assignments: readonly string[]
  /** Words as they are written, with quotes. */
  readonly written: readonly string[]
  /** Where all of it goes first: `cd X && …`. */
  readonly begin: string | undefined
  /** Whether a command may run more than once, or be called by another name. */
  readonly repeats: boolean
}

export function readHook(text: string): HookReading {
  const notes = new Notes(text)
  const { commands, why } = readShell(text, (node, source) => notes.take(node, source))
  return notes.reading(commands, why)
}

/** Not read as shell: every piece counts. */
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
  /** `word`: one with quotes in it, which would cut it in two. */
  readonly what: 'output' | 'data' | 'script' | 'word'
  readonly text: string
}

/** What is noticed on the way through the tree. */
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
    // `sh run` is told as `sh run` and `run`.
    const operands = new Set(commands.filter(isRunner).map(({ words }) => words[1]))
    const isDataSafe =
      why === undefined &&
      !this.#defines &&
      !this.#assignments.some((one) => one.startsWith('PATH=')) &&
      commands.every((command) => operands.has(command.program) || isHarmless(command)) &&
      // What is written may be what is run then.
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
      // `<>` is for reading as well.
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

  /** Between blanks, quotes and operators: from redirections, assignments, here-documents, code in other languages. */
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

  /** A text that was read as a script has its own pieces. */
  #isMeant({ what, text, source }: Cut, isDataSafe: boolean): boolean {
    if (what === 'script') return text !== source && this.#scripts.has(text)
    if (what === 'word') return !/\s/.test(text)
    return what === 'output' || isDataSafe
  }
}

/** Nothing else runs if it does not get there. */
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

/** Words are left in, as the shell understands them. */
function without(source: string, cuts: readonly Cut[]): string {
  let [text, at] = ['', 0]
  for (const { pos, end, what, text: word } of [...cuts].sort((a, b) => a.pos - b.pos)) {
    if (pos >= at) text += `${source.slice(at, pos)} ${what === 'word' ? `${word} ` : ''}`
    at = Math.max(at, end)
  }
  return text + source.slice(at)
}
