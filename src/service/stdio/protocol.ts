// The protocol of `carabiner serve --stdio`: every message and its fields, in one table. The checks of params, the JSON
// Schema and docs/reference/protocol.md derive from it.

import { type Data, isObject, type Json } from '../../core/base/json.js'
import { type Check, isFlag, isOneOf, isSeconds, isText } from '../../core/base/options.js'
import type { TurnStatus } from '../../core/session/session-context.js'
import { type Schema, type StructureName, structure } from './structures.js'

/** The versions that are spoken here, the newest last. */
export const VERSIONS: readonly number[] = [1]

// ---- types of fields ------------------------------------------------------------------------------------------

interface FieldType {
  readonly check: Check
  readonly schema: Schema
}

const REPLY_KEYS: readonly string[] = ['option', 'reason', 'by', 'expires']

/** Without `proof`: an "always" that is given here ends with this process. */
function isReply(value: unknown): boolean {
  if (typeof value === 'string') return true
  if (!isObject(value) || typeof value.option !== 'string') return false
  return Object.entries(value).every(([key, item]) =>
    key === 'data' ? isObject(item) : REPLY_KEYS.includes(key) && typeof item === 'string',
  )
}

const TEXT = { type: 'string' } as const
const STATUSES = ['completed', 'error', 'aborted'] as const

const FIELD_TYPES = {
  text: { check: isText, schema: { type: 'string', pattern: '^[^\\u0000]+$' } },
  string: { check: [(value) => typeof value === 'string', 'a string'], schema: TEXT },
  texts: {
    check: [(value) => Array.isArray(value) && value.every(isText[0]), 'a list of non-empty strings'],
    schema: { type: 'array', items: { type: 'string', pattern: '^[^\\u0000]+$' } },
  },
  flag: { check: isFlag, schema: { type: 'boolean' } },
  seconds: { check: isSeconds, schema: { type: 'number', exclusiveMinimum: 0 } },
  number: { check: [Number.isInteger, 'a whole number'], schema: { type: 'integer' } },
  object: { check: [isObject, 'an object'], schema: { type: 'object' } },
  json: { check: [() => true, 'any JSON value'], schema: {} },
  requestId: {
    check: [(value) => typeof value === 'string' || typeof value === 'number', 'a string or a number'],
    schema: { type: ['string', 'number'] },
  },
  turnStatus: { check: isOneOf(...STATUSES), schema: { enum: STATUSES } },
  reply: {
    check: [isReply, 'an option, or { option, reason?, by?, data?, expires? }'],
    schema: {
      anyOf: [
        TEXT,
        {
          type: 'object',
          required: ['option'],
          properties: { option: TEXT, reason: TEXT, by: TEXT, expires: TEXT, data: { type: 'object' } },
          additionalProperties: false,
        },
      ],
    },
  },
} as const satisfies Readonly<Record<string, FieldType>>

interface FieldValues {
  readonly text: string
  readonly string: string
  readonly texts: readonly string[]
  readonly flag: boolean
  readonly seconds: number
  readonly number: number
  readonly object: Data
  readonly json: Json
  readonly requestId: string | number
  readonly turnStatus: TurnStatus
  readonly reply: Reply
}

type Reply = string | { readonly option: string; readonly [key: string]: unknown }

type FieldTypeName = keyof typeof FIELD_TYPES

/** A field of a message. `of` is its type, or the structure that it is or that it lists. */
export interface Field {
  readonly of: FieldTypeName | StructureName | readonly [StructureName]
  readonly means: string
  readonly optional?: true
}

export type Fields = Readonly<Record<string, Field>>

const must = <T extends Field['of']>(of: T, means: string) => ({ of, means }) as const
const may = <T extends Field['of']>(of: T, means: string) => ({ of, means, optional: true }) as const

/** The values of these fields. */
export type Values<F> = {
  readonly [K in keyof F as F[K] extends { readonly optional: true } ? never : K]: ValueOf<F[K]>
} & {
  readonly [K in keyof F as F[K] extends { readonly optional: true } ? K : never]?: ValueOf<F[K]> | undefined
}
type ValueOf<F> = F extends { readonly of: infer T }
  ? T extends keyof FieldValues
    ? FieldValues[T]
    : Json
  : never

