// Questions and calls as a person reads them before deciding. Nothing is hidden, and third-party text cannot pass for ours.

import { type Data, isObject, type Json } from '../core/base/json.js'
import { withoutSecrets } from '../core/base/secrets.js'
import { columnsOf, folded, visible, visibleName } from '../core/base/text.js'
import type { Ask, Question } from '../core/hooks/outcome.js'
import { BESIDE, type Effect, effectOf } from '../core/verdict/approval.js'

export { type Effect, effectOf }

const DOES: Readonly<Record<Effect, string>> = { allow: 'allows', always: 'always', deny: 'denies' }

const MOST_ASKS = 20
const MOST_PROMPT_LINES = 12
const MOST_OPTIONS = 40

/** Lines for a terminal. Only our words begin at the left edge; text of hooks and agents is prefixed with │. */
export function questionText(question: Question, options: CallTextOptions = {}): readonly string[] {
  const { columns = DEFAULT_COLUMNS } = options
  const { event, session, cwd, asks, call } = question
  const words = asks.flatMap(({ hook, prompt, reason = '' }) => [hook, prompt, reason])
  const { head, left, tail } = withoutMiddle(asks, MOST_ASKS)
  return [
    'Approval needed',
    ...behind(MARK, `event: ${visibleName(event)}`, columns),
    ...behind(MARK, `session: ${visibleName(session)}`, columns),
    ...(cwd === undefined ? [] : behind(MARK, `in: ${visibleName(cwd)}`, columns)),
    ...besideLines(call, columns),
    'Asked by',
    ...head.flatMap((ask) => askLines(ask, columns)),
    ...(left.length > 0 ? [`${OURS}${left.length} more hooks`] : []),
    ...tail.flatMap((ask) => askLines(ask, columns)),
    ...warningsFor([...words, ...question.options], columns),
    'The call',
    ...callText(call, options),
    'Answers',
    ...optionLines(question, columns),
  ]
}

/** The circumstances of a tool call. Other events show all their fields anyway. */
function besideLines(call: Data, columns: number): readonly string[] {
  if (typeof call.tool_name !== 'string') return []
  return BESIDE.filter((key) => call[key] !== undefined).flatMap((key) => {
    const value = call[key] as Json
    const shown = typeof value === 'string' ? visibleName(value) : visible(JSON.stringify(value))
    return behind(MARK, `${key}: ${shown}`, columns)
  })
}

function askLines({ hook, prompt, reason }: Ask, columns: number): readonly string[] {
  const lines = [
    ...behind(MARK, `${visibleName(hook)}:`, columns),
    ...quoted(prompt, MARK + MARK, columns, MOST_PROMPT_LINES),
  ]
  if (!reason || reason === prompt) return lines
  return [...lines, `${MARK}because:`, ...quoted(reason, MARK + MARK, columns, MOST_PROMPT_LINES)]
}

/** The effect comes first, because the rest of the line is the hook's text. */
function optionLines(question: Question, columns: number): readonly string[] {
  const { options } = question
  const lines = options.slice(0, MOST_OPTIONS).flatMap((option, i) => {
    const mark = `${String(i + 1).padStart(3)} ${DOES[effectOf(question, option)]}${MARK}`
    const further = `${' '.repeat(mark.length - 2)}┆ `
    return folded(visible(option), columns - columnsOf(mark)).map(
      (line, n) => `${n === 0 ? mark : further}${line}`,
    )
  })
  return options.length > MOST_OPTIONS ? [...lines, `${OURS}${options.length - MOST_OPTIONS} more`] : lines
}

// ---- the call -------------------------------------------------------------------------------------------------------

interface CallTextOptions {
  /** The width of the terminal; default 80. */
  readonly columns?: number
  /** The most lines of text for all fields together; default 60. A field always shows six. */
  readonly lines?: number
}

const DEFAULT_COLUMNS = 80
const DEFAULT_LINES = 60
const FEWEST_LINES = 6
const MOST_FIELDS = 60
const WARNING = '  ! '

/** A value of the call that has no fields of its own. */
interface Field {
  readonly path: string
  readonly value: Json
}

/**
 * Lines for a terminal. A string is shown below the name of its field, each line prefixed; every other value is shown
 * beside the name, so that `5` and `"5"` differ. A long text is cut in the middle, never at the end.
 */
