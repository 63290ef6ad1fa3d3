// What a new plugin does until its author changes it: something small and testable on each event.

import type { Data, Json } from '../../core/base/json.js'
import type { SampleSubject } from '../../core/events/catalogue.js'
import { type EventKind, type EventName, resolveEvent } from '../../core/events/events.js'
import { compileMatcher } from '../../core/hooks/matcher.js'
import { examplePayload } from '../fire/payload.js'
import type { Expectation } from '../test-cases/expectation.js'

export interface Wanted {
  readonly name: string
  readonly event: EventName
  readonly matcher: string | undefined
}

/** Refuses anything that contains a word, or says one sentence each time. */
export type Sample = Refusing | Saying

interface Refusing {
  readonly does: 'refuse'
  /** The event field it checks. */
  readonly field: string
  readonly word: string
  readonly reason: string
  /** Printed to refuse on an event where exit code 2 does not. */
  readonly answer?: Data
  /** Exit code if the event is unreadable: 2 keeps a gate closed. */
  readonly onFailure: 2 | 1
  /** It keeps the agent going, so it must let it stop the second time. */
  readonly isStop: boolean
  readonly cases: readonly SampleCase[]
}

interface Saying {
  readonly does: 'say'
  readonly text: string
  /** To the model, not to the user. */
  readonly toModel: boolean
  /** Printed each time. */
  readonly answer: Data
  readonly cases: readonly SampleCase[]
}

interface SampleCase {
  readonly name: string
  readonly event: EventName
  readonly payload: Data
  readonly expect: Expectation
  readonly skip?: string
}

export function sampleOf(wanted: Wanted): Sample {
  const kind = resolveEvent(wanted.event)
  const { sample } = kind
  return typeof sample === 'object' ? refusing(wanted, kind, sample) : saying(wanted, kind)
}

/** Events without a sample, and why. */
export const WITHOUT_SAMPLE: Partial<Record<EventName, string>> = {
  WorktreeCreate: 'its hook must create the worktree itself and print its path',
}

// ---- refusing -------------------------------------------------------------------------------------------------

function refusing(wanted: Wanted, kind: EventKind, { field, value }: SampleSubject): Refusing {
  const { name, event } = wanted
  const around = (text: string): Json => JSON.parse(JSON.stringify(value).replaceAll('%s', text))
  const isStop = kind.deny === 'go-on'
  const word = isStop ? 'TODO' : 'forbidden'
  const reason = isStop ? `${name}: there is a TODO left` : `${name}: this is forbidden here`
  const base = payloadOf(wanted, kind)
  const hook = `${event}#1`
  const unmatched = base === undefined
  const answer = event === 'PermissionRequest' ? permissionDenied(reason) : undefined
  const one = (title: string, value: Json, expect: Expectation): SampleCase => ({
    name: title,
    event,
    payload: { ...base, [field]: value },
    expect: { ...expect, ran: [hook] },
    ...(unmatched && { skip: `add a value to the payload that ${wanted.matcher ?? ''} matches` }),
  })
  return {
    does: 'refuse',
    field,
    word,
    reason,
    ...(answer && { answer }),
    // Any other exit code is a failure; hooks.json says what that means.
    onFailure: kind.onFailure === 'deny' && !answer ? 2 : 1,
    isStop,
    cases: [
      one(
        `${isStop ? 'keeps going while it finds' : 'refuses input that contains'} ${word}`,
        around(isStop ? `One ${word} is left.` : word),
        kind.deny === 'tell' ? { action: 'continue', context: reason } : { action: 'deny', reason },
      ),
      one('lets everything else pass', around(isStop ? 'All is done.' : 'fine'), {
        action: 'continue',
        failed: [],
      }),
    ],
  }
}

function permissionDenied(message: string): Data {
  return {
    hookSpecificOutput: { hookEventName: 'PermissionRequest', decision: { behavior: 'deny', message } },
  }
}

// ---- saying ---------------------------------------------------------------------------------------------------

function saying(wanted: Wanted, kind: EventKind): Saying {
  const { name, event } = wanted
  const toModel = kind.sample === 'tells-model'
  const text = toModel ? `${name}: tests run with npm test.` : `${name} was told: ${kind.when}`
  const payload = payloadOf(wanted, kind)
  return {
    does: 'say',
    text,
    toModel,
    answer: toModel
      ? { hookSpecificOutput: { hookEventName: event, additionalContext: text } }
      : { systemMessage: text },
    cases: [
      {
        name: toModel ? 'tells the model' : 'tells the user',
        event,
        payload: payload ?? {},
        expect: {
          action: 'continue',
          ...(toModel ? { context: text } : { messages: text }),
          ran: [`${event}#1`],
        },
        ...(!payload && { skip: `add a value to the payload that ${wanted.matcher ?? ''} matches` }),
      },
    ],
  }
}

// ---- payloads -------------------------------------------------------------------------------------------------

const TOOLS = [
  'Bash',
  'Read',
  'Write',
  'Edit',
  'Glob',
  'Grep',
  'WebFetch',
  'Agent',
  'mcp__server__tool',
] as const

/** Undefined if no value was found that the matcher accepts. */
function payloadOf({ matcher: pattern }: Wanted, kind: EventKind): Data | undefined {
  const payload = JSON.parse(examplePayload(kind)) as Data
  const field = kind.matcher
  if (pattern === undefined || field === null) return payload
  const matcher = compileMatcher(pattern, { narrow: kind.narrowMatcher })
  const words = pattern
    .split(/[|,]/)
    .map((word) => word.trim())
    .filter((word) => /^[\w.-]+$/.test(word))
  const guesses = [...words, ...(field === 'tool_name' ? TOOLS : []), pattern.replace(/[^\w-]/g, '')]
  const value = guesses.find((guess) => guess !== '' && (matcher?.test(guess) ?? true))
  return value === undefined ? undefined : { ...payload, [field]: value }
}

// ---- scripts --------------------------------------------------------------------------------------------------

/** The parts that scripts in all languages share. */
export interface ScriptFacts extends Pick<Wanted, 'name' | 'event'> {
  readonly when: string
  readonly sample: Sample
  /** Comment lines that explain the answer. */
  readonly answers: readonly string[]
  /** Shown if started at a terminal. Texts that scripts print must not contain quotes. */
  readonly usage: string
  readonly noEvent: string
  /** Exit code without an event. */
  readonly onFailure: 2 | 1
}

export interface Script {
  readonly files: Readonly<Record<string, string>>
  readonly executable: readonly string[]
  /** For hooks.json: what runs it. */
  readonly handler:
    | { readonly type: 'command'; readonly command: string }
    | { readonly type: 'module'; readonly module: string }
}

export function factsOf({ name, event }: Wanted, sample: Sample): ScriptFacts {
  const { when, denyMeans } = resolveEvent(event)
  const answers =
    sample.does === 'refuse' && !sample.answer
      ? [
          'Exit code 0 changes nothing. Exit code 2 refuses, with the text on standard error as the reason:',
          `${denyMeans}.`,
        ]
      : ['It answers by printing JSON. If it prints nothing, it has no answer.']
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