// ---- messages -------------------------------------------------------------------------------------------------

/** A message and the answer to it. With statuses, the answer has the fields of its `status`. */
export interface MethodRow {
  readonly does: string
  readonly params: Fields
  /** Absent for a notification. */
  readonly result?: Fields
  readonly statuses?: Readonly<Record<string, Fields>>
}

const SESSION = must('text', 'The session, as session.open returned it.')
const CALL = must('text', 'The call, as tool.begin or model.begin returned it.')
const TIMEOUT = may(
  'seconds',
  'Seconds for the hooks of each event. Hooks that it cuts short count as failed.',
)
const OUTCOME = must('outcome', 'What the hooks decided, and how.')
const AFTER = must('outcome', 'The same, for the event after the call.')
const REASON = must('string', 'Why, for the model.')
const QUESTION = { of: 'question', means: 'What to ask a person.' } as const
const CALL_ID = must('text', 'The call. Name it in every message about this call.')
const ANSWERED = must('text', 'The id of the question. An answer counts for no other question.')
const PERSON = must('reply', 'What the person chose: one of the options, alone or with more.')

const DENIED = { reason: REASON, outcome: OUTCOME } as const
const ASKED = { call: CALL_ID, reason: REASON, question: QUESTION, outcome: OUTCOME } as const

const TOOL_BEGUN = {
  run: {
    call: CALL_ID,
    name: must('string', 'The tool to run.'),
    input: must('object', 'Its input. Run the tool with exactly this input.'),
    outcome: OUTCOME,
  },
  responded: { result: must('json', 'A hook gave the result. Do not run the tool.'), outcome: OUTCOME },
  denied: DENIED,
  needs_approval: ASKED,
} as const

const TOOL_ENDED = {
  ok: {
    result: may('json', 'Only if a hook replaced your result. It has the same form.'),
    outcome: OUTCOME,
    after: AFTER,
  },
  responded: { result: must('json', 'A hook replaced your result.'), outcome: OUTCOME, after: AFTER },
  failed: { reason: REASON, outcome: OUTCOME, after: AFTER },
} as const

const MODEL_BEGUN = {
  run: {
    call: CALL_ID,
    request: must('object', 'Send exactly this request, which includes what hooks injected.'),
    held: must('flag', 'A hook may still refuse the response: show none of it before model.finish returns.'),
    outcome: OUTCOME,
  },
  responded: { response: must('json', 'A hook gave the response. Do not ask the model.'), outcome: OUTCOME },
  denied: DENIED,
  needs_approval: ASKED,
} as const

const MODEL_ENDED = {
  ok: {
    response: may('json', 'Only if a hook replaced your response. It has the same form.'),
    outcome: OUTCOME,
    after: AFTER,
  },
  responded: { response: must('json', 'A hook replaced your response.'), outcome: OUTCOME, after: AFTER },
  denied: { ...DENIED, after: AFTER },
  needs_approval: { ...ASKED, after: AFTER },
  failed: { reason: REASON, outcome: OUTCOME },
} as const

const HOOKS = {
  untrusted: must(['untrusted'], 'What a person has to review before it runs: carabiner trust.'),
  diagnostics: must(['diagnostic'], 'Problems with files and settings.'),
} as const

