// Tells a chat, or whatever is behind the address, that a machine asks something. It links to the page; nobody approves in a chat.

import { createHmac } from 'node:crypto'
import { textOf } from '../../core/base/errors.js'
import { readPending } from '../../store/approvals/stored-question.js'
import { mayTell, questionOf } from '../database/approvals.js'
import type { Database } from '../database/connection.js'

export interface WebhookOptions {
  readonly url: string
  /** Signs each message: HMAC-SHA256 of the body, in the header x-carabiner-signature. */
  readonly secret: string
  /** The address of the gateway, as people see it. */
  readonly page: string
  readonly onTrouble: (text: string) => void
}

const TIMEOUT_MS = 10_000

/** Returns what to call with the id of each new question. Of several gateways, one tells it, and tries once. */
export function webhook(database: Database, options: WebhookOptions): (id: string) => void {
  return (id) => {
    void told(database, id, options).catch((error: unknown) =>
      options.onTrouble(`the webhook was not told of ${id}: ${textOf(error)}`),
    )
  }
}

async function told(database: Database, id: string, { url, secret, page }: WebhookOptions): Promise<void> {
  const row = await questionOf(database, id)
  if (!row || !(await mayTell(database, id))) return
  const { question, expires } = readPending(JSON.parse(row.body), 'the question')
  const hooks = question.asks.map(({ hook }) => hook).join(', ')
  const tool = typeof question.call.tool_name === 'string' ? question.call.tool_name : question.event
  const link = `${page}/#/approvals/${id}`
  // Not the call itself: it may hold secrets, and a chat keeps everything.
  const text = `${plainName(row.name)} asks about ${plainName(tool)} (${plainName(hooks)}): ${link}`
  const body = JSON.stringify({ text, id, machine: row.name, link, expires })
  const response = await fetch(url, {
    method: 'POST',
    redirect: 'error',
    signal: AbortSignal.timeout(TIMEOUT_MS),
    headers: {
      'content-type': 'application/json',
      'x-carabiner-signature': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
    },
    body,
  })
  if (!response.ok) throw new Error(`it answers with status ${response.status}`)
}

const LONGEST_NAME = 100

/** Agents choose such names. In a chat, none of them may become a link, a mention or a style of its own. */
function plainName(name: string): string {
  const plain = name.replace(/[^\p{L}\p{N}_:#, -]+/gu, '·')
  return plain.length > LONGEST_NAME ? `${plain.slice(0, LONGEST_NAME)}…` : plain
}
