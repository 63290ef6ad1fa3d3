// The gateway as it is typed: its address, and the certificate of an authority of one's own.

import { readFileSync } from 'node:fs'
import { textOf } from '../../core/base/errors.js'
import { callerPath } from '../../files/caller.js'
import { isLoopback } from '../../fleet/protocol.js'
import { usage } from '../refusal.js'

export function gatewayUrl(address: string): string {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname)))
    return url.href.replace(/\/$/, '')
  throw usage(
    `${JSON.stringify(address)} is not the address of a gateway`,
    'It begins with https://; only on this machine itself http:// will do.',
  )
}

/** What `--ca` names. */
export function certificates(file: string): string {
  try {
    return readFileSync(callerPath(file), 'utf8')
  } catch (error) {
    throw usage(`--ca cannot be read: ${textOf(error)}`)
  }
}