export function callText(call: Json, options: CallTextOptions = {}): readonly string[] {
  const { columns = DEFAULT_COLUMNS, lines = DEFAULT_LINES } = options
  const isTool = isObject(call) && typeof call.tool_name === 'string'
  const tool = isTool ? behind(MARK, `tool: ${visibleName(call.tool_name as string)}`, columns) : []
  const fields = fieldsOf((isTool ? call.tool_input : call) as Json)
  const { head, left, tail } = withoutMiddle(fields, MOST_FIELDS)
  const strings = [...head, ...tail].filter(({ value }) => typeof value === 'string').length
  const room = Math.max(FEWEST_LINES, Math.floor(lines / Math.max(1, strings)))
  const shown = (list: readonly Field[]) => list.flatMap((field) => fieldLines(field, columns, room))
  return [
    ...tool,
    ...shown(head),
    ...(left.length > 0 ? [`${OURS}${left.length} more fields`] : []),
    ...shown(tail),
    ...warningsFor(textsIn(call), columns),
  ]
}

/** Warns of words that only look like other words. */
function warningsFor(texts: Iterable<string>, columns: number): readonly string[] {
  return lookalikes(texts).flatMap((word) =>
    folded(`contains look-alike letters: ${word}`, columns - WARNING.length).map((line) => WARNING + line),
  )
}

function fieldLines({ path, value }: Field, columns: number, room: number): readonly string[] {
  if (typeof value !== 'string')
    return behind(MARK, `${path}${path && ': '}${JSON.stringify(value)}`, columns)
  const name = path === '' ? [] : behind(MARK, `${path}:`, columns)
  return [...name, ...quoted(value, MARK + MARK, columns, room)]
}

/** All fields in order, each with its path. */
function fieldsOf(value: Json, path = ''): readonly Field[] {
  if (Array.isArray(value) && value.length > 0)
    return value.flatMap((one: Json, i) => fieldsOf(one, `${path}[${i}]`))
  if (!isObject(value) || Object.keys(value).length === 0) return [{ path, value }]
  return Object.entries(value).flatMap(([key, one]) =>
    fieldsOf(one as Json, `${path}${path && '.'}${nameOf(key)}`),
  )
}

/** A key with a dot or a colon could be taken for a path or a value. */
function nameOf(key: string): string {
  return /^[\w@-]{1,100}$/.test(key) ? key : `"${oneLine(key).replace(/["\\]/g, '\\$&')}"`
}

function* textsIn(value: Json): Iterable<string> {
  if (typeof value === 'string') yield value
  else if (Array.isArray(value)) for (const one of value) yield* textsIn(one as Json)
  else if (isObject(value)) {
    for (const [key, one] of Object.entries(value)) {
      yield key
      yield* textsIn(one as Json)
    }
  }
}

// ---- the call on one line -------------------------------------------------------------------------------------------

/** The most telling fields of a call, in order of preference. */
const TELLING = ['command', 'file_path', 'path', 'url', 'pattern', 'prompt'] as const
const LONGEST = 120

/** For lists: the command or the file (`deploy production`), otherwise the whole input. Empty if it has none. */
export function callLine(call: Data): string {
  const input = call.tool_input ?? call
  const telling = isObject(input) ? TELLING.map((key) => input[key]).find(isWritten) : input
  const text = isWritten(telling) ? telling : JSON.stringify(input ?? null)
  const line = visible(withoutSecrets(text).replace(/\s+/g, ' ').trim())
  return line.length > LONGEST ? `${line.slice(0, LONGEST - 1)}…` : line
}

