// The MCP servers in an agent's file: put behind `carabiner mcp`, and taken out again, entry by entry.

import { isObject } from '../core/base/json.js'
import { JsonText, under } from '../files/json-text.js'
import type { Program } from './entries.js'
import { type Edit, edited, layoutOf, rewritten } from './forms/json-edit.js'
import { SetupProblem } from './setup-problem.js'

/** One entry: a program, or an address. */
interface Entry {
  readonly command?: string
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly url?: string
  readonly type?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly [key: string]: unknown
}

export interface McpChange {
  readonly after: string
  /** The names of the servers that were changed. */
  readonly changed: readonly string[]
  /** Those that were left alone, and why. */
  readonly left: readonly { readonly name: string; readonly why: string }[]
}

export interface McpFile {
  readonly path: string
  readonly text: string
  /** The key of the object that holds the servers. */
  readonly key: string
  readonly stdioType?: string | undefined
}

/** Throws a SetupProblem if the file cannot be read. */
export function guarded(file: McpFile, program: Program): McpChange {
  return changedBy(file, (name, entry) => {
    if (isGuarded(entry)) return undefined
    const words = ['mcp', '--name', normalizedName(name)]
    if (typeof entry.command === 'string') {
      const { command, args = [], ...rest } = entry
      if (!Array.isArray(args)) return { why: 'its args are not a list' }
      return { entry: started(rest, program, [...words, '--', command, ...args]) }
    }
    if (typeof entry.url !== 'string') return { why: 'it has neither a command nor a url' }
    if (entry.type === 'sse' || /\/sse\/?$/.test(entry.url))
      return { why: 'it speaks SSE, not streamable HTTP' }
    const { url, headers = {}, type: _, env = {}, ...rest } = entry
    if (Object.keys(headers).length === 0 && !/^https?:\/\/(?:localhost|127\.|\[::1\])/.test(url))
      return { why: 'it may log in through a browser, which only the agent can do' }
    // A command line is visible to every process, so the values are in the environment.
    const values = Object.entries(headers)
    const given = values.flatMap(([header], i) => ['--header', `${header}: \${${variable(i)}}`])
    const all = { ...env, ...Object.fromEntries(values.map(([, value], i) => [variable(i), value])) }
    const typed = file.stdioType === undefined ? rest : { type: file.stdioType, ...rest }
    const fresh = started(typed, program, [...words, '--url', url, ...given])
    return { entry: Object.keys(all).length === 0 ? fresh : { ...fresh, env: all } }
  })
}

/** The opposite. */
export function unguarded(file: McpFile): McpChange {
  return changedBy(file, (_, entry) => {
    const words = ownWords(entry)
    if (!words) return undefined
    const { command: __, args: ___, ...rest } = entry
    const at = words.indexOf('--')
    if (at >= 0) {
      const [command = '', ...args] = words.slice(at + 1)
      return { entry: { ...rest, command, ...(args.length > 0 && { args }) } }
    }
    const url = words[words.indexOf('--url') + 1]
    if (url === undefined) return { why: 'nobody can say which server it was' }
    const env = Object.entries(entry.env ?? {}).filter(([name]) => !isVariable(name))
    const headers = words.flatMap((word, i) => {
      const [, header, name] = (words[i - 1] === '--header' && /^([\w-]+): \$\{(\w+)\}$/.exec(word)) || []
      return header === undefined || name === undefined ? [] : [[header, entry.env?.[name] ?? '']]
    })
    const { env: ____, type: _____, ...kept } = rest
    return {
      entry: {
        ...(file.stdioType !== undefined && { type: 'http' }),
        ...kept,
        url,
        ...(headers.length > 0 && { headers: Object.fromEntries(headers) }),
        ...(env.length > 0 && { env: Object.fromEntries(env) }),
      },
    }
  })
}

/** The servers in the file that are behind the proxy. Empty if it cannot be read. */
export function guardedIn(file: McpFile): readonly string[] {
  try {
    return Object.entries(serversIn(file).servers).flatMap(([name, entry]) =>
      isObject(entry) && isGuarded(entry as Entry) ? [name] : [],
    )
  } catch (error) {
    if (error instanceof SetupProblem) return []
    throw error
  }
}

// ---- entries --------------------------------------------------------------------------------------------------

function started(rest: object, { node, script }: Program, words: readonly string[]): Entry {
  return { ...rest, command: node, args: [script, ...words] }
}

function isGuarded(entry: Entry): boolean {
  return ownWords(entry) !== undefined
}

/** What follows `carabiner mcp`, however it is started. */
function ownWords({ command, args }: Entry): readonly string[] | undefined {
  if (typeof command !== 'string' || !Array.isArray(args)) return undefined
  const words = [command, ...args.map(String)]
  const end = words.indexOf('--')
  const at = words.findIndex(
    (word, i) => word === 'mcp' && /(?:^|[\\/])carabiner(?:\.js|\.cmd)?$/.test(words[i - 1] ?? ''),
  )
  return at > 0 && (end < 0 || at < end) ? words.slice(at + 1) : undefined
}

function variable(i: number): string {
  return `CARABINER_HEADER_${i + 1}`
}

function isVariable(name: string): boolean {
  return /^CARABINER_HEADER_\d+$/.test(name)
}

function normalizedName(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/g, '_') || 'server'
}

// ---- the text -------------------------------------------------------------------------------------------------

type Changed = { readonly entry: Entry } | { readonly why: string } | undefined

function changedBy(file: McpFile, change: (name: string, entry: Entry) => Changed): McpChange {
  const { json, servers } = serversIn(file)
  const edits: Edit[] = []
  const changed: string[] = []
  const left: { readonly name: string; readonly why: string }[] = []
  const root = json.spotOf(null)
  for (const [name, entry] of Object.entries(servers)) {
    const spot = json.spotOf(under(under(null, file.key), name))
    if (!spot || !root) continue
    const made = isObject(entry) ? change(name, entry as Entry) : { why: 'it is not an object' }
    if (!made) continue
    if ('why' in made) left.push({ name, why: made.why })
    else {
      edits.push(rewritten(json.text, spot, made.entry, layoutOf(json.text, root)))
      changed.push(name)
    }
  }
  const mark = file.text.startsWith('\uFEFF') ? '\uFEFF' : ''
  return { after: mark + edited(json.text, edits), changed, left }
}

function serversIn({ path, text, key }: McpFile): {
  readonly json: JsonText
  readonly servers: Readonly<Record<string, unknown>>
} {
  const json = new JsonText(text)
  const parsed = json.parse()
  if (!('value' in parsed))
    throw new SetupProblem(`${path}:${parsed.line} is not JSON: ${parsed.problem}`, 'It was not changed.')
  const servers = isObject(parsed.value) ? parsed.value[key] : undefined
  if (servers !== undefined && !isObject(servers))
    throw new SetupProblem(`${path}: "${key}" is not an object`, 'It was not changed.')
  return { json, servers: servers ?? {} }
}
