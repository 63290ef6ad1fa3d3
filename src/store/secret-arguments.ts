// Finds secrets that programs take as unnamed arguments: `mysql -pX`, `curl -u me:X`, `echo X | docker login --password-stdin`.

import { mayHave, type Span } from '../core/base/secrets.js'
import { BEHIND, matchAt, REFERENCE, valueAt } from './secret-values.js'

/** How a program takes an unnamed secret. */
interface Taking {
  readonly programs: string
  /** One of these words must come before it. */
  readonly after?: string
  /** The word after one of these is a secret. */
  readonly next?: string
  /** The rest of a word with this prefix is a secret. */
  readonly attached?: string
  /** For `next` and `attached`, only the text after this character counts: `me:secret`. */
  readonly divider?: string
  /** The rest of a word that begins like this is a secret: `NAME=secret`. */
  readonly pairs?: RegExp
  /** The word at this position is a secret, not counting options. */
  readonly position?: number
}

const TAKING: readonly Taking[] = [
  { programs: 'sshpass', next: '-p', attached: '-p' },
  {
    programs:
      'mysql mysqldump mysqladmin mysqlimport mysqlshow mysqlsh mariadb mariadb-dump 7z 7za 7zz rar unrar',
    attached: '-p',
  },
  { programs: 'docker podman nerdctl buildah skopeo helm oras crane az cf oc', after: 'login', next: '-p' },
  { programs: 'vault cargo', after: 'login', position: 2 },
  { programs: 'vault', after: 'put write', pairs: /^[^=]+=/ },
  { programs: 'fly flyctl heroku railway', after: 'set', pairs: /^[A-Z_0-9]+=/ },
  {
    programs: 'kubectl oc',
    after: 'secret',
    pairs: /^--from-literal=[^=]+=/,
    next: '--from-literal',
    divider: '=',
  },
  { programs: 'gh', after: 'secret', next: '-b --body', attached: '-b' },
  {
    programs: 'curl wget http https xh',
    next: '-u -U -a --user --proxy-user --auth',
    attached: '--user=',
    divider: ':',
  },
  { programs: 'curl', attached: '-u --proxy-user=', divider: ':' },
  { programs: 'nuget', after: 'push', next: '-k' },
  { programs: 'aws', after: 'put-parameter', next: '--value' },
  { programs: 'snmpwalk snmpget snmpset snmpbulkwalk', next: '-c -A -X' },
  { programs: 'curl', next: '-b --cookie', divider: '=' },
  { programs: 'redis-cli', next: '-a' },
  {
    programs: 'mongo mongosh mongodump mongorestore mongoexport mongoimport twine useradd usermod',
    next: '-p',
  },
  { programs: 'sqlcmd bcp ipmitool zip unzip', next: '-P', attached: '-P' },
  { programs: 'ldapsearch ldapmodify ldapadd ldapdelete ldapwhoami security', next: '-w' },
  { programs: 'plink pscp psftp putty winscp', next: '-pw' },
  { programs: 'smbclient rpcclient', next: '-U', divider: '%' },
  { programs: 'lftp', next: '-u', divider: ',' },
  { programs: 'xfreerdp wfreerdp', attached: '/p:' },
  { programs: 'openssl', attached: 'pass:', next: '-k -K' },
  { programs: 'htpasswd', after: '-b -bc', position: 3 },
  { programs: 'htpasswd', after: '-nb', position: 2 },
  { programs: 'wpa_passphrase', position: 2 },
]

const ROWS = new Map<string, readonly Taking[]>()
for (const row of TAKING)
  for (const program of row.programs.split(' ')) ROWS.set(program, [...(ROWS.get(program) ?? []), row])

