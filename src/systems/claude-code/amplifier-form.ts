// What a hook may say in the words of Amplifier's HookResult: a refusal or a question, and the terms of the question.

import { textOf } from '../../core/base/errors.js'
import { type HookResult, parseResult } from '../../core/events/result.js'

type Source = Readonly<Record<string, unknown>>

/** Of `action` at the top level only what must not be lost; nothing else of it counts, as in Claude Code. */
export type Action = 'deny' | 'ask_user' | 'abort_turn' | 'hard_abort'

const ACTIONS: ReadonlySet<unknown> = new Set<Action>(['deny', 'ask_user', 'abort_turn', 'hard_abort'])

export function actionOf({ action }: Source): Action | undefined {
  return ACTIONS.has(action) ? (action as Action) : undefined
}

const TERMS = ['approvalPrompt', 'approvalOptions', 'approvalTimeout', 'approvalDefault'] as const

export type ApprovalTerms = Pick<HookResult, (typeof TERMS)[number]>

/** As they are written, in either spelling, with the field that each of them is. */
export const TERM_KEYS: ReadonlyMap<string, keyof ApprovalTerms> = new Map(
  TERMS.flatMap((term) => [
    [term, term],
    [term.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), term],
  ]),
)

/**
 * The terms in these objects, of which the first that has a term decides it. One that is malformed is told and left
 * out: other agents know none of them, and the question stands there as well.
 */
export function approvalTerms(sources: readonly Source[], problems: string[]): ApprovalTerms {
  const terms: Record<string, unknown> = {}
  for (const source of sources) {
    for (const [key, term] of TERM_KEYS) {
      if (Object.hasOwn(terms, term) || !Object.hasOwn(source, key)) continue
      try {
        const read = parseResult({ action: 'ask_user', [key]: source[key] }, [])
        if (read[term] !== undefined) terms[term] = read[term]
      } catch (error) {
        problems.push(textOf(error))
      }
    }
  }
  return terms as ApprovalTerms
}
