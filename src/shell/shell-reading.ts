// What a bash command would run: every simple command in it, however it is wrapped, and whether some stay unseen.

import {
  type Command,
  forEachChild,
  type ParsedScript,
  parse,
  type Redirection,
  type SyntaxNode,
} from 'unbash'
import {
  assignedWord,
  bodyOf,
  isOpen,
  isPlain,
  joined,
  literal,
  MORE,
  OPEN,
  type ShellWord,
  wordOf,
} from './shell-word.js'
import { type Inner, innerOf } from './wrappers.js'

export interface SimpleCommand {
  /** The program without its folder: `git` for `/usr/bin/git`. */
  readonly name: string
  /** The program and its arguments, without quotes; what only the running shell knows stands as it was written. */
  readonly words: readonly string[]
  /** Whether a word depends on the running shell: a variable, a substitution, a glob, more arguments. */
  readonly dynamic: boolean
  /** The words in a row, with OPEN for what is dynamic. */
  readonly shape: string
  /** As it was written, quotes, assignments and redirections included; not for one that another runs. */
  readonly source?: string
}

export interface ShellReading {
  /** The command, as it was given. */
  readonly source: string
  /** In the order they stand in; `sudo rm x` is two, `sudo rm x` and `rm x`. */
  readonly commands: readonly SimpleCommand[]
  /** More may run than the commands: a name or a script is dynamic, or the text cannot be read. */
  readonly unknown: boolean
  /** Why, in words. */
  readonly why?: string
  /** Whether `$( )`, backticks or a `$VARIABLE` stand anywhere in it. */
  readonly expands: boolean
  /** Whether it has a here-document in which the shell expands. */
  readonly heredoc: boolean
}

/** UTF-16 units; longer commands are not read. */
export const LONGEST = 65_536
/** Of the syntax tree, in nodes. The parser gives up deeper down, not always with an error. */
const DEEPEST = 400
/** Commands that run commands, and scripts in scripts. */
const MOST_LAYERS = 16

const TOO_DEEP = 'it is nested too deeply'

/** Never throws. Looks into no file, and into no language but the shell's. */
export function readShell(text: string): ShellReading {
  const reader = new Reader(text)
  try {
    reader.script(text, undefined, 0)
  } catch (error) {
    // The parser's own trouble, a full stack for one, must not hide a command.
    reader.miss(`it cannot be read: ${error instanceof Error ? error.message : 'the parser failed'}`)
  }
  return reader.reading()
}

/** What comes in: a text, open where it is not known. Undefined: nothing that the command says. */
type Input = ShellWord | undefined

const PIPED: Input = { text: '', shape: OPEN }

class Reader {
  readonly #source: string
  readonly #commands: SimpleCommand[] = []
  #why: string | undefined
  #expands = false
  #heredoc = false
  /** Of scripts in scripts, too. */
  #read = 0

  constructor(source: string) {
    this.#source = source
  }

