// A regular expression as people write it. This file decides which groups are valid, because versions of Node differ.

export interface Pattern {
  /** As written, but without group names, which nothing uses. */
  readonly source: string
  /** Also without modifiers such as `(?i:`, so that every version of Node agrees whether it is valid. */
  readonly plain: string
  /** Whether a modifier was removed from `plain`. */
  readonly isModified: boolean
}

/** Escapes, classes and parts of groups, with the name of a reference or group and the letters of a modifier. */
const TOKEN =
  /\\k(?:<([^>]*)>)?|\\.|\[\^?(?:\\.|[^\]\\])*\]|\((?:\?(?:<?[=!]|<([^>]*)>|([a-z]*)(-?)([a-z]*):|))?|[)|]/gs

/** Throws a SyntaxError for a group that JavaScript does not have. */
export function readPattern(written: string): Pattern {
  const names = new GroupNames()
  const modifiers = new Set<string>()
  const source = written.replace(TOKEN, (token, reference, name, on = '', minus = '', off = '', at) => {
    if (token.startsWith('\\k')) names.refer(reference)
    else if (token === '|') names.next()
    else if (token === ')') names.close()
    else if (token.startsWith('(')) {
      if (token === '(?') throw new SyntaxError(groupProblem(written.slice(at)))
      if (minus || on) modifiers.add(checkedModifier(token, on + off))
      names.open(name)
    }
    return name === undefined ? token : '('
  })
  names.check()
  const plain = source.replace(TOKEN, (token) => (modifiers.has(token) ? '(?:' : token))
  return { source, plain, isModified: modifiers.size > 0 }
}

function groupProblem(rest: string): string {
  const flags = /^\(\?([ims]+)\)/.exec(rest)?.[1]
  return flags ? `write (?${flags}:...) instead of (?${flags})` : 'Invalid group'
}

function checkedModifier(token: string, letters: string): string {
  if (/^[ims]+$/.test(letters) && new Set(letters).size === letters.length) return token
  throw new SyntaxError(`Invalid group ${token}`)
}

/** JavaScript's rule for names, simplified: letters of every language, without depending on a version of Unicode. */
const NAME = /^(?:[A-Za-z_$]|[^\0-\x7f])(?:[\w$]|[^\0-\x7f])*$/

/** Two alternatives may use the same name, because only one of them can match. */
class GroupNames {
  #scope: Scope = { before: [], meeting: [], own: [] }
  readonly #around: Scope[] = []
  readonly #references: (string | undefined)[] = []

  open(name: string | undefined): void {
    const { meeting, own } = this.#scope
    if (name !== undefined) {
      if (!NAME.test(name)) throw new SyntaxError(`Invalid group name: ${name}`)
      if (meeting.includes(name)) throw new SyntaxError(`Two groups are named ${name}`)
      meeting.push(name)
      own.push(name)
    }
    this.#around.push(this.#scope)
    this.#scope = { before: [...meeting], meeting: [...meeting], own: [] }
  }

  next(): void {
    this.#scope.meeting = [...this.#scope.before]
  }

  close(): void {
    const { own } = this.#scope
    const around = this.#around.pop()
    if (!around) throw new SyntaxError("Unmatched ')'")
    this.#scope = around
    this.#scope.meeting.push(...own)
    this.#scope.own.push(...own)
  }

  refer(name: string | undefined): void {
    this.#references.push(name)
  }