/** What a host asks. */
export const METHODS = {
  hello: {
    does: 'Comes first, and once. Reads the hooks of the project and of the user.',
    params: {
      version: must('number', 'The version of the protocol that you speak: 1.'),
      host: must('text', 'The name of your program.'),
      projectDir: may('text', 'The project. Default: --project, or the project around the current folder.'),
      workFolders: may(
        'texts',
        'Other folders that the agent works in. What the user trusted there counts too.',
      ),
      settings: may(
        'object',
        "Keys of a settings file. They can tighten the user's settings, not loosen them.",
      ),
      approves: may(
        'flag',
        'You answer `approve` requests. Without it, a question comes back as needs_approval.',
      ),
    },
    result: {
      version: must('number', 'The version that is spoken from now on.'),
      carabiner: must('string', 'The version of Carabiner.'),
      projectDir: must('string', 'The project.'),
      hooks: must('number', 'How many hooks are ready to run.'),
      ...HOOKS,
    },
  },
  'session.open': {
    does: 'Opens a session: one conversation of one agent. It fires nothing.',
    params: {
      id: may('text', 'The id that hooks see. Default: a new one.'),
      parent: may('text', 'The session of the agent that started this subagent. Needs agentId.'),
      cwd: may('text', 'The folder that the agent works in. Default: the project.'),
      agent: may('text', 'The agent, such as claude-code. Rules may count only in some agents.'),
      transcriptPath: may('text', 'The file with the conversation.'),
      permissionMode: may('text', "The agent's permission mode."),
      agentId: may('text', 'The id of a subagent.'),
      agentType: may('text', 'The type of a subagent.'),
      parentTurnId: may('text', 'The turn that started the subagent.'),
      channel: may('text', 'The channel that the conversation is in.'),
      chatId: may('text', 'The chat in that channel.'),
    },
    result: {
      session: must('text', 'Name it in every message about this session.'),
      id: must('text', 'The id that hooks see.'),
    },
  },
  'session.fire': {
    does: 'Fires an event, such as UserPromptSubmit or Stop. Use tool.begin and model.begin for calls.',
    params: {
      session: SESSION,
      event: must('text', 'The name of the event.'),
      data: may('object', 'The data of the event.'),
      timeout: TIMEOUT,
      custom: may('flag', 'The event is your own, even if its name resembles a known one.'),
    },
    result: { outcome: OUTCOME },
  },
  'session.startTurn': {
    does: 'Begins a turn. Without it, UserPromptSubmit begins one.',
    params: { session: SESSION, prompt: may('string', "The user's prompt.") },
    result: { turnId: must('text', 'The turn; turn-1 is the first.') },
  },
  'session.endTurn': {
    does: 'Ends a turn.',
    params: {
      session: SESSION,
      status: may('turnStatus', 'How it ended. Default: as hooks and models left it.'),
    },
    result: {},
  },
  'session.close': {
    does: 'Closes the session and its subagents. Calls that were not finished fail as interrupted.',
    params: { session: SESSION },
    result: {},
  },
  'tool.begin': {
    does: 'Fires PreToolUse. Run the tool only if the status is `run`.',
    params: {
      session: SESSION,
      name: must('text', 'The tool. Hooks match the names of Claude Code: Bash, Read, Write, Edit.'),
      input: must('object', 'Its input.'),
      id: may('text', "The model's id of the call."),
      timeout: TIMEOUT,
      renames: may(
        'flag',
        'You can run the tool that a hook chose instead. Without it, a renamed call is denied.',
      ),
    },
    statuses: TOOL_BEGUN,
  },
  'tool.answer': {
    does: 'Answers the question of a call that needs approval. The answer is that of tool.begin.',
    params: { call: CALL, question: ANSWERED, reply: PERSON },
    statuses: TOOL_BEGUN,
  },
  'tool.finish': {
    does: 'The tool has run. Fires PostToolUse.',
    params: { call: CALL, result: must('json', 'What the tool returned.') },
    statuses: TOOL_ENDED,
  },
  'tool.fail': {
    does: 'The tool has failed. Fires PostToolUseFailure.',
    params: { call: CALL, error: must('string', 'What went wrong.') },
    statuses: { failed: TOOL_ENDED.failed },
  },
  'model.begin': {
    does: 'Fires ModelRequest. Ask the model only if the status is `run`.',
    params: {
      session: SESSION,
      request: must('object', 'What you would send: { model, messages, … }.'),
      timeout: TIMEOUT,
    },
    statuses: MODEL_BEGUN,
  },
  'model.answer': {
    does: 'Answers the question of a model call. The answer is that of the message that the question came with.',
    params: { call: CALL, question: ANSWERED, reply: PERSON },
    statuses: {
      ...MODEL_BEGUN,
      ok: MODEL_ENDED.ok,
      responded: { ...MODEL_BEGUN.responded, after: may('outcome', AFTER.means) },
      denied: { ...DENIED, after: may('outcome', AFTER.means) },
      needs_approval: { ...ASKED, after: may('outcome', AFTER.means) },
    },
  },
  'model.finish': {
    does: 'The model has answered. Fires ModelResponse. Use the response only if the status is `ok` or `responded`.',
    params: { call: CALL, response: must('json', 'What the model answered, whole.') },
    statuses: MODEL_ENDED,
  },
  'model.fail': {
    does: 'The model has failed.',
    params: { call: CALL, error: must('string', 'What went wrong.') },
    statuses: { failed: MODEL_ENDED.failed },
  },
  'hooks.list': {
    does: 'Lists every hook that could run, and what keeps the others from running.',
    params: {},
    result: { hooks: must(['hook'], 'Every hook.'), ...HOOKS },
  },
  'hooks.explain': {
    does: 'Says which hooks would run for an event, in which order, and why the others would not. Runs nothing.',
    params: {
      event: must('text', 'The name of the event.'),
      data: may('object', 'The data of the event, or a part of it.'),
      session: may('text', 'The session. Default: a new one.'),
    },
    result: { plan: must('plan', 'The plan.') },
  },
  'hooks.reload': {
    does: 'Reads the hooks again at once. Without it, changed files and new trust count from the next event that their hooks match. Modules of the user keep the code that they have loaded until then.',
    params: {},
    result: { hooks: must('number', 'How many hooks are ready to run.'), ...HOOKS },
  },
  cancel: {
    does: 'Stops a request that is still in progress: its hooks end, and it is answered with ABORTED. May also be a notification.',
    params: { id: must('requestId', 'The id of the request.') },
    result: { cancelled: must('flag', 'Whether it was in progress.') },
  },
} as const satisfies Readonly<Record<string, MethodRow>>

