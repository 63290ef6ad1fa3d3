// The text of an environment file: what a shell would export, read without running anything.

export interface EnvFile {
  readonly variables: Readonly<Record<string, string>>
  /** Lines that only a shell could understand. */
  readonly skipped: readonly string[]
}

type Lookup = (name: string) => string | undefined

/** A name, and a value in pieces: 'single', "double", or bare; quotes may span lines. */
const ASSIGNMENT =
  /^[ \t]*(?:export[ \t]+)?([A-Za-z_]\w*)=((?:'[^']*'|"(?:[^"\\]|\\[\s\S])*"|\\[\s\S]|[^\s'"\\;&|<>()`])*)[ \t]*(?:;[ \t]*)?(?:#[^\n]*)?$/
const PIECE = /'([^']*)'|"((?:[^"\\]|\\[\s\S])*)"|\\([\s\S])|([^'"\\]+)/g

/** Later lines see earlier ones. `$NAME` is replaced, and a command is never run: its line is skipped. */
export function readEnvFile(text: string, inherited: Lookup): EnvFile {
  const variables: Record<string, string> = {}
  const skipped: string[] = []
  const lookup: Lookup = (name) => (Object.hasOwn(variables, name) ? variables[name] : inherited(name))
  for (const statement of statementsOf(text)) {
    if (/^\s*(?:#|$)/.test(statement)) continue
    const [, name, value = ''] = ASSIGNMENT.exec(statement) ?? []
    if (name === undefined || /`|\$\(/.test(value.replace(/'[^']*'/g, ''))) skipped.push(statement.trim())
    else variables[name] = resolved(value, lookup)
  }
  return { variables, skipped }
}

/** A line, but one that ends inside quotes or in a backslash goes on. Each alternative begins in its own way, so that no text is read twice. */
const STATEMENT = /(?:'[^']*'|"(?:[^"\\]|\\[\s\S])*"|\\[\s\S]|#[^\n]*|[^\n'"\\#])+/y
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
  return [...written.matchAll(PIECE)]
    .map(([, single, double, escaped, bare]) => {
      if (single !== undefined) return single
      if (escaped !== undefined) return escaped === '\n' ? '' : escaped
      if (double !== undefined)
        return expanded(double, lookup)
          .replace(/\\(["\\$`])/g, '$1')
          .replace(/\\\n/g, '')
      return expanded(bare ?? '', lookup)
    })
    .join('')
}

function expanded(text: string, lookup: Lookup): string {
  return text.replace(/(\\\$)|\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))/g, (whole, escaped, braced, plain) =>
    escaped === undefined ? (lookup(braced ?? plain) ?? '') : whole,
  )
}
