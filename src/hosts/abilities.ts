// What hooks can do under an agent, and what Carabiner does instead where they cannot. Made from the agent's row.

import { knownEvents } from '../core/events/events.js'
import { abilitiesOf } from './answer.js'
import type { Ability, Host } from './host.js'

/** One thing that a hook may want, under one agent. */
export interface AbilityFact {
  readonly wish: Wish
  /** `yes`: the agent does it. `via`: Carabiner finds another way. `no`: it cannot be had. */
  readonly how: 'yes' | 'via' | 'no'
  /** `yes`, `via UserPromptSubmit`, `no, becomes a deny that names the change`. */
  readonly text: string
}

/** What hooks may want, in the words of the table. */
const WISHES = {
  'deny a tool call': ['PreToolUse', 'block'],
  'deny a prompt': ['UserPromptSubmit', 'block'],
  'change a tool call': ['PreToolUse', 'input'],
  'change a result': ['PostToolUse', 'output'],
  'change a prompt': ['UserPromptSubmit', 'prompt'],
  'context at the start': ['SessionStart', 'context'],
  'context with a prompt': ['UserPromptSubmit', 'context'],
  'context before a tool': ['PreToolUse', 'context'],
  'context after a tool': ['PostToolUse', 'context'],
  'ask a person': ['PreToolUse', 'ask'],
  'allow without its question': ['PreToolUse', 'allow'],
  'refuse a stop': ['Stop', 'block'],
  'refuse a subagent’s stop': ['SubagentStop', 'block'],
} as const satisfies Readonly<Record<string, readonly [event: string, ability: Ability]>>

export type Wish = keyof typeof WISHES

export function abilityFacts(host: Host): readonly AbilityFact[] {
  return Object.entries(WISHES).map(([wish, [event, ability]]) => {
    const text = can(host, event, ability) ? yes(host, ability) : instead(host, event, ability)
    return { wish: wish as Wish, how: text.split(/[ ,]/, 1)[0] as AbilityFact['how'], text }
  })
}

/** The next event that can carry context which this one cannot; undefined if it can, or none can. */
export function contextCarrier(host: Host, event: string): string | undefined {
  if (can(host, event, 'context')) return undefined
  const carriers = knownEvents().filter(({ name, carriesLate }) => carriesLate && can(host, name, 'context'))
  return (carriers.find(({ name }) => name === NEXT[event]) ?? carriers[0])?.name
}

/** What usually follows. */
const NEXT: Readonly<Record<string, string>> = {
  PreToolUse: 'PostToolUse',
  SessionStart: 'UserPromptSubmit',
  PostToolUse: 'UserPromptSubmit',
}

/** Whether it lets hooks do that, in general: some agents decide by the payload. */
export function can(host: Pick<Host, 'can'>, event: string, ability: Ability): boolean {
  const abilities = abilitiesOf(host, { name: event, sentAs: event, data: {} }) ?? []
  return abilities.includes(ability)
}

function yes({ mergesInput }: Host, ability: Ability): string {
  if (ability === 'input' && mergesInput) return 'yes, but a field that is to go becomes a deny'
  return ability === 'ask' ? 'yes, in its own dialog' : 'yes'
}

function instead(host: Host, event: string, ability: Ability): string {
  switch (ability) {
    case 'block':
      if (can(host, event, 'stop')) return 'via the end of the turn'
      return can(host, event, 'context') && event !== 'Stop' ? 'via context for the model' : 'no'
    case 'input':
    case 'prompt':
      return can(host, event, 'block') || can(host, event, 'stop')
        ? 'no, becomes a deny that names the change'
        : 'no'
    case 'context': {
      const carrier = contextCarrier(host, event)
      return carrier === undefined ? 'no, the user is told' : `via ${carrier}`
    }
    case 'ask':
      return 'via carabiner approvals, with a deny until then'
    case 'allow':
      return 'no, it asks as usual'
    default:
      return 'no, the user is told'
  }
}
