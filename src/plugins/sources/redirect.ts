// Follows redirects of archives and repositories: never to an insecure protocol, nor from outside into this network.

import { textOf } from '../../core/base/errors.js'
import { visibleName } from '../../core/base/text.js'
import { PluginProblem } from '../plugin-problem.js'
import type { Ended } from './external-program.js'
import { insideByAddress } from './foreign-source.js'

const ASK_MS = 60_000
/** The first thing git asks for. The path stays the same when the repository has moved. */
const REFS = '/info/refs?service=git-upload-pack'

/**
 * Runs git with the address, and again with each redirect: git itself is told not to follow redirects, and does not say
 * where they lead. Also returns the last address.
 */
export async function followed(
  url: string,
  run: (address: string) => Promise<Ended>,
): Promise<{ readonly ended: Ended; readonly address: string }> {
  let address = url
  for (let n = 0; n <= MOST_REDIRECTS; n++) {
    const ended = await run(address)
    if (ended.code === 0 || !isLedOn(ended)) return { ended, address }
    address = await nextOf(address, url)
  }
  throw leadsOn(url)
}

function isLedOn({ stderr }: Ended): boolean {
  return /returned error: 30[12378]\b/.test(stderr)
}

async function nextOf(address: string, asked: string): Promise<string> {
  const url = new URL(`${address.replace(/\/+$/, '')}${REFS}`)
  const next = await redirectIn(await answerOf(url, asked), url, asked)
  if (!next) throw elsewhere(asked, 'asked again, it did not redirect')
  if (isRefs(next)) return next.href.slice(0, -REFS.length)
  throw leadsTo(asked, `${visibleName(next.href)}, which is not a git repository`)
}

function isRefs({ href, search }: URL): boolean {
  return href.endsWith(REFS) && search !== '' && REFS.endsWith(search)
}

async function answerOf(url: URL, asked: string): Promise<Response> {
  try {
    const signal = AbortSignal.timeout(ASK_MS)
    const response = await fetch(url, { redirect: 'manual', signal, credentials: 'omit' })
    await response.body?.cancel()
    return response
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
    throw elsewhere(asked, textOf(cause))
  }
}

function elsewhere(asked: string, why: string): PluginProblem {
  return new PluginProblem(
    'FETCH_FAILED',
    `${visibleName(asked)} redirects, but not to an address that can be told: ${why}`,
    'Use its current address instead.',
  )
}

// ---- one redirect ---------------------------------------------------------------------------------------------

export const MOST_REDIRECTS = 5

/** The next address. Undefined if the response is not a redirect. `asked` is the user's address, for messages. */
export async function redirectIn(
  { status, headers }: Response,
  url: URL,
  asked: string,
): Promise<URL | undefined> {
  const location = headers.get('location')
  if (status < 300 || status >= 400 || location === null) return undefined
  if (!URL.canParse(location, url.href))
    throw leadsTo(asked, `${visibleName(location)}, which is not a valid address`)
  const next = new URL(location, url)
  if (next.protocol !== url.protocol) {
    throw leadsTo(asked, `${visibleName(next.origin)}, which is not ${url.protocol.slice(0, -1)}`)
  }
  const inside = next.host === url.host ? undefined : await insideByAddress(next)
  if (inside !== undefined && (await insideByAddress(url)) === undefined) {
    throw leadsTo(asked, `${visibleName(next.host)}, ${inside}`)
  }
  return next
}

function leadsTo(asked: string, where: string): PluginProblem {
  return new PluginProblem('FETCH_FAILED', `${visibleName(asked)} redirects to ${where}`)
}

export function leadsOn(asked: string): PluginProblem {
  return new PluginProblem('FETCH_FAILED', `${visibleName(asked)} redirects too many times`)
}
