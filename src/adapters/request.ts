// Requests as hooks see them: the system prompt is the first message, and injections are the last.

import { HookError, type RenderedInjection } from '../core/index.js'
import { asText } from './response.js'

export function withSystem(system: string | undefined, messages: readonly object[]): readonly object[] {
  return system === undefined ? messages : [{ role: 'system', content: system }, ...messages]
}

/** The reverse of `withSystem`. Hooks may have taken the system prompt away; then it is undefined. */
export function splitSystem<M extends object>(
  given: string | undefined,
  messages: readonly M[],
): readonly [system: string | undefined, messages: readonly M[]] {
  const [first, ...rest] = messages
  const { role, content } = (first ?? {}) as { readonly role?: unknown; readonly content?: unknown }
  const hasSystem = given !== undefined && role === 'system'
  return hasSystem ? [asText(content), rest] : [undefined, messages]
}

/** The option `addInjections` for an SDK that takes them as messages at the end. */
export function injectedAs(messageOf: (injection: RenderedInjection) => object) {
  return <R extends { readonly messages: readonly object[] }>(
    request: R,
    injections: readonly RenderedInjection[],
  ): R => ({ ...request, messages: [...request.messages, ...injections.map(messageOf)] })
}

/** For an SDK that has chosen the model already. A hook that chose another one must not be ignored. */
export function refuseOtherModel(model: string, judged: string): void {
  if (judged === model) return
  throw new HookError('CALL_DENIED', `A hook chose the model ${judged}, but the SDK can call only ${model}`)
}
