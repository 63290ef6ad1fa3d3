// Keys of the protocol that decide what is judged, and keys that some programs take for them: many in Go ignore case.

import { isObject, type Json } from '../../core/base/json.js'
import { shown } from '../../core/base/text.js'

class ProtocolKeys {
  readonly #known: ReadonlySet<string>
  readonly #byFolded: ReadonlyMap<string, string>

  constructor(keys: string) {
    const known = keys.split(' ')
    this.#known = new Set(known)
    this.#byFolded = new Map(known.map((key) => [key.toLowerCase(), key]))
  }

  /** Says which key of the object is mistaken for which, if there is one. */
  mistaken(value: unknown): string | undefined {
    if (!isObject(value)) return undefined
    for (const key in value) {
      if (this.#known.has(key)) continue
      const meant = this.#byFolded.get(key.normalize('NFKC').toLowerCase())
      if (meant !== undefined && meant !== key)
        return `some programs take its key ${shown(key)} for ${shown(meant)}`
    }
    return undefined
  }
}

const OF_MESSAGE = new ProtocolKeys('jsonrpc id method params result error')
const OF_PARAMS = new ProtocolKeys(
  'name arguments uri _meta task messages systemPrompt message requestedSchema mode url',
)
const OF_ERROR = new ProtocolKeys('code message data')
const OF_QUESTIONS = new ProtocolKeys('elicitations')
const OF_RESULT = new ProtocolKeys(
  'content structuredContent isError contents tools messages role model stopReason action task inputRequests',
)
const OF_ITEM = new ProtocolKeys('type text data blob uri resource name inputSchema role content input')

/** Why a message may be read differently from how hooks judge it, apart from what is inside its params or its result. */
export function mistakenInMessage(fields: { readonly error?: unknown }): string | undefined {
  return OF_MESSAGE.mistaken(fields) ?? OF_ERROR.mistaken(fields.error)
}

/** The same for the params of a request. */
export function mistakenInParams(params: unknown): string | undefined {
  return OF_PARAMS.mistaken(params)
}

/** The same for the data of an error that wants the person to be asked. */
export function mistakenInQuestions(data: unknown, questions: readonly unknown[]): string | undefined {
  const found = OF_QUESTIONS.mistaken(data)
  if (found !== undefined) return found
  for (const question of questions) {
    const mistaken = OF_PARAMS.mistaken(question)
    if (mistaken !== undefined) return mistaken
  }
  return undefined
}

/** The same for a result and the contents, tools or messages in it. Other data of the server may have any keys. */
export function mistakenInResult(result: Json): string | undefined {
  const found = OF_RESULT.mistaken(result)
  if (found !== undefined || !isObject(result)) return found
  for (const items of [result.content, result.contents, result.tools, result.messages]) {
    if (!Array.isArray(items)) continue
    for (const item of items as readonly Json[]) {
      const { resource, content } = isObject(item) ? item : {}
      const inside = [item, resource, ...(Array.isArray(content) ? content : [content])]
      for (const one of inside) {
        const mistaken = OF_ITEM.mistaken(one)
        if (mistaken !== undefined) return mistaken
      }
    }
  }
  return undefined
}
