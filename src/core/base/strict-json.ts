// Parses JSON from others, and refuses what two parsers could read differently.

import { breakOf, type Json, type JsonBreak, shapeOf } from './json.js'
import { visibleName } from './text.js'

/** No real payload is nested deeper, and code that walks a deeper one would overflow the stack. */
const DEEPEST = 500

/** `repeated`: the text is JSON, but an object has a key twice. */
export type JsonProblem = 'too deep' | 'broken' | 'repeated'

/** Unlike JSON.parse, reports a problem without quoting the text, except for the name of a repeated key. */
export function parseJson(text: string, refuse: (problem: string, kind: JsonProblem) => Error): Json {
  const { isTooDeep, repeated } = shapeOf(text, DEEPEST)
  if (isTooDeep) throw refuse(`it is nested deeper than ${DEEPEST} levels`, 'too deep')
  let value: Json
  try {
    value = JSON.parse(text) as Json
  } catch {
    const { at, kind } = breakOf(text)
    throw refuse(`${BROKEN[kind]} at character ${at + 1}`, 'broken')
  }
  if (repeated === undefined) return value
  const key = visibleName(repeated.length > LONGEST_KEY ? `${repeated.slice(0, LONGEST_KEY)}…` : repeated)
  throw refuse(
    `one object has the key ${key} twice: hooks would judge one value, and the tool might get the other`,
    'repeated',
  )
}

const LONGEST_KEY = 100

const BROKEN: Readonly<Record<JsonBreak['kind'], string>> = {
  end: 'it ends too early',
  after: 'something follows the JSON document',
  odd: 'it is not JSON',
}
