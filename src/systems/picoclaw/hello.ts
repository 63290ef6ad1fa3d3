// The handshake: what a process is told when it starts, and whether it agreed.

import { HookError } from '../../core/base/errors.js'
import { isObject, type Json } from '../../core/base/json.js'
import { plainText, shown } from '../../core/base/text.js'
import type { Mode } from './methods.js'

export const HELLO_METHOD = 'hook.hello'
export const PROTOCOL_VERSION = 1

export function helloParams(name: string, modes: readonly Mode[]): Json {
  return { name, version: PROTOCOL_VERSION, modes }
}

/** Its name is its own affair; `ok` may be absent, as other hosts do not look at it. */
export function checkHello(result: Json): void {
  if (!isObject(result)) {
    throw refused(`its answer to ${HELLO_METHOD} must be an object, got ${plainText(shown(result))}`)
  }
  if (!Object.hasOwn(result, 'ok') || result.ok === true) return
  const why = ['reason', 'error', 'message']
    .map((key) => result[key])
    .find((text) => typeof text === 'string')
  const said = why === undefined ? '' : ` (${plainText(shown(why))})`
  throw refused(`it refused the handshake: "ok" must be true, got ${plainText(shown(result.ok))}${said}`)
}

function refused(text: string): HookError {
  return new HookError('HOOK_NOT_STARTED', text, {
    hint: `Answer ${HELLO_METHOD} with {"ok":true,"name":"…"}; protocol version ${PROTOCOL_VERSION} is spoken here.`,
  })
}
