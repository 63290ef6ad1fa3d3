// One command that would run, its words and its input. Most patterns only look at its name, so the rest is computed on demand.

import type { Assignment, Command, HereDoc, Redirection, Word, WordPart } from 'unbash'

export class SimpleCommand {
  /** The program as written. */
  readonly program: string
  /** The program without its folder: `git` for `/usr/bin/git`, and for `git.exe`, which WSL starts. */
  readonly name: string
  readonly #given: Command | readonly ShellWord[] | undefined
  readonly #script: string | undefined
  #shape: string | undefined
  #words: readonly string[] | undefined

  /** From a node of a script, from the words that another command runs, or from a whole script of plain words. */
  constructor(program: string, given: Command | readonly ShellWord[] | undefined, script?: string) {
    this.program = program
    this.name = nameOf(program)
    this.#given = given
    this.#script = script
  }

  /** The program and its arguments, without quotes. Parts that are only known at run time stay as written. */
  get words(): readonly string[] {
    this.#words ??= this.#textOfWords()
    return this.#words
  }

  #textOfWords(): readonly string[] {
    const given = this.#given
    if (given === undefined) return splitAtSpaces(this.#script ?? '')
    const words = 'type' in given ? wordsOf(given) : given.filter((word) => word !== MORE)
    return words.map(({ text }) => text)
  }

  /** The same with OPEN for dynamic parts. */
  get shapes(): readonly string[] {
    const given = this.#given
    if (given === undefined) return this.words
    return ('type' in given ? wordsOf(given) : given).map(({ shape }) => shape)
  }

  /** Whether a word depends on the running shell: a variable, a substitution, a glob, more arguments. */
  get dynamic(): boolean {
    return this.shape.includes(OPEN)
  }

  /** The words joined by spaces, with OPEN for dynamic parts. */
  get shape(): string {
    this.#shape ??= this.#given === undefined ? (this.#script ?? '') : shapeOf(this.#given)
    return this.#shape
  }

  /** As written, with quotes, assignments and redirections. Undefined for a command that another one runs. */
  get source(): string | undefined {
    const given = this.#given
    return given !== undefined && 'type' in given ? this.#script?.slice(given.pos, given.end) : this.#script
  }

  /** Whether this is in it, with or without quotes. */
  says(text: string): boolean {
    return this.shape.includes(text) || this.source?.includes(text) === true
  }

  /** Whether nothing but words is written: no assignment, no redirection. */
  get isBare(): boolean {
    const given = this.#given
    return given === undefined || ('type' in given && given.prefix.length + given.redirects.length === 0)
  }

  /** Whether the program, its name or the source starts with this. If not, no pattern that starts with it can match. */
  beginsWith(text: string): boolean {
    if (this.program.startsWith(text) || this.name.startsWith(text)) return true
    const given = this.#given
    if (this.#script === undefined || given === undefined || !('type' in given)) return false
    return this.#script.startsWith(text, given.pos)
  }
}

/** For the few words of a command, this is faster than `split`. */
function splitAtSpaces(text: string): readonly string[] {
  const words: string[] = []
  let start = 0
  for (let end = text.indexOf(' '); end >= 0; end = text.indexOf(' ', start)) {
    words.push(text.slice(start, end))
    start = end + 1
  }
  words.push(text.slice(start))
  return words
}

/** A pattern may have a star, which can be a folder too. */
export function nameOf(program: string): string {
  const name = program.slice(program.lastIndexOf('/') + 1)
  if (name.includes('*')) return program
  return name.length > 4 && name.endsWith('.exe') ? name.slice(0, -4) : name
}

export function wordsOf({ name, args }: Command): readonly ShellWord[] {
  const words = args.map((arg) => (arg.type === 'Word' ? wordOf(arg) : assignedWord(arg)))
  return name ? [wordOf(name), ...words] : words
}

/** The same as the shapes of the words, without making the words. */
function shapeOf(given: Command | readonly ShellWord[]): string {
  if (!('type' in given)) return given.map(({ shape }) => shape).join(' ')
  let shape = given.name ? wordShape(given.name) : ''
  for (const item of given.suffix) {
    if (item.type === 'Word') shape += ` ${wordShape(item)}`
    else if (item.type === 'Assignment') shape += ` ${assignedWord(item).shape}`
  }
  return shape
}

function wordShape(word: Word): string {
  return isPlain(word.text) ? word.text : wordOf(word).shape
}

// ---- a word without its quotes, with gaps for parts that are only known at run time ---------------------------

/** Stands for unknown text. No readable command contains it. */
export const OPEN = '\0'

export interface ShellWord {
  /** Without quotes. Parts that the shell fills in stay as written. */
  readonly text: string
  /** The same with OPEN for those parts. */
  readonly shape: string
  /** Whether the shell may turn it into several words, or none. */
  readonly splits: boolean
}

/** Further arguments from elsewhere. */
export const MORE: ShellWord = { text: '', shape: OPEN, splits: true }

export function isOpen({ shape }: ShellWord): boolean {
  return shape.includes(OPEN)
}

/** No quote, expansion or glob: the parser need not take the word apart. */
const PLAIN = /^[\w./:=@%+,-]+$/

/** One pair of quotes without special characters inside. */
const QUOTED = /^(?:"[^"$`\\]*"|'[^']*')$/

export function isPlain(text: string): boolean {
  return PLAIN.test(text)
}

export function wordOf(word: Word): ShellWord {
  if (isPlain(word.text)) return literal(word.text)
  if (QUOTED.test(word.text)) return literal(word.text.slice(1, -1))
  const { parts, value } = word
  if (parts) return { text: value, shape: partsShape(parts), splits: parts.some(canSplit) }
  return { text: value, shape: HOME_ALONE.test(word.text) ? OPEN : value, splits: false }
}

/** `~`, `~bob`, `~+`: the whole word is unknown. After a slash the text is known. */
const HOME_ALONE = /^~[^/]*$/

/** An argument like `X=1` of `export` and similar builtins. */
export function assignedWord({ text, name, value }: Assignment): ShellWord {
  if (value.type === 'ArrayValue') return { text, shape: `${name}=${OPEN}`, splits: false }
  const word = wordOf(value)
  return { text: `${name}=${word.text}`, shape: `${name}=${word.shape}`, splits: false }
}

/** The body as the program reads it. */
export function bodyOf({ body, delimiter, operator }: HereDoc): ShellWord {
  const flat = operator === '<<-' ? body.text.replace(/^\t+/gm, '') : body.text
  if (delimiter?.quoted) return literal(flat)
  const text = flat.replace(/\\([$`\\\n])/g, (_, char) => (char === '\n' ? '' : char))
  return { text, shape: body.parts?.some(isFilledIn) ? OPEN : text, splits: false }
}

