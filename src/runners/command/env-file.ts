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

/** Lines, but for those that end inside quotes or in a backslash. */
function statementsOf(text: string): readonly string[] {
  const statements: string[] = []
  let open = ''
  for (const line of text.replaceAll('\r\n', '\n').split('\n')) {
    open = open === '' ? line : `${open}\n${line}`
    if (isOpen(open)) continue
    statements.push(open)
    open = ''
  }
  return open === '' ? statements : [...statements, open]
}

function isOpen(statement: string): boolean {
  if (/^\s*#/.test(statement)) return false
  const rest = statement.replace(/'[^']*'|"(?:[^"\\]|\\[\s\S])*"|\\[\s\S]|(?<=\s)#[^\n]*/g, '')
  return /['"\\]/.test(rest)
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
