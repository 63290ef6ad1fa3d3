// The JSON Schemas of what the engine tells a host: Outcome and everything in it, plans, lists. A field that a type has and
// its table lacks does not compile.

import type { Diagnostic } from '../../core/base/errors.js'
import { VERDICTS } from '../../core/events/actions.js'
import type { Origin } from '../../core/hooks/hook.js'
import { HOOK_KINDS } from '../../core/hooks/kinds.js'
import type {
  Approval,
  ApprovalAnswer,
  Ask,
  Change,
  Injection,
  Message,
  Outcome,
  Question,
  Trace,
} from '../../core/hooks/outcome.js'
import type { Candidate, Plan } from '../../core/run/plan.js'
import type { ContextMessage } from '../../core/session/embedder.js'
import type { ListedHook } from '../../hooks.js'
import type { Untrusted } from '../../trust/unit.js'

export type Schema = { readonly [key: string]: unknown }

interface Part {
  readonly schema: Schema
  readonly means: string
  readonly optional?: true
}

/** Optional fields are marked, and no other. */
type Parts<T> = {
  readonly [K in keyof T]-?: object extends Pick<T, K> ? Part & { readonly optional: true } : Part
}

const TEXT = { type: 'string' } as const
const FLAG = { type: 'boolean' } as const
const NUMBER = { type: 'number' } as const
const OBJECT = { type: 'object' } as const
const ANYTHING = {} as const
const LEVEL = ['info', 'warning', 'error']
const ROLE = ['system', 'user', 'assistant']

const has = (schema: Schema, means: string): Part => ({ schema, means })
const may = (schema: Schema, means: string) => ({ schema, means, optional: true }) as const
const oneOf = (values: readonly string[]): Schema => ({ enum: values })
const listOf = (items: Schema): Schema => ({ type: 'array', items })

/** Refers to a structure by its name. */
export function structure(name: StructureName): Schema {
  return { $ref: `#/$defs/${name}` }
}

/** An answer about a call leaves out `data`: the call is beside it. */
export type ToldOutcome = Omit<Outcome, 'data'> & Partial<Pick<Outcome, 'data'>>

interface Structures {
  readonly outcome: ToldOutcome
  readonly trace: Trace
  readonly change: Change
  readonly injection: Injection
  readonly message: Message
  readonly approval: Approval
  readonly question: Question
  readonly ask: Ask
  readonly answer: ApprovalAnswer
  readonly diagnostic: Diagnostic
  readonly plan: Plan
  readonly candidate: Candidate
  readonly origin: Origin
  readonly hook: ListedHook
  readonly untrusted: Untrusted
  readonly wakeMessage: ContextMessage
}

export type StructureName = keyof Structures

const STATES = ['untrusted', 'modified']
const SKIPS = ['matcher', 'if', 'disabled', 'untrusted', 'modified', 'duplicate', 'once', 'observe', 'ended']
const ROLES = oneOf(['intercept', 'approve', 'observe'])
const KINDS = oneOf(Object.keys(HOOK_KINDS))
const ORIGIN: Parts<Origin> = {
  scope: has(oneOf(['global', 'host', 'session', 'user', 'project', 'named']), 'Whose it is.'),
  source: has(TEXT, 'The plugin or file that it comes from.'),
  file: may(TEXT, 'Its file.'),
  line: may(NUMBER, 'Its line in the file.'),
  hash: may(TEXT, 'Digest of its entry in the file.'),
  writtenFor: may(
    OBJECT,
    'For a hook from another agent’s file: that `agent`, and its own name of the `event`.',
  ),
}

