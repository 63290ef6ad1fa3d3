// The MCP servers in an agent's file: put behind `carabiner mcp`, and taken out again, entry by entry.

import { isObject } from '../core/base/json.js'
import type { Program } from './entries.js'
import type { McpClient } from './mcp-clients.js'
import { type Header, remoteEntry, remoteOf } from './mcp-remote.js'
import { type FileSyntax, type McpFile, serversIn, syntaxOf, withServers } from './mcp-servers.js'
import { SetupProblem } from './setup-problem.js'

/** One entry: a program, or an address. */
type Entry = Readonly<Record<string, unknown>>

export interface McpChange {
  readonly after: string
  /** The names of the servers that were changed. */
  readonly changed: readonly string[]
  /** Those that were left alone, and why. */
  readonly left: readonly { readonly name: string; readonly why: string }[]
  /** Those that are already as they should be. */
  readonly already: readonly string[]
}

export interface AgentFile extends McpFile, Pick<McpClient, 'types'> {}

/** Throws a SetupProblem if the file cannot be read. */
export function guarded(file: AgentFile, program: Program): McpChange {
  return changedBy(file, (name, entry, syntax) => {
    if (isGuarded(entry)) return undefined
    const words = ['mcp', '--name', normalizedName(name)]
    if (typeof entry.command === 'string') {
      const { args = [], ...rest } = entry
      if (!Array.isArray(args)) return { why: 'its args are not a list' }
      return { entry: started(rest, program, [...words, '--', entry.command, ...args]) }
    }
    if (syntax === 'yaml' && entry.uses !== undefined) return { why: "it comes from the agent's own hub" }
    const remote = remoteOf(entry, syntax)
    if ('why' in remote) return remote
    const { url, type: _, env, ...rest } = remote.rest
    // A command line is visible to every process, so the values are in the environment.
    const given = remote.headers.flatMap((header, i) => ['--header', headerText(header, i)])
    const values = remote.headers.flatMap(({ value }, i) =>
      value === undefined ? [] : [[variable(i), value]],
    )
    const all = { ...(isObject(env) ? env : {}), ...Object.fromEntries(values) }
    const { types } = file
    const typed = types?.stdio === undefined ? rest : { type: types.stdio, ...rest }
    const fresh = started(typed, program, [...words, '--url', url, ...given])
    return { entry: Object.keys(all).length === 0 ? fresh : { ...fresh, env: all } }
  })
}

/** The opposite. */
export function unguarded(file: AgentFile): McpChange {
  return changedBy(file, (_, entry, syntax) => {
    const words = ownWords(entry)
    if (!words) return undefined
    const { command: __, args: ___, ...rest } = entry
    const at = words.indexOf('--')
    if (at >= 0) {
      const [command = '', ...args] = words.slice(at + 1)
      return { entry: { ...rest, command: String(command), ...(args.length > 0 && { args }) } }
    }
    const url = words.find((_, i) => words[i - 1] === '--url')
    if (url === undefined) return { why: 'nobody can say which server it was' }
    const { env: variables, type: ____, ...kept } = rest
    const env: Entry = isObject(variables) ? variables : {}
    const given = words.filter((_, i) => words[i - 1] === '--header').map(String)
    const headers = given.flatMap((text) => headerIn(text, env, syntax) ?? [])
    if (headers.length < given.length) return { why: 'its headers cannot be written as the agent does' }
    const others = Object.entries(env).filter(([name]) => !isVariable(name))
    const remote = {
      headers,
      rest: {
        ...(file.types !== undefined && { type: file.types.http }),
        ...kept,
        url,
        ...(others.length > 0 && { env: Object.fromEntries(others) }),
      },
    }
    return { entry: remoteEntry(remote, syntax) }
  })
}

/** The servers in the file that are behind the proxy. Empty if it cannot be read. */
export function guardedIn(file: McpFile): readonly string[] {
  try {
    return serversIn(file).flatMap(({ name, entry }) => (isObject(entry) && isGuarded(entry) ? [name] : []))
  } catch (error) {
    if (error instanceof SetupProblem) return []
    throw error
  }
}

// ---- entries --------------------------------------------------------------------------------------------------

function started(rest: object, { node, script }: Program, words: readonly unknown[]): Entry {
  return { ...rest, command: node, args: [script, ...words] }
}

function isGuarded(entry: Entry): boolean {
  return ownWords(entry) !== undefined
}

/** What follows `carabiner mcp`, however it is started. */
function ownWords({ command, args }: Entry): readonly unknown[] | undefined {
  if (typeof command !== 'string' || !Array.isArray(args)) return undefined
  const words: readonly unknown[] = [command, ...args]
  const end = words.indexOf('--')
  const at = words.findIndex(
    (word, i) => word === 'mcp' && /(?:^|[\\/])carabiner(?:\.js|\.cmd)?$/.test(String(words[i - 1] ?? '')),
  )
  return at > 0 && (end < 0 || at < end) ? words.slice(at + 1) : undefined
}

function headerText({ name, variable: own, scheme = '' }: Header, i: number): string {
  return `${name}: ${scheme}\${${own ?? variable(i)}}`
}

/** Only TOML has headers whose values are variables of the agent. */
function headerIn(text: string, env: Entry, syntax: FileSyntax): Header | undefined {
  const [, name, scheme = '', own] = /^([\w-]+): ([^$]*)(?:\$\{(\w+)\})?$/.exec(text) ?? []
  if (name === undefined) return undefined
  if (own === undefined) return { name, value: scheme }
  if (typeof env[own] === 'string') return { name, value: scheme + env[own] }
  if (syntax !== 'toml' || !/^(?:Bearer )?$/.test(scheme)) return undefined
  return { name, variable: own, ...(scheme !== '' && { scheme }) }
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

function changedBy(
  file: AgentFile,
  change: (name: string, entry: Entry, syntax: FileSyntax) => Changed,
): McpChange {
  const fresh = new Map<string, Entry>()
  const left: { readonly name: string; readonly why: string }[] = []
  const already: string[] = []
  for (const { name, entry } of serversIn(file)) {
    const made = isObject(entry) ? change(name, entry, syntaxOf(file)) : { why: 'it is not an object' }
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
