// The servers of a file behind `carabiner mcp`: puts all of them behind it, takes them out again, and finds them.

import { isObject } from '../../core/base/json.js'
import { SetupProblem } from '../setup-problem.js'
import { type Changed, type ProxySetting, proxied, unproxied } from './proxied-entry.js'
import { type Entry, type ProxyPlace, proxyCall } from './proxy-call.js'
import { type McpFile, serversIn, withServers } from './server-file.js'

export interface McpChange {
  readonly after: string
  /** The names of the servers that were changed. */
  readonly changed: readonly string[]
  /** Those that were left alone, and why. */
  readonly left: readonly { readonly name: string; readonly why: string }[]
  /** Those that are already as they should be. */
  readonly already: readonly string[]
}

/** Puts the servers behind the proxy. Throws a SetupProblem if the file cannot be read. */
export function behindProxy(file: McpFile, setting: ProxySetting): McpChange {
  return changedBy(file, (name, entry) => {
    const made = proxied({ name, entry, file, setting })
    if (!made || 'why' in made) return made
    // The text must lead back, too.
    const text = withServers(file, new Map([[name, made.entry]])) ?? file.text
    const back = withServers({ ...file, text }, new Map([[name, entry]]))
    return back === undefined ? { why: FORM } : made
  })
}

/** Takes the servers out again. */
export function takenOut(file: McpFile, place: ProxyPlace): McpChange {
  return changedBy(file, (_, entry) => unproxied(entry, file, place))
}

/** The servers in the file that are behind the proxy. Empty if it cannot be read. */
export function proxiedIn(file: McpFile, place: ProxyPlace): readonly string[] {
  try {
    return serversIn(file).flatMap(({ name, entry }) =>
      isObject(entry) && proxyCall(entry, place) ? [name] : [],
    )
  } catch (error) {
    if (error instanceof SetupProblem) return []
    throw error
  }
}

function changedBy(file: McpFile, change: (name: string, entry: Entry) => Changed): McpChange {
  const fresh = new Map<string, Entry>()
  const left: { readonly name: string; readonly why: string }[] = []
  const already: string[] = []
  for (const { name, entry } of serversIn(file)) {
    const made = isObject(entry) ? change(name, entry) : { why: 'it is not an object' }
    if (!made) already.push(name)
    else if ('why' in made) left.push({ name, why: made.why })
    else if (withServers(file, new Map([[name, made.entry]])) === undefined) left.push({ name, why: FORM })
    else fresh.set(name, made.entry)
  }
  const after = withServers(file, fresh)
  if (after !== undefined) return { after, changed: [...fresh.keys()], left, already }
  throw new SetupProblem(`${file.path} cannot be changed in place`, 'It was not changed.')
}

const FORM = 'it is written in a form that setup cannot change without touching more'