export const STRUCTURES: { readonly [N in StructureName]: Parts<Structures[N]> } = {
  outcome: {
    action: has(
      oneOf(VERDICTS),
      'The decision. Only continue lets the operation go on; respond replaces it.',
    ),
    reason: may(TEXT, 'Why, for the model.'),
    permission: may({ const: 'allow' }, 'A hook explicitly allowed it: you need not ask.'),
    data: may(OBJECT, 'The event data after every change. An answer about a call leaves it out.'),
    modified: has(FLAG, 'Whether a hook changed the data.'),
    injections: has(listOf(structure('injection')), 'Texts for the model.'),
    messages: has(listOf(structure('message')), 'Messages for the user.'),
    response: may(ANYTHING, 'The result that a hook gave in place of the operation.'),
    host: may(OBJECT, 'Fields that only you can act on.'),
    approval: may(structure('approval'), 'The question, and who answered it when.'),
    hooks: has(listOf(structure('trace')), 'What each hook did.'),
    diagnostics: has(listOf(structure('diagnostic')), 'What the user should know.'),
  },
  trace: {
    name: has(TEXT, "The hook's name."),
    kind: has(KINDS, 'How it runs.'),
    source: has(TEXT, 'The plugin or file that it comes from.'),
    role: may(ROLES, 'Absent for interceptors.'),
    status: has(oneOf(['ran', 'skipped', 'failed', 'detached']), 'What became of it.'),
    ms: has(NUMBER, 'How long it took.'),
    event: may(TEXT, 'The event, if it is another than the one fired.'),
    why: may(TEXT, 'Why it was skipped or failed, as a code.'),
    detail: may(TEXT, 'Why, in words.'),
    answer: may(OBJECT, "The hook's own answer."),
    mode: may({ const: 'shadow' }, 'It ran in shadow mode, so nothing of it counts.'),
    would: may(OBJECT, 'In shadow mode: the answer that would have counted.'),
    finalLook: may({ const: true }, 'It was shown the final call.'),
    stale: may({ const: true }, 'It has not seen the final call.'),
    countsAs: may(oneOf(['deny', 'continue']), 'How its failure counts.'),
    changed: may(listOf(TEXT), 'Keys of the data that it changed.'),
    changes: may(listOf(structure('change')), 'The changed values.'),
    stdout: may(TEXT, 'Its output.'),
    stderr: may(TEXT, 'Its error output.'),
  },
  change: {
    path: has(TEXT, 'The path within the data.'),
    before: may(ANYTHING, 'Absent if it was added.'),
    after: may(ANYTHING, 'Absent if it was removed.'),
  },
  injection: {
    text: has(TEXT, 'The text.'),
    role: has(oneOf(ROLE), 'The role of its message.'),
    ephemeral: has(FLAG, 'Whether it is for the next model call only.'),
    source: has(TEXT, "The hook's name."),
    appendToLastToolResult: may({ const: true }, 'Whether to append it to the last tool result.'),
  },
  message: {
    text: has(TEXT, 'The text.'),
    level: has(oneOf(LEVEL), 'How serious it is.'),
    source: has(TEXT, "The hook's name."),
  },
  approval: {
    question: has(structure('question'), 'The question.'),
    answer: may(structure('answer'), 'The answer, if there is one.'),
  },
  question: {
    id: has(TEXT, 'The id of the question. tool.answer and model.answer name it.'),
    event: has(TEXT, 'The event.'),
    session: has(TEXT, "The session's id, as hooks see it."),
    cwd: may(TEXT, "The session's folder."),
    digest: has(TEXT, 'Digest of the exact call.'),
    binding: has(TEXT, 'Digest of the call, its surroundings and the hooks that ask.'),
    call: has(OBJECT, 'tool_name, tool_input and tool_use_id, and who makes the call.'),
    asks: has(listOf(structure('ask')), 'The hooks that ask, and their prompts.'),
    options: has(listOf(TEXT), 'The possible answers. One that begins with "allow" allows.'),
    timeout: has(NUMBER, 'Seconds for an answer.'),
    default: has(oneOf(['allow', 'deny']), 'What counts if nobody answers in time.'),
    people: may(NUMBER, 'How many different people must allow it, if more than one.'),
    expires: has(TEXT, 'When that is, ISO-8601.'),
  },
  ask: {
    hook: has(TEXT, "The hook's name."),
    prompt: has(TEXT, 'What it asks.'),
    reason: may(TEXT, 'Why it asks.'),
  },
  answer: {
    decision: has(oneOf(['allow', 'deny']), 'What was decided.'),
    option: may(TEXT, 'The option that was chosen.'),
    reason: may(TEXT, 'Why.'),
    by: has(TEXT, 'Who answered.'),
    people: may(listOf(TEXT), 'Everybody who allowed it, if several people had to.'),
    at: has(TEXT, 'When, ISO-8601.'),
    expires: may(TEXT, 'When the grant ends.'),
    grants: may(
      listOf({
        type: 'object',
        required: ['id', 'since'],
        properties: { id: TEXT, by: TEXT, since: TEXT },
        additionalProperties: false,
      }),
      'Earlier grants that answered.',
    ),
  },
  diagnostic: {
    code: has(TEXT, 'A code of the page `errors`.'),
    text: has(TEXT, 'What happened.'),
    file: may(TEXT, 'Where: the file.'),
    line: may(NUMBER, 'Where: the line.'),
    meant: may(TEXT, 'The event that was most likely meant.'),
    hook: may(TEXT, 'The hook that it is about.'),
    todo: may(TEXT, 'What to do about it.'),
  },
  plan: {
    event: has(TEXT, 'The event.'),
    steps: has(
      listOf({
        type: 'object',
        required: ['priority', 'lanes'],
        properties: { priority: NUMBER, lanes: listOf(listOf(TEXT)) },
        additionalProperties: false,
      }),
      'Steps run one after another, the lanes of a step side by side, the hooks of a lane in sequence.',
    ),
    approvers: has(listOf(TEXT), 'Hooks that see the final call.'),
    observers: has(listOf(TEXT), 'Hooks that only observe.'),
    candidates: has(listOf(structure('candidate')), 'Every hook of the event.'),
  },
  candidate: {
    name: has(TEXT, "The hook's name."),
    kind: has(KINDS, 'How it runs.'),
    role: has(ROLES, 'What it does.'),
    priority: has(NUMBER, 'Lower runs first.'),
    origin: has(structure('origin'), 'Where it comes from.'),
    order: has(NUMBER, 'Its place, from 1.'),
    matched: has(FLAG, 'Whether its matcher fits.'),
    mode: may({ const: 'shadow' }, 'Nothing of it counts.'),
    why: may(oneOf([...SKIPS, 'failed']), 'Why it does not run.'),
    detail: may(TEXT, 'Why, in words.'),
  },
  origin: ORIGIN,
  hook: {
    id: has(TEXT, 'Its id.'),
    name: has(TEXT, 'Its name.'),
    kind: has(KINDS, 'How it runs.'),
    role: has(ROLES, 'What it does.'),
    events: has({ anyOf: [{ const: 'all' }, listOf(TEXT)] }, 'Its events.'),
    matcher: has({ anyOf: [TEXT, { type: 'null' }] }, 'Its matcher.'),
    priority: has(NUMBER, 'Lower runs first.'),
    timeout: has(NUMBER, 'Seconds.'),
    onFailure: has(TEXT, 'What its failure means.'),
    ...ORIGIN,
    content: may(TEXT, 'Digest of the files that it runs.'),
    reviewer: may({ type: 'object' }, 'Who trusted them for the whole fleet (`by`), and when (`at`).'),
    command: may(TEXT, 'What it runs or asks.'),
    state: has(oneOf(['ready', 'disabled', ...STATES]), 'Whether it runs.'),
    why: may(TEXT, 'Why it does not.'),
    kept: may(
      oneOf(['modified', 'missing']),
      "It runs as it was trusted; the project's own version differs.",
    ),
    mode: may({ const: 'shadow' }, 'It runs, and says what it would have done, but nothing of it counts.'),
    onlyDenies: may({ const: true }, 'Rules of a file that is not trusted: they can only refuse.'),
  },
  untrusted: {
    kind: has(TEXT, 'A file or a plugin.'),
    name: has(TEXT, 'Its name.'),
    path: has(TEXT, 'Its path.'),
    state: has(oneOf(STATES), 'Whether it is new or was changed.'),
    why: has(TEXT, 'Why, in a sentence.'),
    hooks: has(listOf(TEXT), 'The names of its hooks.'),
  },
  wakeMessage: {
    role: has(oneOf(ROLE), 'The role of the message.'),
    content: has(TEXT, 'The text for the model.'),
    metadata: has(OBJECT, 'The hook, event, session and time that it comes from.'),
  },
}

