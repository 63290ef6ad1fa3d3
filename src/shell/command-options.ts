// Where the command begins in the words of a program that runs another: behind its options and operands.

import { isOpen, type ShellWord } from './shell-word.js'

/** What a program takes before the command that it runs. */
export interface Options {
  /** Letters of options that stand alone. */
  readonly flags?: string
  /** Letters of options that take a value, in the same word or the next. */
  readonly valued?: string
  /** Long options whose value is the next word. */
  readonly long?: readonly string[]
  /** Long options that stand alone. */
  readonly longFlags?: readonly string[]
  /** Words between the options and the command. */
  readonly operands?: number
  /** Whether `X=1`, `a-b=1` and all that has a `=` may stand before the command. */
  readonly assignments?: boolean
}

/** An option that nobody knows may take the next word or not: each way to read it is a command. */
const MOST_READINGS = 8

/** The commands it may be; undefined where that cannot be told. */
export function commandsBehind(words: readonly ShellWord[], options: Options): ShellWord[][] | undefined {
  const found: ShellWord[][] = []
  let from = 0
  while (found.length < MOST_READINGS) {
    const { at, doubtful } = skipOptions(words, from, options)
    const start = at + (options.operands ?? 0)
    // What becomes several words may bring a command of its own.
    for (let i = from; i < start && i < words.length; i++) if (words[i]?.splits) return undefined
    const command = words.slice(start)
    if (command.length > 0) found.push(command)
    if (!doubtful || at + 1 >= words.length) return found
    from = at + 1
  }
  return undefined
}

/** `doubtful`: what stands there may be the value of the option before it. */
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

/** Whether an option takes the next word; undefined where it is not known. */
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