  /** Without a named group, `\k` is just the letter k. */
  check(): void {
    const names = new Set<string | undefined>(this.#scope.own)
    const wrong = names.size > 0 && this.#references.some((name) => !names.has(name))
    if (wrong) throw new SyntaxError('A reference names a group that does not exist')
  }
}

interface Scope {
  /** Names outside this group, which each of its alternatives must not repeat. */
  readonly before: readonly string[]
  /** Names that can match together with what follows. */
  meeting: string[]
  /** Names in this group. */
  readonly own: string[]
}

// ---- for the linear engine ------------------------------------------------------------------------------------

export function hasBackReference(source: string): boolean {
  return /(?:^|[^\\])(?:\\\\)*\\(?:[1-9]|k<)/.test(source)
}

const SPACE =
  '\\t\\n\\x0b\\f\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}'
const NOT_A_LINE_END = '[^\\n\\r\\x{2028}\\x{2029}]'

/** Undefined if the linear engine has no equivalent: lookaround, `[^\s\S]`, `(?m:`, `(?s:`. */
export function linearSource(source: string): string | undefined {
  let linear = ''
  let inClass = false
  for (let i = 0; i < source.length; i++) {
    const char = source[i] as string
    const rest = source.slice(i)
    if (char === '\\') {
      const escaped = linearEscape(rest, inClass)
      if (escaped === undefined) return undefined
      linear += escaped.linear
      i += escaped.length - 1
    } else if (inClass) {
      if (char === ']') inClass = false
      linear += char === '[' ? '\\[' : char
    } else if (char === '[') {
      if (/^\[\^?\]/.test(rest)) return undefined
      inClass = true
      linear += char
    } else if (/^\(\?(?:<?[=!]|[im-]*[ms])/.test(rest)) return undefined
    else linear += char === '.' ? NOT_A_LINE_END : char
  }
  return linear
}

/** One escape in the linear engine's syntax, and how many characters it took. */
function linearEscape(rest: string, inClass: boolean): { linear: string; length: number } | undefined {
  const char = rest[1] ?? ''
  const code = /^\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4}))/.exec(rest)
  if (code) return { linear: `\\x{${code[1] ?? code[2]}}`, length: code[0].length }
  const control = /^\\c([A-Za-z])/.exec(rest)?.[1]
  if (control) return { linear: `\\x{${(control.charCodeAt(0) % 32).toString(16)}}`, length: 3 }
  if (char === 's') return { linear: inClass ? SPACE : `[${SPACE}]`, length: 2 }
  if (char === 'S') return inClass ? undefined : { linear: `[^${SPACE}]`, length: 2 }
  if (char === 'b' && inClass) return { linear: '\\x08', length: 2 }
  if (char === '0') return { linear: '\\x00', length: 2 }
  // An escaped letter without a meaning in JavaScript stands for itself, but the linear engine gives some of them a meaning.
  const meant = /[dDwWbBtnrvf]/.test(char) || !/[A-Za-z]/.test(char)
  return { linear: meant ? `\\${char}` : char, length: 2 }
}

/**
 * Whether matching a value of at most `longest` characters can take too long. Errs on the side of yes: a quantified
 * group that itself has a choice, or too many choices in a row.
 */
export function runsAway(source: string, longest: number): boolean {
  const text = source
    .replace(/\\./g, 'x')
    .replace(/\[[^\]]*\]/g, 'x')
    .replace(/\(\?(?:<?[=!]|:)/g, '(')
  const hasChoice = [false]
  const alternatives = [1]
  let ways = 1
  for (let i = 0; i < text.length; i++) {
    const char = text[i] as string
    const quantifier = /^(?:[*+?]|\{\d+(?:,\d*)?\})\??/.exec(text.slice(i))?.[0]
    if (char === '(') {
      hasChoice.push(false)
      alternatives.push(1)
    } else if (char === ')') {
      ways *= alternatives.pop() ?? 1
      const inner = hasChoice.pop() ?? false
      if (inner && /^[*+?{]/.test(text.slice(i + 1))) return true
      if (inner) hasChoice[hasChoice.length - 1] = true
    } else if (char === '|') {
      alternatives[alternatives.length - 1] = (alternatives.at(-1) ?? 1) + 1
      hasChoice[hasChoice.length - 1] = true
    } else if (quantifier) {
      ways *= Math.min(repetitions(quantifier), longest)
      hasChoice[hasChoice.length - 1] = true
      i += quantifier.length - 1
    }
  }
  return ways * (alternatives[0] ?? 1) > longest ** 2
}

function repetitions(quantifier: string): number {
  if (quantifier.startsWith('?')) return 2
  const [, least, comma, most] = /^\{(\d+)(,?)(\d*)\}/.exec(quantifier) ?? []
  if (least !== undefined && !comma) return 1
  return most ? Number(most) - Number(least) + 1 : Infinity
}
