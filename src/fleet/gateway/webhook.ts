// Tells a chat, or whatever is behind the address, that a machine asks something. It links to the page; nobody approves in a chat.

import { createHmac } from 'node:crypto'
import { textOf } from '../../core/base/errors.js'
import { readPending } from '../../store/approvals/stored-question.js'
import {
  claimTelling,
  endTelling,
  type QuestionRow,
  questionOf,
  untoldQuestions,
} from '../database/approvals.js'
import type { Database } from '../database/connection.js'

export interface WebhookOptions {
  readonly url: string
  /** Signs each message: HMAC-SHA256 of the body, in the header x-carabiner-signature. */
  readonly secret: string
  /** The address of the page, as people see it. */
  readonly page: string
  readonly onTrouble: (text: string) => void
}

const TIMEOUT_MS = 10_000
/** If this gateway ends before it has told a question, another one may tell it after that. */
const CLAIM_MS = 30_000
/** Between looks without a reason: a notification may be missed. */
const LOOK_EVERY_MS = 30_000
const FIRST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 300_000
/** Messages on their way. */
const AT_ONCE = 4
/** Of one look. */
const MOST_TOLD = 100

/**
 * Tells the webhook of every open question until it answers with a status of 2xx. The database knows what was told, so nothing
 * is lost when a gateway ends, and of several gateways one tells each question.
 */
export class Webhook {
  readonly #database: Database
  readonly #options: WebhookOptions
  readonly #over = new AbortController()
  #running: Promise<void> | undefined
  #isWanted = false
  #timer: NodeJS.Timeout | undefined

  constructor(database: Database, options: WebhookOptions) {
    this.#database = database
    this.#options = options
  }

  /** Looks for questions to tell now. Call it when there may be a new one. */
  look(): void {
    if (this.#over.signal.aborted) return
    this.#isWanted = true
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined
      if (this.#isWanted) this.look()
    })
  }

  /** Lets go of messages that are on their way. Another gateway sends them. */
  async end(): Promise<void> {
    this.#over.abort()
    clearTimeout(this.#timer)
    await this.#running
  }

  async #run(): Promise<void> {
    clearTimeout(this.#timer)
    let inMs = LOOK_EVERY_MS
    while (this.#isWanted && !this.#over.signal.aborted) {
      this.#isWanted = false
      try {
        inMs = await this.#tellAll()
      } catch (error) {
        this.#options.onTrouble(`the webhook is told nothing now: ${textOf(error)}`)
      }
    }
    if (!this.#over.signal.aborted) this.#timer = setTimeout(() => this.look(), inMs)
  }

  /** Returns when to look again, in milliseconds. */
  async #tellAll(): Promise<number> {
    const due = (await untoldQuestions(this.#database, MOST_TOLD)).filter(({ inMs }) => inMs === 0)
    const lane = async (): Promise<void> => {
      for (let next = due.shift(); next && !this.#over.signal.aborted; next = due.shift())
        await this.#tell(next.id)
    }
    const lanes = await Promise.allSettled(Array.from({ length: AT_ONCE }, lane))
    for (const one of lanes) if (one.status === 'rejected') throw one.reason
    const [next] = await untoldQuestions(this.#database, 1)
    return Math.min(next?.inMs ?? LOOK_EVERY_MS, LOOK_EVERY_MS)
  }

  async #tell(id: string): Promise<void> {
    const tries = await claimTelling(this.#database, id, CLAIM_MS)
    if (tries === undefined) return
    try {
      await this.#send(id)
    } catch (error) {
      const isOver = this.#over.signal.aborted
      const pause = isOver ? 0 : Math.min(FIRST_PAUSE_MS * 2 ** (tries - 1), LONGEST_PAUSE_MS)
      await endTelling(this.#database, id, pause)
      if (!isOver)
        this.#options.onTrouble(
          `the webhook was not told of ${id}: ${failureText(error)}; it is tried again in ${pause / 1000} s`,
        )
      return
    }
    await endTelling(this.#database, id)
  }

  async #send(id: string): Promise<void> {
    const { url, secret } = this.#options
    const row = await questionOf(this.#database, id)
    if (!row) return
    const body = messageOf(row, this.#options.page)
    const response = await fetch(url, {
      method: 'POST',
      redirect: 'error',
      signal: AbortSignal.any([this.#over.signal, AbortSignal.timeout(TIMEOUT_MS)]),
      headers: {
        'content-type': 'application/json',
        'x-carabiner-signature': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
      },
      body,
    })
    await response.body?.cancel()
    if (!response.ok) throw new Error(`it answers with status ${response.status}`)
  }
}

/** `fetch` itself says only that it failed. */
function failureText(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined
  if (!(cause instanceof Error)) return textOf(error)
  const { code } = cause as NodeJS.ErrnoException
  return `${textOf(error)} (${code ?? textOf(cause)})`
}

function messageOf({ id, name, body }: QuestionRow, page: string): string {
  const { question, expires } = readPending(JSON.parse(body), 'the question')
  const hooks = question.asks.map(({ hook }) => hook).join(', ')
  const tool = typeof question.call.tool_name === 'string' ? question.call.tool_name : question.event
  const link = `${page}/#/approvals/${id}`
  // Not the call itself: it may hold secrets, and a chat keeps everything.
  const text = `${plainName(name)} asks about ${plainName(tool)} (${plainName(hooks)}): ${link}`
  return JSON.stringify({ text, id, machine: name, link, expires })
}

const LONGEST_NAME = 100

/** Agents choose such names. In a chat, none of them may become a link, a mention or a style of its own. */
function plainName(name: string): string {
  const plain = name.replace(/[^\p{L}\p{N}_:#, -]+/gu, '·')
  return plain.length > LONGEST_NAME ? `${plain.slice(0, LONGEST_NAME)}…` : plain
}