/** The schema of a structure. It refers to others as `#/$defs/NAME`. */
export function structureSchema(name: StructureName): Schema {
  const parts = Object.entries<Part>(STRUCTURES[name])
  return objectSchema(parts.map(([key, { schema, means, optional }]) => ({ key, schema, means, optional })))
}

/** The structures that a schema refers to, directly or not. */
export function structuresIn(schema: unknown): readonly StructureName[] {
  const found = new Set<StructureName>()
  const look = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    for (const [key, item] of Object.entries(value)) {
      const name = key === '$ref' ? (String(item).replace('#/$defs/', '') as StructureName) : undefined
      if (name === undefined) look(item)
      else if (name in STRUCTURES && !found.has(name)) {
        found.add(name)
        look(structureSchema(name))
      }
    }
  }
  look(schema)
  return [...found]
}

interface Property {
  readonly key: string
  readonly schema: Schema
  readonly means: string
  readonly optional?: boolean | undefined
}

export function objectSchema(properties: readonly Property[]): Schema {
  const required = properties.filter(({ optional }) => !optional).map(({ key }) => key)
  return {
    type: 'object',
    ...(required.length > 0 && { required }),
    properties: Object.fromEntries(
      properties.map(({ key, schema, means }) => [key, { description: means, ...schema }]),
    ),
    additionalProperties: false,
  }
}
