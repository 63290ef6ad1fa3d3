// fetch for model providers: no redirect is followed, and an answer is read up to a limit.

import { HookError } from '../../core/base/errors.js'

/** Bytes, after decompression. A verdict takes a line, and a tool call not much more. */
export const BODY_LIMIT = 1024 * 1024

/** A redirect would take the key and the payload to wherever a server says. */
export const boundedFetch: typeof fetch = async (input, init) => {
  const response = await fetch(input, { ...init, redirect: 'manual' })
  const { status, statusText, headers, body } = response
  if (body === null) return response
  return new Response(limited(body), { status, statusText, headers })
}

/** An error in the stream cancels what it comes from, and that closes the connection. */
function limited(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  let left = BODY_LIMIT
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        left -= chunk.length
        if (left >= 0) controller.enqueue(chunk)
        else controller.error(tooLong())
      },
    }),
  )
}

function tooLong(): HookError {
  return new HookError('HOOK_OUTPUT', `the model answered more than ${BODY_LIMIT} bytes`, {
    hint: 'Use a model that keeps to the verdict that it is asked for.',
  })
}
