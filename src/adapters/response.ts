// A response as hooks see it, `{ role, content, tool_calls? }`, when a hook gave or changed it.

import type { Json, ModelCallResult } from '../core/index.js'
import { refused } from './begun-calls.js'

export interface Said {
  readonly text: string
  /** `input` is JSON text. */
  readonly calls: readonly { readonly id: string; readonly name: string; readonly input: string }[]
}

export function saidIn(response: Json): Said {
  const message = (typeof response === 'object' && response !== null ? response : {}) as {
    readonly content?: Json
    readonly tool_calls?: Json
  }
  const content = message.content ?? (message.tool_calls ? '' : response)
  const calls = Array.isArray(message.tool_calls) ? message.tool_calls : []
  return {
    text: asText(content),
    calls: calls.map((call) => {
      const { id, name, input } = call as { id: string; name: string; input: Json }
      return { id, name, input: asText(input) }
    }),
  }
}

const asText = (value: Json) => (typeof value === 'string' ? value : JSON.stringify(value))

/** For the end of a stream: a refused one just ends. */
export async function unlessRefused(result: Promise<ModelCallResult<unknown>>): Promise<void> {
  const called = await result
  if (called.response === undefined) throw refused(called)
}
