// The text of an environment file: what a shell would export, read without running anything.

import { byteLength } from '../../core/base/text.js'

export interface EnvFile {
  readonly variables: Readonly<Record<string, string>>
  /** Lines that only a shell could understand. */
  readonly skipped: readonly string[]
}

type Lookup = (name: string) => string | undefined

/** A name, and a value in pieces: $'ansi', 'single', "double", or bare; quotes may span lines. `declare -x` is what `export -p` prints in bash. */
const ASSIGNMENT =
  /^[ \t]*(?:(?:export|(?:declare|typeset)[ \t]+-x)[ \t]+)?([A-Za-z_]\w*)=((?:\$'(?:[^'\\]|\\[entr\\'"])*'|\$(?!')|'[^']*'|"(?:[^"\\]|\\[\s\S])*"|\\[\s\S]|[^\s'"\\$;&|<>()`])*)(?:[ \t]*;)?[ \t]*(?:(?<=[ \t;])#[^\n]*)?$/
const PIECE =
  /\$'((?:[^'\\]|\\[\s\S])*)'|'([^']*)'|"((?:[^"\\]|\\[\s\S])*)"|\\([\s\S])|((?:\$(?!')|[^'"\\$])+)/g
/** What is in double quotes stays: there a shell still looks for commands. */
const LITERAL = /\$'(?:[^'\\]|\\[\s\S])*'|'[^']*'|("(?:[^"\\]|\\[\s\S])*")/g

/** Commands, arithmetic, defaults, and what only a running shell knows. */
const FOREIGN = /`|\$(?:[(?!$#@*\d-]|\{(?![A-Za-z_]\w*\}))/

/** Bytes of all values: `A=$A$A` a few times over is more than any system hands to a program. */
const LONGEST_TOTAL = 64 * 1024

/** Later lines see earlier ones. `$NAME` is replaced, and a command is never run: its line is skipped. */
export function readEnvFile(text: string, inherited: Lookup): EnvFile {
  const variables: Record<string, string> = Object.create(null)
  const skipped: string[] = []
  let room = LONGEST_TOTAL
  /** What this line puts in, so that `$A$A$A…` is not written out before it is found too long. */
  let put = 0
  const lookup: Lookup = (name) => {
    const value = (Object.hasOwn(variables, name) ? variables[name] : inherited(name)) ?? ''
    put += value.length
    return put > room ? '' : value
  }
  for (const statement of statementsOf(text)) {
    if (/^\s*(?:#|$)/.test(statement)) continue
    const [, name, value = ''] = ASSIGNMENT.exec(statement) ?? []
    const foreign =
      value.includes('\0') || FOREIGN.test(value.replace(LITERAL, '$1').replace(/\\[\s\S]/g, ''))
    put = 0
    const given = foreign ? '' : resolved(value, lookup)
    const tooLong = put > room || byteLength(given) > room
    if (name === undefined || foreign || tooLong) skipped.push(statement.trim())
    else {
      room -= byteLength(given)
      variables[name] = given
    }
  }
  return { variables: { ...variables }, skipped }
}

/** A line, but one that ends inside quotes or in a backslash goes on. Each alternative begins in its own way, so that no text is read twice. */
const STATEMENT =
  /(?:\$'(?:[^'\\]|\\[\s\S])*'|\$(?!')|'[^']*'|"(?:[^"\\]|\\[\s\S])*"|\\[\s\S]|#[^\n]*|[^\n'"\\#$])+/y
const REST_OF_LINE = /[^\n]*/y

function statementsOf(given: string): readonly string[] {
  const text = given.replaceAll('\r\n', '\n')
  const statements: string[] = []
  for (let at = 0; at < text.length; ) {
    const end = endOf(STATEMENT, text, at)
    // A quote that nobody closes: the line is no assignment, those after it may be.
    const whole = text[end] === '\n' || end === text.length ? end : endOf(REST_OF_LINE, text, end)
    statements.push(text.slice(at, whole))
    at = whole + 1
  }
  return statements
}

function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : at
}

function resolved(written: string, lookup: Lookup): string {
  const pieces = [...written.matchAll(PIECE)]
  return pieces
    .map(([, ansi, single, double, escaped, bare = ''], i) => {
      if (ansi !== undefined) return unescaped(ansi)
      if (single !== undefined) return single
      if (escaped !== undefined) return escaped === '\n' ? '' : escaped
      if (double !== undefined)
        return expanded(double, lookup)
          .replace(/\\(["\\$`])/g, '$1')
          .replace(/\\\n/g, '')
      return expanded(withHome(bare, i === 0, i === pieces.length - 1), lookup)
    })
    .join('')
}

/** `~/bin:~`: at the beginning of a value, or of a part of a list. */
function withHome(bare: string, first: boolean, last: boolean): string {
  return bare.replace(/(^|:)~(?=([/:]|$))/g, (whole, before: string, after: string) =>
    (before || first) && (after || last) ? `${before}\${HOME}` : whole,
  )
}

const ANSI: Readonly<Record<string, string>> = { e: '\u001b', n: '\n', t: '\t', r: '\r' }

/** As bash writes what has ends of lines in it. */
function unescaped(text: string): string {
  return text.replace(/\\([\s\S])/g, (_, char: string) => ANSI[char] ?? char)
}

function expanded(text: string, lookup: Lookup): string {
  return text.replace(/(\\\$)|\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))/g, (whole, escaped, braced, plain) =>
    escaped === undefined ? (lookup(braced ?? plain) ?? '') : whole,
  )
}