/** These read the secret from the previous command: `echo X | docker login --password-stdin`. */
const FROM_INPUT = /^(?:--password-stdin|--with-token|--stdin|chpasswd|kinit|--passphrase-fd)$/
const WORD = /[^\s"'`,()[\]{};|&<>\\]+/g
/** A cheap check before the words are parsed. */
const PROGRAM_WORDS = [...ROWS.keys(), '-stdin', '--with-token', 'chpasswd', 'kinit', '-fd']
const PROGRAM = new RegExp(PROGRAM_WORDS.join('|'))

/** One command: its rows, the words so far, and how many of them are not options. */
interface Command {
  rows: readonly Taking[]
  readonly words: Set<string>
  plain: number
  /** Words that it prints. */
  printed: Span | undefined
}

const NO_COMMAND = (): Command => ({ rows: [], words: new Set(), plain: 0, printed: undefined })

export function givenAt(text: string): readonly Span[] {
  if (!mayHave(text, PROGRAM_WORDS) || !PROGRAM.test(text)) return []
  const found: Span[] = []
  let command = NO_COMMAND()
  let before: Command | undefined
  let at = 0
  WORD.lastIndex = 0
  for (let match = WORD.exec(text); match; match = WORD.exec(text)) {
    const gap = text.slice(at, Math.min(match.index, at + BEHIND))
    if (/[;&|\n]/.test(gap.replace(/\\\r?\n/g, ' '))) {
      before = /(?:^|[^|])\|(?:[^|]|$)/.test(gap) ? command : undefined
      command = NO_COMMAND()
    }
    const word = match[0].replace(/[.:!?]{1,8}$/, '')
    const end = match.index + match[0].length
    const span = givenBy(text, { start: match.index, end, word }, command, before)
    if (span) found.push(span)
    at = Math.max(end, span?.end ?? 0)
    WORD.lastIndex = at
  }
  return found
}

interface Word extends Span {
  readonly word: string
}

function givenBy(text: string, one: Word, command: Command, before: Command | undefined): Span | undefined {
  const { word, end } = one
  if (FROM_INPUT.test(word)) return before?.printed ?? hereString(text, end)
  const program = word.slice(word.lastIndexOf('/') + 1)
  const rows = ROWS.get(program)
  if (rows) command.rows = rows
  else if (program === 'echo' || program === 'printf') command.printed = { start: end, end }
  else if (command.printed) command.printed = { start: command.printed.start, end }
  if (rows) command.plain = 0
  else if (!word.startsWith('-')) command.plain++
  const span = givenTo(text, one, command)
  command.words.add(word)
  return span
}

function isAfter({ after }: Taking, words: ReadonlySet<string>): boolean {
  return after === undefined || after.split(' ').some((word) => words.has(word))
}

function hereString(text: string, at: number): Span | undefined {
  const match = matchAt(/\s{0,16}<<<\s{0,16}/y, text, at)
  return match ? given(text, at + match[0].length, undefined) : undefined
}

const TO_NEXT = /\\{0,7}["']?(?:[ \t]{1,16}|[ \t]{0,16}\\\r?\n[ \t]{0,32}|\s{0,4},\s{0,16})/y

function givenTo(
  text: string,
  { start, end, word }: Word,
  { rows, words, plain }: Command,
): Span | undefined {
  for (const row of rows) {
    if (!isAfter(row, words)) continue
    const pair = row.pairs?.exec(word)
    if (pair) return given(text, start + pair[0].length, undefined)
    if (row.next?.split(' ').includes(word)) {
      const gap = matchAt(TO_NEXT, text, end)
      if (gap) return given(text, end + gap[0].length, row.divider)
    }
    if (row.position === plain && !word.startsWith('-')) return given(text, start, undefined)
    const attached = row.attached?.split(' ').find((one) => word.startsWith(one))
    if (attached && (word.length > attached.length || /["']/.test(text[end] ?? '')))
      return given(text, start + attached.length, row.divider)
  }
  return undefined
}

/** The value at this place, or only the part after the divider, if there is one. */
function given(text: string, at: number, divider: string | undefined): Span | undefined {
  const value = valueAt(text, at)
  if (!value) return undefined
  const whole = text.slice(value.start, value.end)
  if (whole.startsWith('-')) return undefined
  const cut = divider === undefined ? -1 : whole.indexOf(divider)
  if (divider !== undefined && cut < 0) return undefined
  // `curl -u TOKEN:`
  const from = cut === whole.length - 1 ? 0 : cut + 1
  const secret = whole.slice(from)
  return REFERENCE.test(secret) ? undefined : { start: value.start + from, end: value.end }
}
