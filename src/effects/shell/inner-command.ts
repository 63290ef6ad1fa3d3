// Finds the command among the arguments of a program that runs another one, after its options and operands.

import { isOpen, type ShellWord } from './simple-command.js'

/** The words a program takes before the command it runs. */
export interface Options {
  /** Letters of options without a value. */
  readonly flags?: string
  /** Letters of options with a value, in the same word or the next. */
  readonly valued?: string
  /** Long options whose value is the next word. */
  readonly long?: readonly string[]
  /** Long options without a value. */
  readonly longFlags?: readonly string[]
  /** Words between the options and the command. */
  readonly operands?: number
  /** Whether words with a `=`, such as `X=1` or `a-b=1`, may come before the command. */
  readonly assignments?: boolean
}

/** An unknown option may take the next word or not. Each reading gives a command. */
const MOST_READINGS = 8

/** The possible commands. Undefined if they cannot be determined. */
export function commandsBehind(words: readonly ShellWord[], options: Options): ShellWord[][] | undefined {
  const found: ShellWord[][] = []
  let from = 0
  while (found.length < MOST_READINGS) {
    const { at, doubtful } = skipOptions(words, from, options)
    const start = at + (options.operands ?? 0)
    // A word that splits may contain its own command.
    for (let i = from; i < start && i < words.length; i++) if (words[i]?.splits) return undefined
    const command = words.slice(start)
    if (command.length > 0) found.push(command)
    if (!doubtful || at + 1 >= words.length) return found
    from = at + 1
  }
  return undefined
}

/** `doubtful`: the next word may be the value of the option before it. */
function skipOptions(words: readonly ShellWord[], from: number, options: Options) {
  let doubtful = false
  let ended = false
  let at = from
  for (; at < words.length; at++) {
    const word = words[at] as ShellWord
    const { text } = word
    if (options.assignments && text.includes('=') && (ended || !text.startsWith('-'))) {
      doubtful = false
      continue
    }
    if (ended || !text.startsWith('-')) break
    ended = text === '--'
    const takes = takesNext(text, options)
    doubtful = takes === undefined || (isOpen(word) && takes !== true)
    if (takes) at++
  }
  return { at: Math.min(at, words.length), doubtful }
}

/** Whether an option takes the next word. Undefined if it is not known. */
function takesNext(option: string, options: Options): boolean | undefined {
  if (option === '-' || option === '--') return false
  if (option.startsWith('--')) {
    if (option.includes('=') || options.longFlags?.includes(option)) return false
    return options.long?.includes(option) ? true : undefined
  }
  for (let i = 1; i < option.length; i++) {
    const letter = option[i] as string
    if (options.valued?.includes(letter)) return i === option.length - 1
    if (!options.flags?.includes(letter) && !/\d/.test(letter)) return undefined
  }
  return false
}

// ---- what a program runs --------------------------------------------------------------------------------------

export interface Inner {
  readonly commands?: readonly (readonly ShellWord[])[] | undefined
  readonly scripts?: readonly ShellWord[] | undefined
  /** It reads a script from standard input. */
  readonly readsInput?: boolean
  /** It runs something that cannot be determined. */
  readonly unseen?: boolean
}

/** Tells what a program runs, given its arguments. */
export type Wrapper = (args: readonly ShellWord[]) => Inner

/** For a program that comes before a command. */
export function before(options: Options): Wrapper {
  return (args) => {
    const commands = commandsBehind(args, options)
    return commands ? { commands } : UNSEEN
  }
}

export const UNSEEN: Inner = { unseen: true }
