// Reads what a bash command would run: every simple command in it, however wrapped, and whether some cannot be seen.

import {
  type Command,
  forEachChild,
  type ParsedScript,
  type Pipeline,
  parse,
  type SyntaxNode,
  type Word,
} from 'unbash'
import {
  type Beyond,
  beyondIn,
  hiddenIn,
  isAlone,
  isBeyondBuiltin,
  isBeyondText,
  short,
} from './doubtful-syntax.js'
import type { Inner } from './inner-command.js'
import { asDash } from './script-runners.js'
import {
  type Input,
  inputOf,
  isOpen,
  isPlain,
  OPEN,
  PIPED,
  type ShellWord,
  SimpleCommand,
  wordOf,
  wordsOf,
} from './simple-command.js'
import { isSpecial, wrapperOf } from './wrappers.js'

export interface ShellReading {
  /** The command as given. */
  readonly source: string
  /** In order of appearance. `sudo rm x` gives two: `sudo rm x` and `rm x`. */
  readonly commands: readonly SimpleCommand[]
  /** More may run than these commands: a name or a script is dynamic, or the text cannot be read. */
  readonly unknown: boolean
  /** The reason, in words. */
  readonly why: string | undefined
  /** Whether some of the text was not parsed at all. */
  readonly unparsed: boolean
  /** Whether it has a syntax error, as far as the parser can tell. */
  readonly malformed: boolean
  /** Whether it contains `$( )`, backticks or a `$VARIABLE`. */
  readonly expands: boolean
  /** Whether it has a here-document that the shell expands. */
  readonly heredoc: boolean
  /** Whether Claude Code would not analyse it. We do, so this says nothing about `unknown`. */
  readonly beyond: boolean
}

/** In UTF-16 units. Longer commands are not read, as in Claude Code. */
export const LONGEST = 10_000
export const TOO_LONG = 'it is too long to parse'
/** The limit for each kind of opening, because the parser searches the rest of the text for the end of each one. */
const MOST_OPENINGS = 300
/** In nodes of the syntax tree. The parser gives up deeper down, and not always with an error. */
const DEEPEST = 400
/** The limit for commands that run commands, and for scripts in scripts. */
const MOST_LAYERS = 16

const TOO_DEEP = 'it is nested too deeply'

/** Called with each node, and the text that its positions refer to. */
export type NodeListener = (node: SyntaxNode, source: string) => void

/** Never throws. Reads no files, and no language except the shell's. */
export function readShell(text: string, seen?: NodeListener): ShellReading {
  const plain = seen ? undefined : readPlainShell(text)
  if (plain) return plain
  const reader = new Reader(text, seen)
  try {
    reader.script(text, undefined, 0)
  } catch (error) {
    // A failure of the parser, such as a stack overflow, must not hide a command.
    reader.missSyntax(error instanceof Error ? error.message : 'the parser failed')
  }
  return reader.reading()
}

/** Plain words with single spaces, as one command or a list of them. The first word of a command is not an assignment. */
const PLAIN_LINE =
  /^[\w./:@%+,-]+(?: (?!=)[\w./:=@%+,-]+)*(?:(?:;| &&| \|\|?) [\w./:@%+,-]+(?: (?!=)[\w./:=@%+,-]+)*)*$/
const BETWEEN = /(?:;| &&| \|\|?) /

/** `npm test | head` needs no parser, which a program that starts for every event would have to load first. */
export function readPlainShell(source: string): ShellReading | undefined {
  if (source.length > LONGEST || !PLAIN_LINE.test(source)) return undefined
  const commands: SimpleCommand[] = []
  for (const line of /[;&|]/.test(source) ? source.split(BETWEEN) : [source]) {
    const space = line.indexOf(' ')
    const command = new SimpleCommand(space < 0 ? line : line.slice(0, space), undefined, line)
    if (isSpecial(command.name)) return undefined
    commands.push(command)
  }
  return {
    source,
    commands,
    unknown: false,
    unparsed: false,
    why: undefined,
    malformed: false,
    expands: false,
    heredoc: false,
    beyond: false,
  }
}

interface Scope {
  /** The text that positions refer to. */
  readonly source: string
  /** Whether no word can hide anything. */
  readonly plain: boolean
  /** Whether words may differ from how they are written. */
  readonly quoted: boolean
  readonly input: Input
  readonly layer: number
}

