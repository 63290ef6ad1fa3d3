// What the page says when the server is lost while it answers.

import { afterEach, describe, expect, it, vi } from 'vitest'
import { ask, askInParts, ENDED, Unreached } from '../../src/page/browser/ask.js'

describe('an answer whose rest never comes', () => {
  afterEach(() => void vi.unstubAllGlobals())

  it.each([
    ['application/json', 200],
    ['text/plain', 502],
  ])('is the same as none: %s', async (type, status) => {
    const body = () => {
      const parts = [new TextEncoder().encode('{"machines":')]
      return new ReadableStream({
        pull(stream) {
          const part = parts.shift()
          if (part) stream.enqueue(part)
          else stream.error(new DOMException('The operation timed out.', 'TimeoutError'))
        },
      })
    }
    vi.stubGlobal('fetch', async () => new Response(body(), { status, headers: { 'content-type': type } }))
    const lost = new Unreached(ENDED)
    await expect(ask('api/machines')).rejects.toStrictEqual(lost)
    await expect(askInParts('api/audit', AbortSignal.timeout(60_000)).next()).rejects.toStrictEqual(lost)
  })
})
