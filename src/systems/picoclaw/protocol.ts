// PicoClaw's protocol: its methods, the events and the mode that each belongs to, and the handshake.

import { HookError } from '../../core/base/errors.js'
import { isObject, type Json } from '../../core/base/json.js'
import { plainText, shown } from '../../core/base/text.js'
import { closingAmong, entriesOf } from '../closing.js'

export type Intercept = 'before_llm' | 'after_llm' | 'before_tool' | 'after_tool' | 'approve_tool'
type Mode = 'observe' | 'llm' | 'tool' | 'approve'

export interface InterceptRow {
  readonly method: string
  readonly mode: Exclude<Mode, 'observe'>
  readonly role: 'intercept' | 'approve'
  /** Canonical names. */
  readonly events: readonly string[]
}

export const INTERCEPTS: Readonly<Record<Intercept, InterceptRow>> = {
  before_llm: { method: 'hook.before_llm', mode: 'llm', role: 'intercept', events: ['ModelRequest'] },
  after_llm: { method: 'hook.after_llm', mode: 'llm', role: 'intercept', events: ['ModelResponse'] },
  before_tool: { method: 'hook.before_tool', mode: 'tool', role: 'intercept', events: ['PreToolUse'] },
  after_tool: {
    method: 'hook.after_tool',
    mode: 'tool',
    role: 'intercept',
    events: ['PostToolUse', 'PostToolUseFailure'],
  },
  approve_tool: { method: 'hook.approve_tool', mode: 'approve', role: 'approve', events: ['PreToolUse'] },
}

/** Notifies an observer. */
export const EVENT_METHOD = 'hook.event'

const MODES: readonly Mode[] = ['observe', 'llm', 'tool', 'approve']

/** The modes for hello, in the protocol's order. */
export function modesOf(intercept: readonly Intercept[], observes: boolean): readonly Mode[] {
  const used = new Set<Mode>(intercept.map((one) => INTERCEPTS[one].mode))
  return MODES.filter((mode) => (mode === 'observe' ? observes : used.has(mode)))
}

// ---- the handshake --------------------------------------------------------------------------------------------

export const HELLO_METHOD = 'hook.hello'
const PROTOCOL_VERSION = 1

export function helloParams(name: string, modes: readonly Mode[]): Json {
  return { name, version: PROTOCOL_VERSION, modes }
}

/** Throws if the process refused. `ok` may be missing, because PicoClaw itself does not check it. */
export function checkHello(result: Json): void {
  if (!isObject(result)) {
    throw refused(`its answer to ${HELLO_METHOD} must be an object, got ${plainText(shown(result))}`)
  }
  const closing = closingAmong(entriesOf(result))
  if (closing && result.ok !== false) throw refused(`it refused the handshake: ${plainText(closing.said)}`)
  if (!Object.hasOwn(result, 'ok') || result.ok === true) return
  const why = ['reason', 'error', 'message']
    .map((key) => result[key])
    .find((text) => typeof text === 'string')
  const said = why === undefined ? '' : ` (${plainText(shown(why))})`
  throw refused(`it refused the handshake: "ok" must be true, got ${plainText(shown(result.ok))}${said}`)
}

function refused(text: string): HookError {
  return new HookError('HOOK_NOT_STARTED', text, {
    hint: `Answer ${HELLO_METHOD} with {"ok":true,"name":"…"}; the protocol version is ${PROTOCOL_VERSION}.`,
  })
}
