// Asks the server of this page.

/** A problem that the page shows: what happened, in a sentence. */
export class Problem extends Error {}

/** Nobody answered. */
export class Unreached extends Problem {}

export const ENDED = 'The page has ended. Type carabiner open in a terminal to start it again.'

let ended: string | undefined
let lost = ENDED
let signedOut = () => {}

/** From now on nothing is sent: another program may have the port. */
export function endAsking(why: string): void {
  ended ??= why
}

/** For a page that people sign in to: what to say when the server does not answer, and what to do when they are out. */
export function askSignedIn(options: { readonly lost: string; readonly onSignedOut: () => void }): void {
  lost = options.lost
  signedOut = options.onSignedOut
}

function sent(path: string, init?: RequestInit): Promise<Response> {
  return ended === undefined ? reached(fetch(path, init)) : Promise.reject(new Problem(ended))
}

/** Aborting it is the same as no answer. */
export function ask<T>(
  path: string,
  query: Readonly<Record<string, string | number>> = {},
  signal?: AbortSignal,
): Promise<T> {
  const given = Object.entries(query).filter(([, value]) => value !== '')
  const text = new URLSearchParams(given.map(([key, value]) => [key, String(value)])).toString()
  return answered(sent(text === '' ? path : `${path}?${text}`, signal && { signal }))
}

export function tell<T>(path: string, body: unknown = {}): Promise<T> {
  const headers = { 'content-type': 'application/json' }
  return answered(sent(path, { method: 'POST', headers, body: JSON.stringify(body) }))
}

/** Parts of an answer as they come. Aborting it ends the work of the server. */
export async function* askInParts<T>(path: string, signal: AbortSignal): AsyncGenerator<T> {
  const response = await sent(path, { signal })
  if (!response.ok || !response.body) throw new Problem(await reached(response.text()))
  const reader = response.body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  for (;;) {
    const { value, done } = await reached(reader.read())
    if (done) return
    const lines = (text + decoder.decode(value, { stream: true })).split('\n')
    text = lines.pop() ?? ''
    for (const line of lines) yield JSON.parse(line)
  }
}

function reached<T>(work: Promise<T>): Promise<T> {
  return work.catch(() => {
    throw new Unreached(lost)
  })
}

async function answered<T>(request: Promise<Response>): Promise<T> {
  const response = await request
  const isJson = response.headers.get('content-type') === 'application/json'
  // Its end may be lost after its beginning was there.
  const answer = await reached(isJson ? response.json() : response.text().then((problem) => ({ problem })))
  if (response.status === 401) signedOut()
  if (!response.ok) throw new Problem(answer.problem)
  return answer
}
