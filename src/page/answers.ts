// The questions that the page asks its server: a table of methods and paths, each answered with JSON or a file.

import { isObject } from '../core/base/json.js'

/** Asked by the page. `body` is what it sent, unchecked. */
export interface Asked {
  readonly query: URLSearchParams
  readonly body: unknown
  /** `http://carabiner.localhost:7810` */
  readonly origin: string
  /** Aborted when the browser does not wait any more. */
  readonly signal: AbortSignal
}

/** An answer that the browser saves as a file, one part after another. */
export class Download {
  readonly name: string
  readonly type: string
  readonly parts: AsyncIterable<string>

  constructor(name: string, type: string, parts: AsyncIterable<string>) {
    this.name = name
    this.type = type
    this.parts = parts
  }
}

/** An answer in parts, each a line of JSON: how far it is, and at last the result. */
export class Parts {
  readonly parts: AsyncIterable<unknown>

  constructor(parts: AsyncIterable<unknown>) {
    this.parts = parts
  }
}

/** Keys are such as `GET api/rows`. */
export type Answers = Readonly<Record<string, (asked: Asked) => Promise<unknown>>>

/** A question that has no answer: the message is shown on the page. */
export class NotAnswered extends Error {
  override readonly name = 'NotAnswered'
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** A whole number in the query. Throws NotAnswered for anything else. */
export function numberIn(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name)
  if (text === null || text === '') return undefined
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new NotAnswered(400, `${name} must be a whole number`)
}

/** The fields of the query with these names that say anything. */
export function textsIn<N extends string>(
  query: URLSearchParams,
  names: readonly N[],
): Partial<Record<N, string>> {
  const given = names.map((name) => [name, query.get(name)] as const)
  return Object.fromEntries(given.filter(([, text]) => text !== null && text !== '')) as Partial<
    Record<N, string>
  >
}

/** A text in the body. Throws NotAnswered for anything else. */
export function textIn(body: unknown, name: string, longest = 4096): string {
  const value = isObject(body) ? body[name] : undefined
  if (typeof value === 'string' && value.length <= longest) return value
  throw new NotAnswered(400, `${name} must be a text of at most ${longest} characters`)
}