/** What a host is asked and told. Only `approve` is a request. */
export const HOST_METHODS = {
  approve: {
    does: 'Ask a person. Answer with the option that they chose, or with { unanswered } to leave the question open.',
    params: {
      question: QUESTION,
      session: must('text', 'The session.'),
      call: may('text', 'The call, if the question is about one.'),
    },
  },
  cancel: {
    does: 'Nobody waits for the answer to an `approve` any more: close its dialog.',
    params: { id: must('requestId', 'The id of the `approve` request.') },
  },
  message: {
    does: 'A message for the user.',
    params: {
      text: must('string', 'The text.'),
      level: must('string', 'info, warning or error.'),
      source: must('string', 'The hook that says it.'),
    },
  },
  wake: {
    does: 'An async hook found something that cannot wait: begin a turn with the message.',
    params: {
      session: may('text', 'The session, unless it was closed.'),
      message: must('wakeMessage', 'The message for the model.'),
    },
  },
} as const satisfies Readonly<Record<string, MethodRow>>

/** What a host answers to `approve`. */
export const APPROVE_RESULT: Schema = {
  anyOf: [
    FIELD_TYPES.reply.schema,
    {
      type: 'object',
      required: ['unanswered'],
      properties: { unanswered: TEXT },
      additionalProperties: false,
    },
  ],
}

export type Method = keyof typeof METHODS
export type ParamsOf<M extends Method> = Values<(typeof METHODS)[M]['params']>

export function isMethod(name: string): name is Method {
  return Object.hasOwn(METHODS, name)
}

export function fieldType(of: Field['of']): FieldType | undefined {
  return typeof of === 'string' && Object.hasOwn(FIELD_TYPES, of)
    ? FIELD_TYPES[of as FieldTypeName]
    : undefined
}

export function fieldSchema({ of }: Field): Schema {
  const schema = fieldType(of)?.schema
  if (schema) return schema
  return typeof of === 'string'
    ? structure(of as StructureName)
    : { type: 'array', items: structure((of as readonly [StructureName])[0]) }
}
