// The entry of one MCP server: puts it behind `carabiner mcp`, so that no other way leads to the server, and takes it out
// again exactly as it was.

import { resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { isObject } from '../../core/base/json.js'
import { isBelow, realOf } from '../../files/within.js'
import { normalized } from '../mcp-tool-name.js'
import { FORMS, type Header, isAddress, remoteOf } from './entry-forms.js'
import {
  commandOf,
  type Entry,
  type ProxyCall,
  type ProxyPlace,
  proxyCall,
  variablesOf,
  withProxy,
} from './proxy-call.js'
import type { McpFile } from './server-file.js'

export interface ProxySetting extends ProxyPlace {
  /** Whether a variable of the entry would change what our program itself does. */
  readonly decides: (name: string, value: string) => boolean
  /** The command that installs what servers at an address need, if it is missing. */
  readonly missing?: string | undefined
  /** The file belongs to the project, which may be hostile, and not to the user. */
  readonly isOfProject?: boolean
}

/** A new entry, or why there is none. Undefined: it is already as it should be. */
export type Changed = { readonly entry: Entry } | { readonly why: string } | undefined

/** A server, and everything that its new entry depends on. */
export interface Job {
  readonly name: string
  readonly entry: Entry
  readonly file: McpFile
  readonly setting: ProxySetting
}

export function proxied(job: Job): Changed {
  const { entry, file, setting } = job
  const why = FORMS[file.form].problem?.(entry) ?? meddling(entry, setting) ?? elsewhere(entry, setting)
  if (why !== undefined) return { why }
  const call = proxyCall(entry, setting)
  if (entry.command === undefined) return remoteBehind(job)
  const command = commandOf(entry)
  if (!command) return { why: 'its command and args are not texts' }
  const detour = detourOf(entry)
  if (detour !== undefined) return { why: detour }
  if (!call) {
    const { command: _, args: __, ...rest } = entry
    return returnable(job, rest, ['--', ...command])
  }
  if (call.choosing.length > 0)
    return { why: `it is behind carabiner mcp with ${call.choosing.join(', ')}, which chooses the hooks` }
  const isSure = call.by === 'this' || (call.by === 'bare' && !setsPath(entry))
  return isSure ? undefined : { entry: withProxy(entry, setting.program, call.words) }
}

/** The way back. Undefined: it is not behind the proxy. */
export function unproxied(entry: Entry, file: McpFile, place: ProxyPlace): Changed {
  const call = proxyCall(entry, place)
  if (!call) return undefined
  const { command: _, args: __, ...rest } = entry
  const { server, was } = call
  if ('url' in server) {
    const back = remoteFrom(rest, server, file)
    return 'why' in back ? back : { entry: withFields(back.entry, was) }
  }
  const [command, ...args] = server
  return { entry: withFields({ ...rest, command, ...(args.length > 0 && { args }) }, was) }
}

/** Why the proxy might not do what it does elsewhere: the agent starts it with what the entry says. */
function meddling(entry: Entry, { decides }: ProxySetting): string | undefined {
  const names = Object.entries(variablesOf(entry)).flatMap(([name, value]) =>
    decides(name, String(value)) ? [name] : [],
  )
  if (names.length > 0) return `its env sets ${names.join(', ')}, which carabiner itself goes by`
  if (entry.envFile !== undefined) return 'its envFile may set variables that carabiner itself goes by'
  return undefined
}

/** Why other hooks might judge, or other programs be hooks, than the user's own file would choose. */
function elsewhere(entry: Entry, { isOfProject, project }: ProxySetting): string | undefined {
  if (!isOfProject) return undefined
  if (setsPath(entry)) return 'its env sets PATH, which decides what programs hooks start'
  const { cwd = '.' } = entry
  const folder = typeof cwd === 'string' ? cwd.replace(/^\$\{workspaceFolder\}/, '.') : '$'
  // Agents put other folders in place of these.
  const isPlain = !/[$%]|^~/.test(folder)
  if (isPlain && isBelow(realOf(resolve(project, folder)), realOf(resolve(project)))) return undefined
  return 'its cwd may be outside the project, where other hooks would judge its calls'
}

function setsPath(entry: Entry): boolean {
  return Object.keys(variablesOf(entry)).some((name) => /^path(?:ext)?$/i.test(name))
}

/** Why an agent might not start the command: it could take another way to the server. */
function detourOf(entry: Entry): string | undefined {
  if (Object.keys(entry).some(isAddress)) return 'it has a command and an address'
  const { type = 'stdio' } = entry
  return type === 'stdio' ? undefined : 'it has a command, but its type is not stdio'
}

// ---- a server at an address -----------------------------------------------------------------------------------

function remoteBehind(job: Job): Changed {
  const { entry, file, setting } = job
  const remote = remoteOf(entry, file)
  if ('why' in remote) return remote
  if (setting.missing !== undefined)
    return { why: `servers at an address need a library: ${setting.missing}` }
  const { headers, url } = remote
  const { type: _, env, ...rest } = remote.rest
  // A command line is visible to every process, so the values are in the environment.
  const given = headers.map((header, i) => `--header=${headerText(header, i)}`)
  const values = headers.flatMap(({ value }, i) => (value === undefined ? [] : [[variable(i), value]]))
  const all = { ...(isObject(env) ? env : {}), ...Object.fromEntries(values) }
  const { types } = file
  const started = {
    ...(types && { type: types.stdio }),
    ...rest,
    ...(Object.keys(all).length > 0 && { env: all }),
  }
  return returnable(job, started, [`--url=${url}`, ...given])
}

function remoteFrom(
  { env: variables, type: _, ...rest }: Entry,
  { url, headers: given }: Exclude<ProxyCall['server'], readonly string[]>,
  file: McpFile,
): { readonly entry: Entry } | { readonly why: string } {
  if (Object.keys(rest).some(isAddress)) return { why: 'it has a second address' }
  const env: Entry = isObject(variables) ? variables : {}
  const headers = given.flatMap((text) => headerIn(text, env, file) ?? [])
  if (headers.length < given.length) return { why: 'its headers cannot be written as the agent does' }
  const others = Object.entries(env).filter(([name]) => !isVariable(name))
  const { types, address } = file
  return {
    entry: FORMS[file.form].write({
      headers,
      rest: {
        ...(types && { type: types.http }),
        ...rest,
        [address]: url,
        ...(others.length > 0 && { env: Object.fromEntries(others) }),
      },
    }),
  }
}

function headerText({ name, variable: own, scheme = '' }: Header, i: number): string {
  return `${name}: ${scheme}\${${own ?? variable(i)}}`
}

function headerIn(text: string, env: Entry, { form }: McpFile): Header | undefined {
  const [, name, scheme = '', own] = /^([\w-]+): ?([^$]*)(?:\$\{(\w+)\})?$/.exec(text) ?? []
  if (name === undefined) return undefined
  if (own === undefined) return { name, value: scheme }
  if (typeof env[own] === 'string') return { name, value: scheme + env[own] }
  if (!FORMS[form].hasVariables || !/^(?:Bearer )?$/.test(scheme)) return undefined
  return { name, variable: own, ...(scheme !== '' && { scheme }) }
}

function variable(i: number): string {
  return `CARABINER_HEADER_${i + 1}`
}

function isVariable(name: string): boolean {
  return /^CARABINER_HEADER_\d+$/.test(name)
}

// ---- what would be lost on the way back -------------------------------------------------------------------------

/** The entry that starts the proxy, with the fields that the way back would not find otherwise. */
function returnable(
  { name, entry: before, file, setting }: Job,
  rest: Entry,
  server: readonly string[],
): Changed {
  // `--name VALUE` would take a value that begins with a dash for an option.
  const named = `--name=${normalized(name) || 'server'}`
  const entryWith = (was: readonly string[]) =>
    withProxy(rest, setting.program, [named, ...was.map((one) => `--was=${one}`), ...server])
  const back = (entry: Entry) => {
    const made = unproxied(entry, file, setting)
    return made && 'entry' in made ? made.entry : {}
  }
  const found = back(entryWith([]))
  const fields = [...new Set([...Object.keys(before), ...Object.keys(found)])]
  const lost = fields.filter((field) => !isDeepStrictEqual(before[field], found[field]))
  const entry = entryWith(lost.map((field) => fieldText(field, before[field])))
  return isDeepStrictEqual(back(entry), before) ? { entry } : { why: 'it could not be put back as it is' }
}

/** Only what is no secret: a type, something empty, or nothing. */
function fieldText(name: string, value: unknown): string {
  const isEmpty = typeof value === 'object' && value !== null && Object.keys(value).length === 0
  if (isEmpty) return `${name}=${JSON.stringify(value)}`
  return `${name}=${name === 'type' && typeof value === 'string' ? value : ''}`
}

function withFields(entry: Entry, was: readonly string[]): Entry {
  const fields = was
    .map((text) => /^(\w+)=(.*)$/s.exec(text) ?? [])
    .map(([, name = '', value = '']) => [name, value])
  const gone = fields.flatMap(([name, value]) => (value === '' ? [name] : []))
  const kept = Object.entries(entry).filter(([name]) => !gone.includes(name))
  const added = fields.flatMap(([name = '', value = '']) => {
    if (value === '' || (name !== 'type' && Object.hasOwn(entry, name))) return []
    return [[name, value === '[]' ? [] : value === '{}' ? {} : value] as const]
  })
  return { ...Object.fromEntries(kept), ...Object.fromEntries(added) }
}
