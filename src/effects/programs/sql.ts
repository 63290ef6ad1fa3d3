// What a text in SQL, or a command of another database, changes and destroys.

import { type Draft, database, privilege } from '../program.js'

const LONGEST = 100_000

/** One effect for each table that a statement changes. Reading statements have none. */
export function sqlEffects(given: string): readonly Draft[] {
  if (given.length > LONGEST)
    return [{ kind: 'unknown', why: 'its statements are too long to read', unparsed: true }]
  // A client's own command, such as `\c app`, ends with its line.
  const blocks = blocksIn(given)
  const text = withoutTexts(blocks.length > 0 ? given.replace(BLOCK, ' ') : given).replace(
    /^[ \t]*\\(?!copy\b)[^\n]*$/gim,
    '',
  )
  const own = text.split(';').flatMap((statement) =>
    statementEffects(
      statement
        .trim()
        .replace(/\s+/g, ' ')
        .replace(/^\\(?=copy)/i, ''),
    ),
  )
  return blocks.length > 0 ? [...own, ...blocks.flatMap(blockEffects)] : own
}

// ---- blocks -----------------------------------------------------------------------------------------------------

/** `DO $$ … $$`, `DO LANGUAGE plpgsql $x$ … $x$`. */
const BLOCK = /\bdo\s+(?:language\s+\w+\s+)?(?:(\$\w*\$)(.*?)\1|'((?:[^']|'')*)')/gis

function blocksIn(text: string): readonly string[] {
  return [...text.matchAll(BLOCK)].map(([, , body, quoted]) => body ?? (quoted ?? '').replaceAll("''", "'"))
}

/** Words of a block before a statement. */
const BEFORE =
  /^\s*(?:begin\b|declare\b|else\b|exception\b|(?:if|elsif|when)\b.{0,500}?\bthen\b|(?:for|foreach|while)\b.{0,500}?\bloop\b|loop\b|<<\w+>>)/is

