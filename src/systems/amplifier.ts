// Amplifier's HookResult in a hook's JSON: a refusal or a question in `action`, and the terms of the question.

import { textOf } from '../core/base/errors.js'
import { type HookResult, parseResult } from '../core/events/result.js'

type Source = Readonly<Record<string, unknown>>

/** The values of a top-level `action` that must not be lost. No other value counts, as in Claude Code. */
export type Action = 'deny' | 'ask_user' | 'abort_turn' | 'hard_abort'

const ACTIONS: ReadonlySet<unknown> = new Set<Action>(['deny', 'ask_user', 'abort_turn', 'hard_abort'])

export function actionOf({ action }: Source): Action | undefined {
  return ACTIONS.has(action) ? (action as Action) : undefined
}

const TERMS = ['approvalPrompt', 'approvalOptions', 'approvalTimeout', 'approvalDefault'] as const

export type ApprovalTerms = Pick<HookResult, (typeof TERMS)[number]>

/** The field behind each key, in snake_case and camelCase. */
export const TERM_KEYS: ReadonlyMap<string, keyof ApprovalTerms> = new Map(
  TERMS.flatMap((term) => [
    [term, term],
    [term.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), term],
  ]),
)

/**
 * The first object that has a term decides it. A malformed term is reported and left out: the question stands, as it
 * does in other agents, which know no terms.
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
