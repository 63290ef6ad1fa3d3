// The possible values of variables and substitutions in a word, as far as the command itself shows.

import { alternativesOf } from '../shell/patterns.js'
import type { Word } from './word.js'

/** Facts that are known before the command sets anything. */
export interface Surroundings {
  readonly home: string
  readonly projectDir: string
  readonly env: NodeJS.ProcessEnv
}

/** The most meanings of one word that are tried. */
const MOST_MEANINGS = 32
const MOST_LAYERS = 5
/** A longer word with an expansion is not analysed. */
const LONGEST = 2000

/** Variables that the shell itself sets to a number. */
const NUMBERS = /^(?:[$?#!]|RANDOM|SRANDOM|UID|EUID|PPID|BASHPID|SECONDS|LINENO|EPOCHSECONDS)$/

/** Variables that the host's shell has too. */
const GIVEN = /^(?:TMPDIR|USER|LOGNAME|XDG_\w+|CARABINER_HOME)$/

/** `$x`, `${x}`, `${x[@]}`, `${x:-y}`, `${x%y}`; `$( )` and backticks with nothing of the kind inside; `$(( ))`. */
const EXPANSION =
  /\$(?:(\w+|[$?#!@*-])|\{(\w+)(?:\[[@*\d]+\])?(?:(?::?[-=]([^{}$`]*))|(%%?|##?)([^{}$`]*))?\}|(\(\([^()]*\)\))|\(([^()`]*)\))|`([^`]*)`/

export class Variables {
  readonly #values = new Map<string, readonly string[] | undefined>()
  readonly #surroundings: Surroundings
  /** False after a sourced file, which may set any variable, or a new IFS, which splits words differently. */
  #areKnown = true

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings
  }

  /** Adds a possible value. Undefined: any value. */
  add(name: string, value: string | undefined): void {
    if (name === 'IFS') this.#areKnown = false
    const values = this.#values.has(name) ? this.#values.get(name) : []
    this.#values.set(name, value === undefined || !values ? undefined : [...values, value])
  }

  forgetAll(): void {
    this.#areKnown = false
  }

  /** Every word that the shell may expand it to. */
  wordsOf(text: string, dynamic: boolean): readonly Word[] {
    if (!dynamic || !/[$`{]|^~/.test(text)) return [{ text, known: !isOtherHome(text), glob: dynamic }]
    const meanings = text.length > LONGEST ? undefined : alternatives(this.#meanings(text, 0) ?? [undefined])
    if (!meanings || meanings.length > MOST_MEANINGS) return [{ text, known: false, glob: true }]
    const all = [...new Set(meanings)]
    const either = all.length > 1
    return all.map((one) => ({ text: one, known: !isOtherHome(one), glob: true, either }))
  }

  /** Undefined if it is only known at run time. */
  #meanings(text: string, layer: number): readonly string[] | undefined {
    const found = EXPANSION.exec(text)
    if (!found) return /[$`]/.test(text) ? undefined : [text]
    if (layer > MOST_LAYERS) return undefined
    const [all] = found
    const values: string[] = []
    for (const value of this.#valuesOf(found) ?? [undefined]) {
      const meanings = value === undefined ? undefined : this.#meanings(value, layer + 1)
      if (!meanings) return undefined
      values.push(...meanings.flatMap(cut))
    }
    const rests = this.#meanings(text.slice(found.index + all.length), layer)
    if (!rests) return undefined
    if (values.length * rests.length > MOST_MEANINGS) return undefined
    const head = text.slice(0, found.index)
    if (/[$`]/.test(head)) return undefined
    return values.flatMap((value) => rests.map((rest) => head + value + rest))
  }

  #valuesOf(found: RegExpExecArray): readonly string[] | undefined {
    const [, plain, braced, otherwise, cutting, part, arithmetic, script, old] = found
    if (arithmetic !== undefined) return ['*']
    const text = script ?? old
    if (text !== undefined) return this.#printed(text.trim())
    const name = plain ?? braced ?? ''
    if (NUMBERS.test(name)) return ['*']
    const values = this.#ofName(name)
    if (cutting !== undefined) return values && shortened(values, cutting, part ?? '')
    if (otherwise === undefined) return values
    // `:-` also replaces an empty value.
    const isForEmpty = /\w:[-=]/.test(found[0])
    if (values) return [...values.filter((value) => value !== '' || !isForEmpty), otherwise]
    return this.#areKnown && !this.#values.has(name) && GIVEN.test(name) ? [otherwise] : undefined
  }

  #ofName(name: string): readonly string[] | undefined {
    if (!this.#areKnown) return undefined
    const given = this.#given(name)
    // If it is not set here, it may be empty or the system's default.
    if (!this.#values.has(name) && given === undefined && name === 'TMPDIR') return ['', '/tmp']
    if (!this.#values.has(name)) return given === undefined ? undefined : [given]
    const values = this.#values.get(name)
    if (!values) return undefined
    return given === undefined ? values : [given, ...values]
  }

  #given(name: string): string | undefined {
    const { home, projectDir, env } = this.#surroundings
    if (name === 'HOME') return home
    if (name === 'PWD') return '.'
    if (name === 'CLAUDE_PROJECT_DIR') return projectDir
    return GIVEN.test(name) ? env[name] || undefined : undefined
  }

  /** The output of a well-known command. */
  #printed(script: string): readonly string[] | undefined {
    const tmp = this.#surroundings.env.TMPDIR || '/tmp'
    if (/^mktemp(?: -[dqu]+)*(?: [\w.-]*X{3,}[\w.-]*| -t [\w.-]+)?$/.test(script))
      // It is new, so it is none of the files that a pattern would also mean.
      return [`${tmp}/mktemp-XXXXXXXXXX`, 'mktemp-XXXXXXXXXX']
    // Numbers, and the name of a commit, which is not a file.
    if (/^seq(?: -?\d+){1,3}$/.test(script)) return ['*']
    if (/^git merge-base(?: [\w./@~^-]+){2}$/.test(script)) return ['0'.repeat(40)]
    if (script === 'pwd' || script === 'pwd -P') return ['.']
    if (script === 'git rev-parse --show-toplevel') return [this.#surroundings.projectDir]
    if (
      /^(?:date(?: -u)?(?: ["']?\+(?:%[a-zA-Z]|[:._ T-])*["']?)?|nproc|whoami|hostname|uname(?: -\w)?|id -\w+|git rev-parse (?:--short )?HEAD)$/.test(
        script,
      )
    )
      return ['*']
    return undefined
  }
}

/** Undefined if there are too many, or one of them is only known at run time. */
function alternatives(texts: readonly (string | undefined)[]): readonly string[] | undefined {
  const found: string[] = []
  for (const text of texts) {
    if (text === undefined) return undefined
    const some = alternativesOf(withoutRanges(text))
    if (!some) return undefined
    // Some shells leave braces as they are.
    found.push(...some, text)
  }
  return found
}

const RANGE = /\{(?:(-?\d{1,9})\.\.(-?\d{1,9})|([a-zA-Z])\.\.([a-zA-Z]))(?:\.\.-?\d{1,9})?\}/g

/** `{1..3}` is `{1,2,3}`. A long one, or one with a step, counts as a star. */
function withoutRanges(text: string): string {
  if (!text.includes('..')) return text
  return text.replace(RANGE, (all: string, low, high, first, last) => {
    const isLetter = first !== undefined
    const [from, to] = isLetter ? [first.charCodeAt(0), last.charCodeAt(0)] : [Number(low), Number(high)]
    const count = Math.abs(to - from) + 1
    const isPlain = all.split('..').length === 2 && !/(?:^|\D)0\d/.test(all)
    if (count > MOST_MEANINGS / 2 || !isPlain) return '*'
    const step = to < from ? -1 : 1
    const values = Array.from({ length: count }, (_, i) => from + i * step)
    const texts = values.map((value) => (isLetter ? String.fromCharCode(value) : String(value)))
    return `{${[...texts, texts[0]].join(',')}}`
  })
}

/** The values without a plain suffix or without their folders. Undefined for any other pattern. */
function shortened(values: readonly string[], cutting: string, part: string): readonly string[] | undefined {
  if (values.some((value) => /[$`]/.test(value))) return undefined
  if (cutting === '##' && part === '*/') return values.map((value) => value.slice(value.lastIndexOf('/') + 1))
  if (!cutting.startsWith('%') || !/^\.[\w.-]+$/.test(part)) return undefined
  // A value that may not end like this may also stay as it is.
  return values.flatMap((value) =>
    value.endsWith(part)
      ? [value.slice(0, -part.length)]
      : /[*?[\]]$/.test(value)
        ? [value, `${value}*`]
        : [value],
  )
}

/** Without quotes, the shell splits it into several words. */
function cut(text: string): readonly string[] {
  return /\s/.test(text) ? [text, ...text.trim().split(/\s+/)] : [text]
}

/** `~bob`, `~+`: another user's home, or a folder that only the shell knows. */
function isOtherHome(text: string): boolean {
  return /^~[^/]/.test(text)
}