/** Anything except words, quotes, lists, pipes and output to files. Without it, no word of a script can hide anything. */
const HIDING = /[^\w./:=@%+, \t\n;|&>"'-]/

const EXPANSIONS: ReadonlySet<SyntaxNode['type']> = new Set([
  'CommandExpansion',
  'ArithmeticCommandExpansion',
  'ProcessSubstitution',
  'SimpleExpansion',
  'ParameterExpansion',
  'ArithmeticExpansion',
])

class Reader {
  readonly #source: string
  readonly #seen: NodeListener | undefined
  readonly #commands: SimpleCommand[] = []
  #why: string | undefined
  #malformed = false
  #unparsed = false
  #expands = false
  #heredoc = false
  #beyond: Beyond | undefined
  #alone = true
  /** Includes scripts in scripts. */
  #read = 0
  /** A shell that reads its input, and whether `exec` replaced that input. */
  #listener: string | undefined
  #replaced = false

  constructor(source: string, seen: NodeListener | undefined) {
    this.#source = source
    this.#seen = seen
  }

  reading(): ShellReading {
    if (this.#replaced && this.#listener !== undefined) this.#missScript(this.#listener)
    return {
      source: this.#source,
      commands: this.#commands,
      unknown: this.#why !== undefined,
      why: this.#why,
      unparsed: this.#unparsed,
      malformed: this.#malformed,
      expands: this.#expands,
      heredoc: this.#heredoc,
      beyond: this.#beyond === 'anywhere' || (this.#beyond !== undefined && !this.#alone),
    }
  }

  /** Something may run that is not among the commands. The first reason is kept. */
  miss(why: string): void {
    this.#why ??= why
  }

  missSyntax(problem: string): void {
    // Only if nothing else was found before: that might explain it.
    this.#malformed ||= this.#why === undefined
    this.#missText(`it cannot be parsed: ${problem}`)
  }

  #missText(why: string): void {
    this.#unparsed = true
    this.miss(why)
  }

  script(text: string, input: Input, layer: number): void {
    this.#read += text.length
    if (text.length > LONGEST || this.#read > 4 * LONGEST) this.#missText(TOO_LONG)
    else if (layer > MOST_LAYERS || opensTooOften(text)) this.#missText(TOO_DEEP)
    else if (!HIDING.test(text)) {
      this.#parsed({
        source: text,
        plain: true,
        quoted: text.includes('"') || text.includes("'"),
        input,
        layer,
      })
    } else if (text.includes(OPEN)) this.#missText('it contains a NUL character')
    else {
      this.#parsed({ source: text, plain: false, quoted: true, input, layer })
      // Bash treats a carriage return as part of a word, but the program that passes the text on may have dropped it.
      if (text.includes('\r')) {
        this.#parsed({ source: withoutReturns(text), plain: false, quoted: true, input, layer })
      }
    }
  }

  #parsed(scope: Scope): void {
    const script = parse(scope.source)
    this.#seen?.(script, scope.source)
    if (scope.layer === 0) {
      this.#alone = isAlone(script)
      if (isBeyondText(scope.source, scope.plain)) this.#beyond = 'anywhere'
    }
    this.#script(script, scope, 0)
  }

  // ---- the tree -------------------------------------------------------------------------------------------------

  #visit(node: SyntaxNode, scope: Scope, depth: number): void {
    this.#seen?.(node, scope.source)
    if (depth > DEEPEST) this.#missText(TOO_DEEP)
    else if (node.type === 'Statement') this.#visit(node.command, scope, depth + 1)
    else if (node.type === 'Command') this.#command(node, scope, depth + 1)
    else if (node.type === 'AndOr') this.#list(node.commands, scope, depth + 1)
    else if (node.type === 'Pipeline') this.#pipeline(node, scope, depth + 1)
    else if (node.type === 'Word') this.#word(node, scope, depth + 1)
    else if (node.type === 'Script') this.#script(node, scope, depth + 1)
    else {
      this.#note(node, scope)
      const inner = withInput(node, scope)
      forEachChild(node, (child) => {
        this.#visit(child, isRedirection(child) ? scope : inner, depth + 1)
      })
    }
  }

  #script(node: ParsedScript, scope: Scope, depth: number): void {
    const error = node.errors?.[0]
    if (error) this.missSyntax(error.message)
    const inner = node.source === undefined ? scope : { ...scope, source: node.source }
    this.#list(node.commands, inner, depth)
  }

  #list(commands: readonly SyntaxNode[], scope: Scope, depth: number): void {
    for (const command of commands) this.#visit(command, scope, depth)
  }

  #pipeline({ prefixes, commands }: Pipeline, scope: Scope, depth: number): void {
    // `time ( … )`
    if (prefixes.length > 0 && commands[0]?.type !== 'Command') this.#beyond = 'anywhere'
    const [first, ...others] = commands
    if (!first) return // `!` alone
    this.#visit(first, scope, depth)
    if (others.length > 0) this.#list(others, { ...scope, input: PIPED }, depth)
  }

  #word(node: Word, scope: Scope, depth: number): void {
    if (isPlain(node.text)) return
    if (!node.parts || scope.layer === 0) this.#note(node, scope)
    for (const part of node.parts ?? []) this.#visit(part, scope, depth)
  }

  /** Facts about the node itself, not its children. */
  #note(node: SyntaxNode, { source, layer }: Scope): void {
    const why = hiddenIn(node, source)
    if (why !== undefined) this.#missText(why)
    if (EXPANSIONS.has(node.type)) this.#expands = true
    else if (node.type === 'HereDoc') this.#heredoc ||= !node.delimiter?.quoted
    // Claude Code does not look at what another program does with its arguments.
    if (layer === 0 && this.#beyond !== 'anywhere') this.#beyond = beyondIn(node) ?? this.#beyond
  }

  // ---- commands -------------------------------------------------------------------------------------------------

  #command(node: Command, scope: Scope, depth: number): void {
    const { name, prefix } = node
    if (name) this.#written(name, node, scope)
    if (scope.plain) {
      for (const child of prefix) this.#note(child, scope)
      return
    }
    for (const child of prefix) this.#visit(child, scope, depth)
    if (name) this.#visit(name, scope, depth)
    for (const child of node.suffix) this.#visit(child, scope, depth)
  }

  #written(name: Word, node: Command, scope: Scope): void {
    const program = !scope.quoted || isPlain(name.text) ? undefined : wordOf(name)
    const command = new SimpleCommand(program?.text ?? name.text, node, scope.source)
    this.#commands.push(command)
    if (program && isOpen(program)) this.#missCommand(program)
    else {
      const inner = wrapperOf(command.name)?.(wordsOf(node).slice(1))
      if (inner) this.#inner(command.name, inner, inputOf(node.redirects, scope.input), scope.layer + 1)
      const builtin = scope.layer === 0 && (inner || command.name === 'unset')
      if (builtin && isBeyondBuiltin(command.name, node)) this.#beyond = 'anywhere'
    }
  }

  #run(words: readonly ShellWord[], input: Input, layer: number): void {
    const [first, ...args] = words
    if (!first) return
    const command = new SimpleCommand(first.text, words)
    this.#commands.push(command)
    if (isOpen(first)) this.#missCommand(first)
    else {
      const inner = wrapperOf(command.name)?.(args)
      if (inner) this.#inner(command.name, inner, input, layer + 1)
    }
  }

  #inner(name: string, inner: Inner, input: Input, layer: number): void {
    if (inner.unseen) this.miss(`what ${short(name)} runs is only known at run time`)
    if (layer > MOST_LAYERS) this.#missText(TOO_DEEP)
    else for (const each of inner.commands ?? []) this.#run(each, input, layer)
    for (const script of inner.scripts ?? []) this.#runScript(name, script, input, layer)
    if (inner.readsInput) {
      this.#listener = name
      if (input) this.#runScript(name, input, undefined, layer)
    }
    // `exec <<<text` applies to everything that follows.
    if (name === 'exec' && input && inner.commands?.length === 0) this.#replaced = true
  }

  #runScript(name: string, script: ShellWord, input: Input, layer: number): void {
    if (isOpen(script)) this.#missScript(name)
    this.script(script.text, input, layer)
    const other = asDash(name, script.text)
    if (other !== undefined) this.script(other, input, layer)
  }

  #missCommand({ text }: ShellWord): void {
    this.miss(`the command in ${short(text)} is only known at run time`)
  }

  #missScript(name: string): void {
    this.miss(`the script that ${short(name)} runs is only known at run time`)
  }
}

const OPENINGS = [/\{/g, /\(/g, /\[/g, /`/g, /<</g]

function opensTooOften(text: string): boolean {
  return (
    text.length > MOST_OPENINGS && OPENINGS.some((each) => (text.match(each)?.length ?? 0) > MOST_OPENINGS)
  )
}

/** Removes those at line ends. A regular expression would retry for each of many returns without a line end. */
function withoutReturns(text: string): string {
  const lines = text.split('\n').map((line) => {
    let end = line.length
    while (line[end - 1] === '\r') end--
    return line.slice(0, end)
  })
  return lines.join('\n')
}

/** The scope for the commands inside a node. */
function withInput(node: SyntaxNode, scope: Scope): Scope {
  switch (node.type) {
    case 'Redirected':
      return { ...scope, input: inputOf(node.redirects, scope.input) }
    case 'Function':
    case 'Coproc':
    case 'ProcessSubstitution':
      // Its input depends on the caller or writer.
      return { ...scope, input: PIPED }
    default:
      return scope
  }
}

function isRedirection({ type }: SyntaxNode): boolean {
  return type === 'Redirect' || type === 'HereDoc' || type === 'HereString'
}
