// One command that would run. Most patterns look at its name alone, so the rest is made when it is asked for.

import type { Command, Word } from 'unbash'
import { assignedWord, isPlain, MORE, OPEN, type ShellWord, wordOf } from './shell-word.js'

export class SimpleCommand {
  /** The program as it was named. */
  readonly program: string
  /** The program without its folder: `git` for `/usr/bin/git`. */
  readonly name: string
  readonly #given: Command | readonly ShellWord[] | undefined
  readonly #script: string | undefined
  #shape: string | undefined

  /** Of a node in a script; of the words that another command runs; or it is the whole script, in plain words. */
  constructor(program: string, given: Command | readonly ShellWord[] | undefined, script?: string) {
    const slash = program.lastIndexOf('/')
    this.program = program
    this.name = slash < 0 ? program : program.slice(slash + 1)
    this.#given = given
    this.#script = script
  }

  /** The program and its arguments, without quotes; what only the running shell knows stands as it was written. */
  get words(): readonly string[] {
    const given = this.#given
    if (given === undefined) return this.#script?.split(' ') ?? []
    const words = 'type' in given ? wordsOf(given) : given.filter((word) => word !== MORE)
    return words.map(({ text }) => text)
  }

  /** Whether a word depends on the running shell: a variable, a substitution, a glob, more arguments. */
  get dynamic(): boolean {
    return this.shape.includes(OPEN)
  }

  /** The words in a row, with OPEN for what is dynamic. */
  get shape(): string {
    this.#shape ??= this.#given === undefined ? (this.#script ?? '') : shapeOf(this.#given)
    return this.#shape
  }

  /** As it was written, quotes, assignments and redirections included; not for one that another runs. */
  get source(): string | undefined {
    const given = this.#given
    return given !== undefined && 'type' in given ? this.#script?.slice(given.pos, given.end) : this.#script
  }

  /** Whether the program, its name or the source begins like this; where none does, no pattern that begins so fits. */
  beginsWith(text: string): boolean {
    if (this.program.startsWith(text) || this.name.startsWith(text)) return true
    const given = this.#given
    if (this.#script === undefined || given === undefined || !('type' in given)) return false
    return this.#script.startsWith(text, given.pos)
  }
}

/** The program of a node and its arguments. */
export function wordsOf({ name, args }: Command): readonly ShellWord[] {
  const words = args.map((arg) => (arg.type === 'Word' ? wordOf(arg) : assignedWord(arg)))
  return name ? [wordOf(name), ...words] : words
}

/** The same as the shapes of the words, without making them. */
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
