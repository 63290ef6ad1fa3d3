// What a call does to a file.

import type { Call } from '../script/shell-script.js'
import { type Word, withText } from '../script/word.js'

export type Deed = 'write' | 'delete' | 'move' | 'change' | 'link'

export interface FileEffect {
  readonly deed: Deed
  readonly target: Word
  /** Whether everything below a folder is affected too. */
  readonly deep: boolean
  /** The target may be a folder in which the file gets a name (`maybe`), or the files bring their own names (`names`). */
  readonly arrives?: 'maybe' | 'names'
  /** The folders that the target is relative to, if not the call's. */
  readonly folders?: readonly string[]
  /** Whether a star also matches names that begin with a dot, as in find but not in a shell. */
  readonly dots?: boolean
  /** It only happens if a file that is missing now is there by then. */
  readonly isMissing?: boolean
}

/** A program's arguments, sorted into options and operands. */
export interface Arguments {
  readonly operands: readonly Word[]
  /** Whether one of these letters is present, or a long option that begins like one of these. */
  has(letters: string, ...long: readonly string[]): boolean
  /** The values of these options. */
  valuesOf(letters: string, ...long: readonly string[]): readonly Word[]
}

export interface OptionShape {
  /** Letters that take a value. */
  readonly valued?: string
  /** Long options that take the next word. */
  readonly long?: readonly string[]
  /** Whether every word after the first operand is an operand too. */
  readonly stops?: boolean
}

interface Option {
  readonly name: string
  readonly value: Word | undefined
}

export function argumentsOf(
  args: readonly Word[],
  { valued = '', long = [], stops = false }: OptionShape = {},
): Arguments {
  const options: Option[] = []
  const operands: Word[] = []
  for (let i = 0; i < args.length; i++) {
    const word = args[i] as Word
    const { text } = word
    if (stops && operands.length > 0) {
      operands.push(word)
      continue
    }
    if (text === '--') {
      operands.push(...args.slice(i + 1))
      break
    }
    if (!text.startsWith('-') || text === '-') operands.push(word)
    else if (text.startsWith('--')) {
      const [name = '', value] = splitAt(text, '=')
      const takesNext = value === undefined && long.includes(name)
      options.push({
        name,
        value: takesNext ? args[++i] : value === undefined ? undefined : withText(word, value),
      })
    } else if (cluster(word, valued, options, args[i + 1])) i++
  }
  return {
    operands,
    has: (letters, ...names) => options.some((option) => isOne(option, letters, names)),
    valuesOf: (letters, ...names) => {
      const values: Word[] = []
      for (const option of options)
        if (option.value && isOne(option, letters, names)) values.push(option.value)
      // If several words may follow an option, only the first was read as its value. The others may be it too.
      return values.some(({ either }) => either)
        ? [...values, ...operands.filter(({ either }) => either)]
        : values
    },
  }
}

/** Reads `-rf` or `-tDIR`. Returns whether it takes the next word. */
function cluster(word: Word, valued: string, options: Option[], next: Word | undefined): boolean {
  for (let i = 1; i < word.text.length; i++) {
    const letter = word.text[i] as string
    if (!valued.includes(letter)) {
      options.push({ name: letter, value: undefined })
      continue
    }
    const rest = word.text.slice(i + 1)
    options.push({ name: letter, value: rest === '' ? next : withText(word, rest) })
    return rest === ''
  }
  return false
}

/** GNU programs accept abbreviated long options. */
function isOne({ name }: Option, letters: string, long: readonly string[]): boolean {
  if (!name.startsWith('--')) return name !== '' && letters.includes(name)
  return name.length > 2 && long.some((one) => one.startsWith(name))
}

function splitAt(text: string, separator: string): [string, string | undefined] {
  const at = text.indexOf(separator)
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)]
}

/** A name in a folder. */
export function inFolder(folder: Word, name: string): Word {
  return withText(folder, `${folder.text.replace(/\/+$/, '')}/${name}`)
}

export function baseOf({ text }: Word): string {
  return text.replace(/\/+$/, '').split('/').at(-1) ?? ''
}

export function literalWord(text: string): Word {
  return { text, known: true, glob: false }
}

export function one(deed: Deed, target: Word, deep = false): FileEffect {
  return { deed, target, deep }
}

export function each(deed: Deed, targets: readonly Word[], deep = false): FileEffect[] {
  return targets.map((target) => one(deed, target, deep))
}

export type EffectReader = (call: Call) => readonly FileEffect[]