/** Everything that the statements of the block do. `EXECUTE` runs a text. */
function blockEffects(body: string): readonly Draft[] {
  const run = [...body.matchAll(/\bexecute\b[^;']*'((?:[^']|'')*)'/gi)].map(([, text = '']) =>
    text.replaceAll("''", "'"),
  )
  const isOpen = [...body.matchAll(/\bexecute\b([^;]*)/gi)].some(([, rest = '']) => !rest.includes("'"))
  const statements = withoutTexts(body)
    .split(';')
    .map((statement) => {
      let rest = statement
      for (let i = 0; i < MOST_BEFORE && BEFORE.test(rest); i++) rest = rest.replace(BEFORE, '')
      return rest
    })
  return [
    database('DO', isOpen),
    ...statements.flatMap((one) => sqlEffects(one)),
    ...run.flatMap((one) => sqlEffects(one)),
  ]
}

const MOST_BEFORE = 20

/** Without comments, and with empty strings. By hand, because a pattern would search the rest for every quote. */
function withoutTexts(text: string): string {
  let found = ''
  let opened = 0
  for (let i = 0; i < text.length; i++) {
    // MySQL and MariaDB run what is in such a comment.
    const run = text[i] === '/' ? /^\/\*M?!\d*/.exec(text.slice(i, i + 12)) : null
    if (run) {
      found += ' '
      i += run[0].length - 1
      opened++
      continue
    }
    const two = text.slice(i, i + 2)
    if (opened > 0 && two === '*/') {
      found += ' '
      i++
      opened--
      continue
    }
    const end = two === '--' ? '\n' : two === '/*' ? '*/' : text[i] === "'" ? "'" : undefined
    if (end === undefined) {
      found += text[i]
      continue
    }
    const at = text.indexOf(end, i + (end === "'" ? 1 : 2))
    found += end === "'" ? "''" : ' '
    if (at < 0) break
    i = at + end.length - 1
  }
  return found
}

// ---- names ------------------------------------------------------------------------------------------------------

const PART = '(?:"[^"]{1,200}"|`[^`]{1,200}`|\\[[^\\]]{1,200}\\]|[\\w$*{}-]+)'
/** `users`, `"users"`, `public.users`. */
const NAME = `${PART}(?: ?\\. ?${PART}){0,3}`
const NAMES = `${NAME}(?: ?, ?(?:only )?${NAME}){0,50}`

const pattern = (text: string) => new RegExp(text.replaceAll('NAMES', NAMES).replaceAll('NAME', NAME), 'i')

/** As one writes it without quotes. */
function plainName(name: string): string {
  // With a space it is a command whose output the shell fills in.
  const bare = /`[^`]*\s[^`]*`/.test(name) ? name : name.replaceAll('`', '')
  return bare.replace(/["[\]]/g, '').replace(/ ?\. ?/g, '.')
}

function namesIn(list: string | undefined): readonly string[] {
  return (list ?? '')
    .split(',')
    .map((name) => plainName(name.trim().replace(/^only /i, '')))
    .filter((name) => name !== '')
}

function onEach(operation: string, destroys: boolean, list: string | undefined): readonly Draft[] {
  const names = namesIn(list)
  return names.length === 0
    ? [database(operation, destroys)]
    : names.map((name) => database(operation, destroys, name))
}

// ---- statements -------------------------------------------------------------------------------------------------

const DROP = pattern(
  '^drop (?:(materialized view|foreign table|owned by|[a-z]+) )?(?:concurrently )?(?:if exists )?(NAMES)?',
)
const TRUNCATE = pattern('^truncate (?:(table|database) )?(?:if exists )?(?:only )?(NAMES)?')
const DELETE = pattern('^delete (?:[^()]{0,200}? ?\\b)?from (?:only )?(NAME)')
const UPDATE = pattern('^update (?:(?:or \\w+|low_priority|ignore|only) )*(NAME)(?: .*)? set\\b')
const ALTER = pattern('^alter (?:foreign )?table (?:if exists )?(?:only )?(NAME)(.*)$')
const INSERT = pattern(
  '^(?:insert|replace|merge)(?: or \\w+| ignore| low_priority)* (?:into|overwrite)(?: table)? (NAME)',
)
const COPY = pattern('^copy (NAME)')
const GRANT = pattern(
  '^(?:grant|revoke) .*? on (?:(?:table|database|schema|sequence|function|all (?:tables|sequences|functions) in schema) )?(NAMES) (?:to|from)\\b',
)
const CREATE = pattern(
  '^create (?:or replace )?(?:(?:temp|temporary|unlogged|unique|external|virtual|materialized) )*[a-z]+ (?:concurrently )?(?:if not exists )?(NAME)',
)

/** What `ALTER TABLE … DROP` can drop without losing a row. */
const KEEPS_ROWS =
  /\bdrop (?:default|not null|constraint|identity|expression|index|key|foreign key|primary key|check)\b/gi

function statementEffects(statement: string): readonly Draft[] {
  const text = statement.replace(/^explain\b.{0,80}?\banalyze\b(?: ?[^()]{0,40}\))? ?/i, '')
  if (/^with\b/i.test(text)) return withQueries(text)
  const isAll = !/\bwhere\b/i.test(text) || /\bwhere \(?(?:(\d+|'') ?= ?\1|true|1)\)? ?$/i.test(text)
  const [isDrop, thing, dropped] = DROP.exec(text) ?? []
  if (isDrop !== undefined) {
    // An index is made again from its table.
    const destroys = !/^index$/i.test(thing ?? '')
    return onEach(['DROP', thing?.toUpperCase()].filter(Boolean).join(' '), destroys, dropped)
  }
  const [isTruncate, kind, emptied] = TRUNCATE.exec(text) ?? []
  if (isTruncate !== undefined)
    return onEach(['TRUNCATE', kind?.toUpperCase()].filter(Boolean).join(' '), true, emptied)
  const [, table] = DELETE.exec(text) ?? []
  if (table !== undefined) return onEach('DELETE', isAll, table)
  const [, updated] = UPDATE.exec(text) ?? []
  if (updated !== undefined) return onEach('UPDATE', isAll, updated)
  const [, altered, change = ''] = ALTER.exec(text) ?? []
  if (altered !== undefined) return alterEffects(altered, change, isAll)
  return changed(text)
}

function alterEffects(table: string, change: string, isAll: boolean): readonly Draft[] {
  const [, verb] = /^ (?:on cluster \S+ )?(delete|update)\b/i.exec(change) ?? []
  if (verb !== undefined) return onEach(`ALTER TABLE ${verb.toUpperCase()}`, isAll, table)
  return /\bdrop\b/i.test(change.replace(KEEPS_ROWS, ''))
    ? onEach('ALTER TABLE DROP', true, table)
    : onEach('ALTER', false, table)
}

/** Statements that add or change something, and destroy nothing. */
function changed(text: string): readonly Draft[] {
  const [verb] =
    /^(?:insert|create|alter|grant|revoke|merge|replace|copy|call|do|vacuum|reindex)\b/i.exec(text) ?? []
  if (verb === undefined) return []
  const grants = /^(?:grant|alter (?:user|role)|create (?:user|role))\b/i.test(text)
  const [, names] = INSERT.exec(text) ?? COPY.exec(text) ?? GRANT.exec(text) ?? CREATE.exec(text) ?? []
  return [...onEach(verb.toUpperCase(), false, names), ...(grants ? [privilege(verb.toUpperCase())] : [])]
}

const CHANGES = /[()] ?(?=(?:delete from|update|insert into|merge into)\b)/gi

/** `WITH x AS (DELETE FROM t RETURNING *) SELECT …` */
function withQueries(text: string): readonly Draft[] {
  return [...text.matchAll(CHANGES)]
    .slice(0, 20)
    .flatMap(({ 0: { length }, index }) => statementEffects(untilClosed(text.slice(index + length))))
}

/** Up to the bracket that closes the one before the text. */
function untilClosed(text: string): string {
  let depth = 0
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '(') depth++
    else if (text[i] === ')' && depth-- === 0) return text.slice(0, i)
  }
  return text
}

// ---- commands in SQL --------------------------------------------------------------------------------------------

const RUN = [
  /(?:^|\n|\s)\\!\s*([^\n]+)/g,
  /(?:^|[\n;])\s*(?:system|\.shell|\.system)\s+([^\n]+)/gi,
  /\b(?:to|from)\s+program\s+'((?:[^']|'')+)'/gi,
  /\bxp_cmdshell\s+N?'((?:[^']|'')+)'/gi,
  /(?:^|\n)\s*\\(?:o|g|gx|out)\s*\|\s*([^\n]+)/g,
]

