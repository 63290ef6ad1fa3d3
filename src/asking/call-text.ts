// The exact call as a person reads it before they decide: nothing hidden, and nothing of it can pass for our words.

import { isObject, type Json } from '../core/base/json.js'
import { folded, visibleName } from '../core/base/text.js'
import { lookalikes } from './lookalikes.js'
import { behind, MARK, OURS, oneLine, quoted, withoutMiddle } from './margin.js'

export interface CallTextOptions {
  /** Of the terminal; default 80. */
  readonly columns?: number
  /** Lines of text to show at most, of all fields together; default 60. A field shows six in any case. */
  readonly lines?: number
}

export const DEFAULT_COLUMNS = 80
const DEFAULT_LINES = 60
const FEWEST_LINES = 6
const MOST_FIELDS = 60
const WARNING = '  ! '

/** A value of the call that is not made of others. */
interface Field {
  readonly path: string
  readonly value: Json
}

/**
 * Lines for a terminal. A string stands below the name of its field, each of its lines behind a margin; everything else
 * stands beside it, so that `5` and `"5"` differ. What is too long lacks its middle, never its end.
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

/** Of words that look like others. */
export function warningsFor(texts: Iterable<string>, columns: number): readonly string[] {
  return lookalikes(texts).flatMap((word) =>
    folded(`not the letters it looks like: ${word}`, columns - WARNING.length).map((line) => WARNING + line),
  )
}

function fieldLines({ path, value }: Field, columns: number, room: number): readonly string[] {
  if (typeof value !== 'string')
    return behind(MARK, `${path}${path && ': '}${JSON.stringify(value)}`, columns)
  const name = path === '' ? [] : behind(MARK, `${path}:`, columns)
  return [...name, ...quoted(value, MARK + MARK, columns, room)]
}

/** In their order, each with the way to it. */
function fieldsOf(value: Json, path = ''): readonly Field[] {
  if (Array.isArray(value) && value.length > 0)
    return value.flatMap((one: Json, i) => fieldsOf(one, `${path}[${i}]`))
  if (!isObject(value) || Object.keys(value).length === 0) return [{ path, value }]
  return Object.entries(value).flatMap(([key, one]) =>
    fieldsOf(one as Json, `${path}${path && '.'}${nameOf(key)}`),
  )
}

/** A key with a dot or a colon in it could pass for a way, or for a value. */
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
