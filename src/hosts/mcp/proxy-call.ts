// `carabiner mcp` in the entry of an MCP server: tells it from other programs, and writes it.

import { isAbsolute } from 'node:path'
import { parseArgs } from 'node:util'
import { isObject } from '../../core/base/json.js'
import { userHome } from '../../files/homes.js'
import { isBelow, isWithin } from '../../files/within.js'
import type { Program } from '../entries.js'
import { ownProgram } from '../own-command.js'

/** One entry: a program, or an address. */
export type Entry = Readonly<Record<string, unknown>>

export interface ProxyCall {
  /** The program that is started. `bare` is looked up in PATH. `other` is another installation, or npx looks for it. */
  readonly by: 'this' | 'bare' | 'other'
  /** All words after `mcp`, and what they say. */
  readonly words: readonly string[]
  /** The server: its command, or its address and headers. */
  readonly server: readonly string[] | { readonly url: string; readonly headers: readonly string[] }
  /** Fields of the entry before, as `NAME=VALUE`. */
  readonly was: readonly string[]
  /** Options by which the entry chooses the hooks. */
  readonly choosing: readonly string[]
}

/** The options of `carabiner mcp`. */
export const PROXY_OPTIONS = {
  url: { type: 'string' },
  header: { type: 'string', multiple: true, default: [] as string[] },
  name: { type: 'string' },
  timeout: { type: 'string' },
  'no-dialog': { type: 'boolean' },
  was: { type: 'string', multiple: true, default: [] as string[] },
  project: { type: 'string' },
  plugin: { type: 'string', multiple: true },
  config: { type: 'string', multiple: true },
  'pre-trusted': { type: 'string' },
  'trust-all': { type: 'boolean' },
} as const

const REPEATED: readonly string[] = ['header', 'was', 'plugin', 'config']
const CHOOSING = ['project', 'plugin', 'config', 'pre-trusted', 'trust-all'] as const

/** Undefined if the entry starts anything else: words that only look like ours, or a program of the project. */
export function proxyCall(entry: Entry, { program, project }: ProxyPlace): ProxyCall | undefined {
  const command = commandOf(entry)
  const own = command && ownProgram(command)
  if (!command || own?.rest[0] !== 'mcp') return undefined
  const words = own.rest.slice(1)
  const read = readWords(words)
  const by = read && starterOf(own, command, program, project)
  return by && { ...read, by, words }
}

export interface ProxyPlace {
  readonly program: Program
  /** Programs in it may be anything. */
  readonly project: string
}

/** The words that the agent starts. Undefined if the entry starts nothing. */
export function commandOf({ command, args = [] }: Entry): readonly string[] | undefined {
  const words: unknown = Array.isArray(args) ? [command, ...args] : undefined
  const isText = (word: unknown): word is string => typeof word === 'string'
  return Array.isArray(words) && words.every(isText) && command !== '' ? words : undefined
}

function starterOf(
  { node, script }: { readonly node: string | undefined; readonly script: string },
  [command]: readonly string[],
  program: Program,
  project: string,
): ProxyCall['by'] | undefined {
  if (node === program.node && script === program.script) return 'this'
  const isPath = (path: string) => /[\\/]/.test(path)
  // Node looks for a script in the current folder, not in PATH.
  const paths = [node ?? '', script].filter((path, i) => isPath(path) || (i === 1 && node !== undefined))
  // In the home folder are other installations of ours.
  const isProject = !isBelow(userHome(), project)
  const isForeign = (path: string) => !isAbsolute(path) || (isProject && isWithin(path, project))
  if (paths.some(isForeign)) return undefined
  return command === script && !isPath(script) ? 'bare' : 'other'
}

/** Undefined if the program would refuse the words. */
function readWords(words: readonly string[]): Pick<ProxyCall, 'server' | 'was' | 'choosing'> | undefined {
  try {
    const { values, positionals, tokens } = parseArgs({
      args: [...words],
      options: PROXY_OPTIONS,
      allowPositionals: true,
      tokens: true,
    })
    const { url, header: headers, was } = values
    if ((url === undefined) === (positionals.length === 0)) return undefined
    if (url === undefined && headers.length > 0) return undefined
    const first = tokens.find(({ kind }) => kind !== 'option')
    const isAfter = (token: { readonly kind: string; readonly index: number }) =>
      token.kind === 'option' && first?.kind === 'positional' && token.index > first.index
    if (tokens.some(isAfter)) return undefined
    const given = tokens.flatMap((token): readonly string[] => (token.kind === 'option' ? [token.name] : []))
    if (given.some((name, i) => !REPEATED.includes(name) && given.indexOf(name) < i)) return undefined
    const choosing = CHOOSING.filter((name) => values[name] !== undefined).map((name) => `--${name}`)
    return { server: url === undefined ? positionals : { url, headers }, was, choosing }
  } catch {
    return undefined
  }
}

/** The entry with this program in front of the words. */
export function withProxy(rest: Entry, { node, script }: Program, words: readonly string[]): Entry {
  return { ...rest, command: node, args: [script, 'mcp', ...words] }
}

/** The variables that an entry sets for its program. */
export function variablesOf({ env }: Entry): Entry {
  return isObject(env) ? env : {}
}