/** Command lines of a shell that a client or the server runs: `\! ls`, `COPY … TO PROGRAM 'ls'`. */
export function linesInSql(text: string): readonly string[] {
  if (text.length > LONGEST) return []
  return RUN.flatMap((run) => [...text.matchAll(run)].map(([, line = '']) => line.replaceAll("''", "'")))
}

// ---- other databases --------------------------------------------------------------------------------------------

/** The shell of MongoDB. */
export function mongoEffects(text: string): readonly Draft[] {
  const found = [
    ...text.matchAll(
      /\.(dropDatabase|drop|dropIndexes|deleteMany|deleteOne|remove|findOneAndDelete|updateMany|insertOne|insertMany)\s*\(\s*(\{\s*\})?/g,
    ),
  ]
  return found.map(([, verb = '', empty]) =>
    database(
      verb,
      /^drop/.test(verb) ||
        (/^(?:deleteMany|remove)$/.test(verb) && empty !== undefined) ||
        /^remove$/.test(verb),
    ),
  )
}

/** Models of Rails, Django and Laravel, where one call empties a table. */
export function modelEffects(code: string): readonly Draft[] {
  const [, verb] =
    /(?:\.|->|::)(delete_all|destroy_all|drop_table|drop_all|truncate|dropIfExists|dropAllTables|dropDatabase|drop_database)\b/.exec(
      code,
    ) ??
    /\.objects\.(?:all\(\)\.)?(delete)\(\)/.exec(code) ??
    []
  return [...(verb === undefined ? [] : [database(verb, true)]), ...inStrings(code)]
}

/** SQL in the strings of a piece of code. */
function inStrings(code: string): readonly Draft[] {
  if (code.length > LONGEST) return []
  return [...code.matchAll(/(["'`])((?:(?!\1)[^\\]|\\.)*)\1/gs)]
    .flatMap(([, , text = '']) => sqlEffects(text))
    .filter((one) => one.kind === 'database' && one.destroys)
}