  reading(): ShellReading {
    const seen = { source: this.#source, commands: this.#commands }
    const flags = { expands: this.#expands, heredoc: this.#heredoc }
    if (this.#why === undefined) return { ...seen, ...flags, unknown: false }
    return { ...seen, ...flags, unknown: true, why: this.#why }
  }

  /** Something may run that is not among the commands. The first reason is told. */
  miss(why: string): void {
    this.#why ??= why
  }

  script(text: string, input: Input, layer: number): void {
    this.#read += text.length
    if (text.length > LONGEST || this.#read > 4 * LONGEST) this.miss('it is too long to be read')
    else if (layer > MOST_LAYERS) this.miss(TOO_DEEP)
    else if (text.includes(OPEN)) this.miss('it has a NUL character')
    else {
      this.#visit(parse(text), { source: text, input, layer }, 0)
      // Bash takes a carriage return for part of a word; who hands it the text may have dropped it before.
      const lines = text.includes('\r') ? text.replace(/\r+(?=\n|$)/g, '') : text
      if (lines !== text) this.#visit(parse(lines), { source: lines, input, layer }, 0)
    }
  }

  #visit(node: SyntaxNode, scope: Scope, depth: number): void {
    if (node.type === 'Word' && isPlain(node)) return
    if (depth > DEEPEST) this.miss(TOO_DEEP)
    else if (!this.#visitWithInput(node, scope, depth + 1)) {
      this.#note(node, scope)
      forEachChild(node, (child) => this.#visit(child, scope, depth + 1))
    }
  }

  /** Nodes whose children have another input or source than the node itself. */
  #visitWithInput(node: SyntaxNode, scope: Scope, depth: number): boolean {
    const visit = (child: SyntaxNode, input: Input) => this.#visit(child, { ...scope, input }, depth)
    if (node.type === 'Script') this.#scriptNode(node, scope, depth)
    else if (node.type === 'Pipeline') {
      for (const [i, command] of node.commands.entries()) visit(command, i === 0 ? scope.input : PIPED)
    } else if (node.type === 'Redirected') {
      visit(node.command, inputOf(node.redirects, scope.input))
      for (const redirect of node.redirects) this.#visit(redirect, scope, depth)
    } else if (node.type === 'ProcessSubstitution' && node.script) {
      this.#expands = true
      visit(node.script, PIPED)
    } else return false
    return true
  }

  #note(node: SyntaxNode, scope: Scope): void {
    switch (node.type) {
      case 'Command':
        this.#simple(node, scope)
        break
      case 'CommandExpansion':
      case 'ArithmeticCommandExpansion':
      case 'ProcessSubstitution':
        this.#expands = true
        if (!node.script) this.miss(`${short(node.text)} cannot be read`)
        break
      case 'SimpleExpansion':
        this.#expands = true
        break
      case 'ParameterExpansion':
        this.#expands = true
        if (node.operation?.type === 'Unknown') this.#missIn(node.text)
        break
      case 'ArithmeticExpansion':
        this.#expands = true
        if (!node.expression) this.#missIn(node.text)
        break
      case 'ArithmeticCommand':
        if (!node.expression) this.#missIn(node.body)
        break
      case 'BraceExpansion':
      case 'ExtendedGlob':
        if (!node.parts) this.#missIn(node.text)
        break
      case 'HereDoc':
        this.#heredoc ||= !node.delimiter?.quoted
        break
    }
  }

  #scriptNode(node: ParsedScript, scope: Scope, depth: number): void {
    const [error] = node.errors ?? []
    if (error) this.miss(`it cannot be read: ${error.message}`)
    const inner = node.source === undefined ? scope : { ...scope, source: node.source }
    for (const command of node.commands) this.#visit(command, inner, depth)
  }

  /** Text that the parser did not take apart may hide a command. */
  #missIn(text: string): void {
    if (/[$`]|[<>]\(/.test(text)) this.miss(`${short(text)} cannot be read`)
  }

  #simple(node: Command, { source, input, layer }: Scope): void {
    if (!node.name) return
    const words = [wordOf(node.name)]
    for (const arg of node.args) words.push(arg.type === 'Word' ? wordOf(arg) : assignedWord(arg))
    this.#run(words, inputOf(node.redirects, input), layer, source.slice(node.pos, node.end))
  }

  #run(words: readonly ShellWord[], input: Input, layer: number, source?: string): void {
    const [first = literal(''), ...args] = words
    const { text, shape } = joined(words)
    const name = first.text.slice(first.text.lastIndexOf('/') + 1)
    const texts = words.filter((word) => word !== MORE).map((word) => word.text)
    const command = { name, words: texts, dynamic: text !== shape, shape }
    this.#commands.push(source === undefined ? command : { ...command, source })
    if (isOpen(first)) this.miss(`only the shell knows the command behind ${short(first.text)}`)
    else this.#runInner(name, innerOf(name, args), input, layer + 1)
  }

  #runInner(name: string, inner: Inner | undefined, input: Input, layer: number): void {
    if (!inner) return
    if (inner.unseen) this.miss(`only the shell knows what ${short(name)} runs`)
    if (layer > MOST_LAYERS) this.miss(TOO_DEEP)
    else for (const each of inner.commands ?? []) this.#run(each, input, layer)
    for (const script of inner.scripts ?? []) this.#runScript(name, script, layer)
    if (inner.readsInput && input) this.#runScript(name, input, layer)
  }

  #runScript(name: string, script: ShellWord, layer: number): void {
    if (isOpen(script)) this.miss(`only the shell knows the script that ${short(name)} runs`)
    this.script(script.text, undefined, layer)
  }
}

interface Scope {
  /** What positions point into. */
  readonly source: string
  readonly input: Input
  readonly layer: number
}

/** The last redirection of standard input counts. A file is not looked into. */
function inputOf(redirects: readonly Redirection[], outer: Input): Input {
  let input = outer
  for (const redirect of redirects) {
    if (!isOfInput(redirect)) continue
    if (redirect.type === 'HereDoc') input = bodyOf(redirect)
    else if (!redirect.target) input = undefined
    else if (redirect.type === 'HereString') input = wordOf(redirect.target)
    else input = isOpen(wordOf(redirect.target)) ? PIPED : undefined
  }
  return input
}

function isOfInput(redirect: Redirection): boolean {
  const { descriptor } = redirect
  if (descriptor && (descriptor.type !== 'FileDescriptor' || descriptor.value !== 0)) return false
  return redirect.operator.startsWith('<')
}

function short(text: string): string {
  return text.length > 40 ? `${text.slice(0, 37)}…` : text
}
