// The gateway as it is typed: its address, and the certificate of an authority of one's own.

import { X509Certificate } from 'node:crypto'
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

/** What `--ca` names. It is kept with the membership, so it must be nothing but certificates. */
export function certificates(file: string): string {
  const content = contentOf(file)
  const blocks = [...content.matchAll(BLOCK)]
  const hint = `${file} must be the certificate of your authority in PEM form, without a private key.`
  if (blocks.length === 0) throw usage('--ca has no certificate', hint)
  try {
    for (const [block, kind = ''] of blocks) {
      if (kind !== 'CERTIFICATE') throw new Error(`it has a ${kind}`)
      new X509Certificate(block)
    }
  } catch (error) {
    throw usage(`--ca cannot be used: ${textOf(error)}`, hint)
  }
  return `${blocks.map(([block]) => block).join('\n')}\n`
}

const BLOCK = /-----BEGIN ([^-\n]+)-----[^-]*-----END \1-----/g

function contentOf(file: string): string {
  try {
    return readFileSync(callerPath(file), 'utf8')
  } catch (error) {
    throw usage(`--ca cannot be read: ${textOf(error)}`)
  }
}