function isWritten(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

// ---- the margin -----------------------------------------------------------------------------------------------------

/** Lines of third-party text begin with the first mark, and continue after the second. */
export const MARK = '  │ '
const FURTHER = '  ┆ '
/** Marks our own words within third-party text. */
const OURS = '  ⋯ '

/** In characters. */
const LONGEST_LINE = 2000
/** More spaces in a row than any indentation has, and invisible spaces at the end of a line. */
const BLANKS = / {41,}| +$/g

/** Takes one line of text that visible() has already made safe. */
export function behind(mark: string, text: string, columns: number): readonly string[] {
  const goesOn = further(mark)
  return folded(text, columns - columnsOf(mark)).map((line, i) => `${i === 0 ? mark : goesOn}${line}`)
}

/** Third-party text line by line. If there are too many lines, the middle is left out, never the end. */
export function quoted(text: string, mark: string, columns: number, room: number): readonly string[] {
  const { head, left, tail } = withoutMiddle(text.split('\n'), room)
  const shown = (lines: readonly string[]) => lines.flatMap((line) => quotedLine(line, mark, columns))
  const bytes = left.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0)
  const cut = left.length > 0 ? [remark(mark, `${left.length} more lines (${bytes} bytes)`)] : []
  return [...shown(head), ...cut, ...shown(tail)]
}

function quotedLine(line: string, mark: string, columns: number): readonly string[] {
  const { head, bytes, tail } = cutLine(line)
  if (bytes === 0) return behind(mark, plainToSee(line), columns)
  const cut = remark(mark, `${bytes} more bytes`)
  return [
    ...behind(mark, plainToSee(head), columns),
    cut,
    ...behind(further(mark), plainToSee(tail), columns),
  ]
}

/** On one line. `⟨` is ours alone: in third-party text it is replaced by its code. */
export function oneLine(line: string): string {
  const { head, bytes, tail } = cutLine(line)
  return bytes === 0 ? plainToSee(line) : `${plainToSee(head)}⟨${bytes} more bytes⟩${plainToSee(tail)}`
}

function cutLine(line: string): { readonly head: string; readonly bytes: number; readonly tail: string } {
  if (line.length <= LONGEST_LINE) return { head: line, bytes: 0, tail: '' }
  const half = LONGEST_LINE / 2
  return {
    head: line.slice(0, half),
    bytes: Buffer.byteLength(line.slice(half, -half)),
    tail: line.slice(-half),
  }
}

function further(mark: string): string {
  return `${mark.slice(0, -FURTHER.length)}${FURTHER}`
}

function remark(mark: string, text: string): string {
  return `${mark.slice(0, -OURS.length)}${OURS}${text}`
}

function plainToSee(text: string): string {
  return visible(text).replace(BLANKS, ({ length }) => `⟨${length} ${length === 1 ? 'blank' : 'blanks'}⟩`)
}

function withoutMiddle<T>(list: readonly T[], most: number) {
  if (list.length <= most) return { head: list, left: [], tail: [] }
  const tail = Math.floor(most / 2)
  const head = most - tail
  return { head: list.slice(0, head), left: list.slice(head, -tail), tail: list.slice(-tail) }
}

// ---- words that are not what they look like -------------------------------------------------------------------------

const WORD = /[\p{L}\p{M}\p{N}_]+/gu
const LATIN = /\p{Script=Latin}/u
const OTHER = /[\p{Script=Cyrillic}\p{Script=Greek}]/u

/** Letters with a Latin twin: a word of only these is suspicious beside Latin letters. */
const TWINS = /^[абеһіјӏорԛсѕухѵԝАВЕЅІЈКМНОРСТУХҮԌΑΒΕΖΗΙΚΜΝΟΡΤΥΧονρτυιακ]+$/u

/** More would not be read. */
const MOST_SHOWN = 5
/** The rest of a longer text is not checked. */
const LONGEST_TEXT = 1_000_000

/** Finds words that mix Latin letters with Cyrillic or Greek ones that look the same. Lists each word once, with its foreign letters as codes. */
export function lookalikes(texts: Iterable<string>): readonly string[] {
  const found = new Set<string>()
  for (const text of texts) {
    for (const token of text.slice(0, LONGEST_TEXT).split(/\s+/)) {
      if (!OTHER.test(token) || !LATIN.test(token)) continue
      for (const [word] of token.matchAll(WORD)) {
        if (OTHER.test(word) && (LATIN.test(word) || (word.length > 1 && TWINS.test(word)))) found.add(word)
      }
    }
    if (found.size > MOST_SHOWN) break
  }
  return [...found].slice(0, MOST_SHOWN).map(spelt)
}

function spelt(word: string): string {
  const letters = Array.from(word.slice(0, 60), (char) => (OTHER.test(char) ? numbered(char) : visible(char)))
  return letters.join('')
}

function numbered(char: string): string {
  return `⟨U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`
}