export function literal(text: string): ShellWord {
  return { text, shape: text, splits: false }
}

export function joined(words: readonly ShellWord[]): ShellWord {
  const text = words.map((word) => word.text).join(' ')
  const shape = words.map((word) => word.shape).join(' ')
  return { text, shape, splits: words.some((word) => word.splits) }
}

/** Drops the first characters, which must be known. */
export function cutFront({ text, shape, splits }: ShellWord, length: number): ShellWord {
  return { text: text.slice(length), shape: shape.slice(length), splits }
}

function partsShape(parts: readonly WordPart[]): string {
  let shape = ''
  for (const part of parts) {
    if (part.type === 'DoubleQuoted' || part.type === 'LocaleString') shape += partsShape(part.parts)
    else shape += isFilledIn(part) ? OPEN : part.value
  }
  return shape
}

type Known = Extract<WordPart, { type: 'Literal' | 'SingleQuoted' | 'AnsiCQuoted' }>
type Quoted = Extract<WordPart, { type: 'DoubleQuoted' | 'LocaleString' }>

function isFilledIn(part: WordPart): part is Exclude<WordPart, Known | Quoted> {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
    case 'DoubleQuoted':
    case 'LocaleString':
      return false
    default:
      return true
  }
}

/** In quotes, only `"$@"` and the like can become several words. */
function canSplit(part: WordPart): boolean {
  if (part.type !== 'DoubleQuoted' && part.type !== 'LocaleString') return isFilledIn(part)
  return part.parts.some((inner) => isFilledIn(inner) && /[@*]/.test(inner.text))
}

// ---- standard input, as far as the command line says: a shell reads it as a script ----------------------------

/** A text, with gaps where it is unknown. Undefined for the outer shell's own input, or for a file, which is not read. */
export type Input = ShellWord | undefined

/** From another command. */
export const PIPED: Input = { text: '', shape: OPEN, splits: false }

/** The last redirection of standard input counts. */
export function inputOf(redirects: readonly Redirection[], outer: Input): Input {
  let input = outer
  for (const redirect of redirects) if (isOfInput(redirect)) input = inputFrom(redirect)
  return input
}

function isOfInput({ descriptor, operator }: Redirection): boolean {
  if (!descriptor) return operator.startsWith('<')
  // `{x}<file` uses another number.
  return descriptor.type === 'FileDescriptor' && descriptor.value === 0
}

function inputFrom(redirect: Redirection): Input {
  if (redirect.type === 'HereDoc') return bodyOf(redirect)
  if (!redirect.target) return undefined
  const target = wordOf(redirect.target)
  if (redirect.type === 'HereString') return target
  // `<&3`: something opened earlier.
  if (redirect.operator.endsWith('&')) return target.text === '-' ? undefined : PIPED
  return isOpen(target) || isDescriptor(target.text) ? PIPED : undefined
}

/** `/dev/stdin`, `/dev/fd/3`, `/dev/tcp/…`, in any folder: these are not files. */
export function isDescriptor(path: string): boolean {
  return /(?:^|\/)(?:stdin|\d+)$|\/(?:tcp|udp)\//.test(path)
}
