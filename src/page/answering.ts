// From a request that may be answered to the bytes of its answer: reads the body, and sends JSON, a file or a problem.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { textOf } from '../core/base/errors.js'
import { readyForFleet } from '../files/fleet-files.js'
import { type Answers, type Asked, Download, NotAnswered, Parts } from './answers.js'
import { sendFile, sendJson, sendParts } from './response.js'

const MOST_BODY = 64 * 1024

/** `key` is such as `GET api/rows`. Throws NotAnswered if there is no such answer. */
export async function answerWith(
  answers: Answers,
  key: string,
  response: ServerResponse,
  asked: Omit<Asked, 'signal'>,
): Promise<void> {
  const answer = Object.hasOwn(answers, key) ? answers[key] : undefined
  if (!answer) throw new NotAnswered(404, 'There is nothing here')
  await readyForFleet()
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  const given = await answer({ ...asked, signal: gone.signal })
  if (given instanceof Download) await sendFile(response, given)
  else if (given instanceof Parts) await sendParts(response, given)
  else sendJson(response, given)
}

/** Throws NotAnswered for a body that is too large, or not JSON. */
export async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = []
  let size = 0
  for await (const part of request as AsyncIterable<Buffer>) {
    size += part.length
    if (size > MOST_BODY) throw new NotAnswered(413, `A request may have ${MOST_BODY} bytes`)
    parts.push(part)
  }
  try {
    return JSON.parse(Buffer.concat(parts).toString('utf8'))
  } catch {
    throw new NotAnswered(400, 'The body is not JSON')
  }
}

/** `onProblem` is told what is no fault of the person who asked. */
export function sendProblem(
  response: ServerResponse,
  error: unknown,
  onProblem: (text: string) => void,
): void {
  if (response.headersSent) {
    response.destroy()
    return
  }
  response.setHeader('connection', 'close')
  if (error instanceof NotAnswered) {
    sendJson(response, { problem: error.message }, error.status)
    return
  }
  onProblem(textOf(error))
  sendJson(response, { problem: textOf(error) }, 500)
}
