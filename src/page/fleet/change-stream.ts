// Tells open tabs that something changed, as server-sent events. They carry nothing: a tab asks again, with its own cookie.

import type { ServerResponse } from 'node:http'
import { NotAnswered } from '../answers.js'
import { HEADERS } from '../response.js'

const MOST_STREAMS = 500
/** A browser opens six connections to a host at most. */
const MOST_OF_ONE = 6
const HEARTBEAT_MS = 15_000
/** Many changes at once are one event. */
const GATHER_MS = 50

export class ChangeStreams {
  readonly #open = new Map<ServerResponse, string>()
  #timer: NodeJS.Timeout | undefined

  /** `owner`: the same for all tabs of a session. `isWelcome`: asked now and then; false ends the stream. */
  serve(response: ServerResponse, owner: string, isWelcome: () => Promise<boolean>): void {
    const own = [...this.#open.values()].filter((one) => one === owner).length
    if (this.#open.size >= MOST_STREAMS || own >= MOST_OF_ONE)
      throw new NotAnswered(503, 'Too many tabs are open. Close some, then load this page again.')
    this.#open.set(response, owner)
    response.writeHead(200, { ...HEADERS, 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' })
    response.write('retry: 1000\n: here\n\n')
    const heartbeat = setInterval(() => {
      isWelcome().then(
        (is) => (is ? response.write(': here\n\n') : response.end()),
        () => response.end(),
      )
    }, HEARTBEAT_MS)
    response.once('close', () => {
      clearInterval(heartbeat)
      this.#open.delete(response)
    })
  }

  changed(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      for (const response of this.#open.keys()) {
        // A browser that does not read asks again when it comes back.
        if (response.writableNeedDrain) response.destroy()
        else response.write('event: changed\ndata: {}\n\n')
      }
    }, GATHER_MS)
  }

  end(): void {
    clearTimeout(this.#timer)
    for (const response of this.#open.keys()) response.end()
  }
}
