// What an option does when it is chosen, whatever a hook calls it.

import { ALLOWS_ALWAYS, type Question, readReply } from './approval.js'

export type Effect = 'allow' | 'always' | 'deny'

/** By the rule of the core, of which this is only asked. */
export function effectOf(question: Question, option: string): Effect {
  if (readReply(question, option, '')?.decision !== 'allow') return 'deny'
  return ALLOWS_ALWAYS.test(option) ? 'always' : 'allow'
}

/** The first option with this effect; undefined where none is offered. */
export function optionFor(question: Question, effect: Effect): string | undefined {
  return question.options.find((option) => effectOf(question, option) === effect)
}

/** A deny is always among the options; what was not offered would be a deny, too. */
export function denyOf(question: Question): string {
  return question.options.find((option) => /^deny\b/i.test(option)) ?? 'Deny'
}
