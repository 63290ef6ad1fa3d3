// A model on the loopback: answers POST /v1/messages as the script of a case says, and keeps what it was asked.

import { createServer } from 'node:http'

/**
 * One answer of the model: tool calls, text, or a refusal of the whole request.
 * @typedef {{ tools?: readonly { name: string, input: unknown }[], text?: string, status?: number }} Turn
 * @typedef {{ role: string, content: string | readonly Block[] }} Message
 * @typedef {{ type: string, text?: string, content?: unknown, is_error?: boolean, tool_use_id?: string }} Block
 * @typedef {{ model: string, stream?: boolean, tools?: readonly object[], messages: readonly Message[] }} Request
 * @typedef {'main' | 'subagent' | 'compact' | 'side'} Role
 */

/** What the prompt of a subagent must contain, to tell its requests from those of the main loop. */
export const SUBAGENT = 'SUBAGENT_TASK'
/** What the model says when it is asked for a summary. */
export const SUMMARY = 'SUMMARY_OF_THE_TALK'

export class MockModel {
  /** `at` is in milliseconds. @type {{ role: Role, body: Request, at: number }[]} */
  requests = []
  /** @type {Record<'main' | 'subagent', Turn[]>} */
  #script
  #server = createServer((request, response) => this.#answer(request, response))
  #made = 0

  /** @param {readonly Turn[]} turns @param {readonly Turn[]} subagent */
  constructor(turns, subagent = []) {
    this.#script = { main: [...turns], subagent: [...subagent] }
  }

  /** @returns {Promise<string>} its address */
  async start() {
    await new Promise((resolve) => this.#server.listen(0, '127.0.0.1', () => resolve(undefined)))
    const { port } = /** @type {import('node:net').AddressInfo} */ (this.#server.address())
    return `http://127.0.0.1:${port}`
  }

  async stop() {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  /** The requests of the main loop. */
  get main() {
    return this.requests.filter(({ role }) => role === 'main').map(({ body }) => body)
  }

  /** @param {import('node:http').IncomingMessage} request @param {import('node:http').ServerResponse} response */
  async #answer(request, response) {
    let text = ''
    for await (const chunk of request) text += chunk
    const [path] = (request.url ?? '').split('?')
    if (request.method !== 'POST' || path !== '/v1/messages')
      return send(response, 404, problem('not_found_error'))
    /** @type {Request} */
    const body = JSON.parse(text)
    const role = roleOf(body)
    this.requests.push({ role, body, at: performance.now() })
    const turn = this.#turn(role)
    if (turn.status) return send(response, turn.status, problem('invalid_request_error'))
    const message = this.#message(body.model, turn)
    if (!body.stream) return send(response, 200, message)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const event of eventsOf(message)) {
      response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    }
    response.end()
  }

  /** @param {Role} role @returns {Turn} */
  #turn(role) {
    if (role === 'compact') return { text: SUMMARY }
    if (role === 'side') return { text: 'ok' }
    return this.#script[role].shift() ?? { text: 'done' }
  }

  /** @param {string} model @param {Turn} turn */
  #message(model, { tools = [], text }) {
    this.#made++
    const content = [
      ...(text === undefined ? [] : [{ type: 'text', text }]),
      ...tools.map(({ name, input }, at) => ({
        type: 'tool_use',
        id: `toolu_${this.#made}_${at}`,
        name,
        input,
      })),
    ]
    return {
      id: `msg_${this.#made}`,
      type: 'message',
      role: 'assistant',
      model,
      content,
      stop_reason: tools.length > 0 ? 'tool_use' : 'end_turn',
      stop_sequence: null,
      usage: {
        input_tokens: 10,
        output_tokens: 5,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 0,
      },
    }
  }
}

/** @param {Request} body @returns {Role} */
function roleOf({ messages, tools = [] }) {
  const last = textOf(messages.at(-1))
  if (last.includes('create a detailed summary')) return 'compact'
  if (textOf(messages[0]).includes(SUBAGENT)) return 'subagent'
  return tools.length > 1 ? 'main' : 'side'
}

/** All the text of a message, also of the results of tools. @param {Message | undefined} message @returns {string} */
export function textOf(message) {
  if (message === undefined) return ''
  if (typeof message.content === 'string') return message.content
  return message.content.map(blockText).join('\n')
}

/** @param {Block} block @returns {string} */
export function blockText(block) {
  if (block.type === 'text') return block.text ?? ''
  if (block.type !== 'tool_result') return ''
  if (typeof block.content === 'string') return block.content
  return Array.isArray(block.content) ? block.content.map(blockText).join('\n') : ''
}

/** @param {import('node:http').ServerResponse} response @param {number} status @param {unknown} body */
function send(response, status, body) {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}

/** @param {string} type */
function problem(type) {
  return { type: 'error', error: { type, message: 'scripted refusal' } }
}

/** The message as a stream. @param {{ content: readonly { type: string, text?: string, input?: unknown }[], stop_reason: string, usage: object }} message */
function* eventsOf(message) {
  const { content, stop_reason, usage } = message
  yield { type: 'message_start', message: { ...message, content: [], stop_reason: null } }
  for (const [index, block] of content.entries()) {
    const isText = block.type === 'text'
    yield {
      type: 'content_block_start',
      index,
      content_block: isText ? { ...block, text: '' } : { ...block, input: {} },
    }
    const delta = isText
      ? { type: 'text_delta', text: block.text }
      : { type: 'input_json_delta', partial_json: JSON.stringify(block.input) }
    yield { type: 'content_block_delta', index, delta }
    yield { type: 'content_block_stop', index }
  }
  yield { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage }
  yield { type: 'message_stop' }
}
