// Asks the server of this page.

/** A problem that the page shows: what happened, in a sentence. */
export class Problem extends Error {}

export function ask<T>(path: string, query: Readonly<Record<string, string | number>> = {}): Promise<T> {
  const given = Object.entries(query).filter(([, value]) => value !== '')
  const text = new URLSearchParams(given.map(([key, value]) => [key, String(value)])).toString()
  return answered(fetch(text === '' ? path : `${path}?${text}`))
}

export function tell<T>(path: string, body: unknown = {}): Promise<T> {
  const headers = { 'content-type': 'application/json' }
  return answered(fetch(path, { method: 'POST', headers, body: JSON.stringify(body) }))
}

async function answered<T>(request: Promise<Response>): Promise<T> {
  const response = await request.catch(() => {
    throw new Problem('The page has ended. Type carabiner open in a terminal to start it again.')
  })
  const isJson = response.headers.get('content-type') === 'application/json'
  const answer = isJson ? await response.json() : { problem: await response.text() }
  if (!response.ok) throw new Problem(answer.problem)
  return answer
}
