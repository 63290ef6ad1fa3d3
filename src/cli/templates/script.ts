// What every script of a new plugin is made from, and what it comes to.

import { resolveEvent } from '../../core/events/events.js'
import type { Sample, Wanted } from './sample.js'

export interface ScriptFacts extends Pick<Wanted, 'name' | 'event'> {
  readonly when: string
  readonly sample: Sample
  /** What its answer means, in lines. */
  readonly answers: readonly string[]
  /** For who starts it at a terminal. Texts that scripts print have no quotes in them. */
  readonly usage: string
  readonly noEvent: string
  /** Exit code where it got no event. */
  readonly onFailure: 2 | 1
}

export interface Script {
  readonly files: Readonly<Record<string, string>>
  readonly executable: readonly string[]
  /** For hooks.json. */
  readonly command: string
}

export function factsOf({ name, event }: Wanted, sample: Sample): ScriptFacts {
  const { when, denyMeans } = resolveEvent(event)
  const answers =
    sample.does === 'refuse' && !sample.answer
      ? [
          'Exit code 0 has no objection. Exit code 2 refuses, and what stands on standard error is the reason:',
          `${denyMeans}.`,
        ]
      : ['What it prints is its answer, as JSON; if it prints nothing, it has none.']
  return {
    name,
    event,
    when,
    sample,
    answers,
    usage: `${name} reads an event from standard input; try it with: carabiner test`,
    noEvent: `${name}: there is no event on standard input`,
    onFailure: sample.does === 'refuse' ? sample.onFailure : 1,
  }
}
