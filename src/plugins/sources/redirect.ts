// Where a server leads to: never to where nobody is who they say they are, nor into this network from outside of it.

import { visibleName } from '../../core/base/visible.js'
import { PluginProblem } from '../plugin-problem.js'
import { insideByAddress } from './inside-address.js'

export const MOST_REDIRECTS = 5

/** The next address; undefined where the answer leads nowhere. `asked`: what somebody named, for messages. */
export async function redirectIn(
  { status, headers }: Response,
  url: URL,
  asked: string,
): Promise<URL | undefined> {
  const location = headers.get('location')
  if (status < 300 || status >= 400 || location === null) return undefined
  if (!URL.canParse(location, url.href)) throw leadsTo(asked, `${visibleName(location)}, which is no address`)
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

export function leadsTo(asked: string, where: string): PluginProblem {
  return new PluginProblem('FETCH_FAILED', `${visibleName(asked)} leads to ${where}`)
}

export function leadsOn(asked: string): PluginProblem {
  return new PluginProblem('FETCH_FAILED', `${visibleName(asked)} leads on and on`)
}
