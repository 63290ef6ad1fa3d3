// Tool calls of a host as Claude Code would make them, so that one hook on `command` or `file_path` holds under every host.

import { homedir } from 'node:os'
import { isAbsolute, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Data, isObject, type Json, sameJson } from '../core/base/json.js'
import { bareLetters } from '../core/events/catalogue.js'
import { shellQuoted } from '../effects/shell/shell-quoted.js'
import { callerEnv } from '../files/caller.js'
import type { Host, HostCall, HostTool, ToolCall } from './host.js'

/** The tool behind a name, in any case and with any separators: another version may spell it differently. */
export function toolNamed({ tools }: Host, name: Json | undefined): HostTool | undefined {
  if (typeof name !== 'string') return undefined
  const own = tools ?? {}
  if (Object.hasOwn(own, name)) return own[name]
  const letters = bareLetters(name)
  const key = Object.keys(own).find((one) => bareLetters(one) === letters)
  if (key !== undefined) return own[key]
  const claude = CLAUDE_TOOLS.find((one) => one.toLowerCase() === letters)
  // A host without a table has Claude Code's tools.
  return claude === undefined || (claude === name && !tools) ? undefined : { names: [claude] }
}

const CLAUDE_TOOLS = ['Bash', 'Read', 'Write', 'Edit'] as const

/** Empty if Claude Code has no such tool. Throws Error for an input that cannot be read; if `mustTell`, also for one that hides what it does. */
export function canonicalCalls(host: Host, data: Data, mustTell: boolean): readonly HostCall[] {
  const { tool_name: name, tool_input: own } = data
  const tool = toolNamed(host, name)
  if (!tool) return []
  if (!mustTell && !isObject(own)) return [{ names: tool.names, data }]
  const sent = objectOf(own)
  const calls = partsOf(tool, own) ?? [{ input: renamed(sent, tool.fields ?? {}) }]
  const field = fieldOf(tool)
  if (mustTell && (calls.length === 0 || calls.some(({ input }) => !isText(input[field]))))
    throw new Error(`its input has no ${field === 'command' ? 'command' : 'path of a file'}`)
  if (calls.length === 0) return [{ names: tool.names, data }]
  return calls.map((call: ToolCall) => {
    const input = withAbsolutePaths(host, call.input, data.cwd)
    const names = call.tool === undefined ? tool.names : [call.tool]
    const isSame = sameJson(input, own)
    return { names, data: isSame ? data : { ...data, tool_input: input, host_tool_input: own ?? null } }
  })
}

// ---- what hooks must see --------------------------------------------------------------------------------------

type Field = 'command' | 'file_path'

/** Whether hooks see parts of the input, and not the input under other names. */
export function isInPartsOf(tool: HostTool, own: Json | undefined): boolean {
  return tool.parts !== undefined || usualParts(tool, own) !== undefined
}

/** Undefined if the call does one thing, and only its names differ. Empty if nobody can say what it does. */
function partsOf(tool: HostTool, own: Json | undefined): readonly ToolCall[] | undefined {
  const calls = tool.parts ? tool.parts(objectOf(own)) : usualParts(tool, own)
  if (calls && calls.length > MOST_PARTS) throw new Error(TOO_MANY)
  return calls
}

/** More would take longer to judge than an agent waits. */
const MOST_PARTS = 1000
const TOO_MANY = `it does more than ${MOST_PARTS} things at once`
/** Each part has all other fields. */
const MOST_COPIED = 100_000

/** What Claude Code always sends, so hooks look only there. */
function fieldOf({ names }: HostTool): Field {
  return names.includes('Bash') ? 'command' : 'file_path'
}

/** Where else it can be, in tools of any agent: a text, a list of words, or a list of things to do. */
const OTHER_PLACES: Readonly<Record<Field, readonly string[]>> = {
  command: ['cmd', 'script', 'commands', 'input'],
  file_path: [
    ...['path', 'filePath', 'file', 'filename', 'target_file', 'targetFile', 'absolute_path'],
    ...['paths', 'files', 'file_paths', 'filePaths', 'include'],
    ...['operations', 'replacements', 'edits', 'input'],
  ],
}

/** Undefined if hooks see in the field that they look at what the call does, and it does nothing else. Empty if it is nowhere. */
function usualParts(tool: HostTool, own: Json | undefined): readonly ToolCall[] | undefined {
  const field = fieldOf(tool)
  const input = renamed(objectOf(own), tool.fields ?? {})
  const calls = callsIn(input, field, tool)
  return calls.length === 1 && isTold(input, field) ? undefined : calls
}

/** Where a list is one command in words, and not several commands. */
const IN_WORDS = ['command', 'cmd', 'script']

/** A call for every place that says what to do: nobody knows which one the tool reads. */
function callsIn(input: Data, field: Field, tool: HostTool): readonly ToolCall[] {
  const told: ToolCall[] = []
  const listed: (readonly ToolCall[])[] = []
  for (const place of [field, ...OTHER_PLACES[field]]) {
    const { [place]: found, ...rest } = input
    const words = isText(found) ? [found] : IN_WORDS.includes(place) ? found : undefined
    const list = isObject(found) ? [found as Data] : found
    if (place === field && isTold(input, field)) told.push({ input })
    else if (field === 'command' && isTexts(words))
      told.push({ input: { ...rest, command: commandOf(words, input.args) } })
    else if (isText(found)) told.push({ input: { ...rest, [field]: found } })
    else if (isList(list)) {
      if (list.length * Object.keys(rest).length > MOST_COPIED) throw new Error(TOO_MANY)
      listed.push(
        ...list.map((one) => {
          if (isText(one)) return [{ input: { ...rest, [field]: one } }]
          return isObject(one) ? callsIn(renamed(one as Data, tool.fields ?? {}), field, tool) : []
        }),
      )
    }
  }
  // What is listed may belong to the one file that is told. Otherwise, one that hides what it does hides it in all of them.
  const mayBelong = field === 'file_path' && told.length > 0
  const isHidden = !mayBelong && listed.some((calls) => calls.length === 0)
  return isHidden ? [] : [...told, ...listed.flat()]
}

/** Whether hooks find it. Arguments beside a command would be hidden. */
function isTold(input: Data, field: Field): boolean {
  return isText(input[field]) && (field !== 'command' || input.args === undefined)
}

/** For a program and its arguments. */
function commandOf(words: readonly string[], args: Json | undefined): string {
  const [program = '', ...rest] = words
  if (isText(args)) return `${[program, ...rest.map(shellQuoted)].join(' ')} ${args}`
  const list = isList(args) ? args : args === undefined || Array.isArray(args) ? [] : [args]
  const more = [...rest, ...list.map((arg) => (isText(arg) ? arg : JSON.stringify(arg)))]
  return [program, ...more.map(shellQuoted)].join(' ')
}

function objectOf(own: Json | undefined): Data {
  return isObject(own) ? (own as Data) : { input: own ?? null }
}

function isText(value: Json | undefined): value is string {
  return typeof value === 'string' && value !== ''
}

function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value) && value.length > 0
}

function isTexts(value: Json | undefined): value is readonly string[] {
  return isList(value) && value.every(isText)
}

// ---- under other names ----------------------------------------------------------------------------------------

function renamed(input: Data, fields: Readonly<Record<string, string>>): Data {
  const entries = Object.entries(input).map(([key, value]) => {
    const canonical = Object.hasOwn(fields, key) ? (fields[key] as string) : key
    return [canonical, value] as const
  })
  const known = new Map<string, Json | undefined>()
  for (const [key, value] of entries) {
    if (known.has(key) && !sameJson(known.get(key), value))
      throw new Error(`its input has two names for ${key}`)
    known.set(key, value)
  }
  return Object.fromEntries(entries)
}

/** Fields that Claude Code always sends as absolute paths, and where a patch moves a file. */
const PATHS: ReadonlySet<string> = new Set(['file_path', 'notebook_path', 'moved_to'])

function withAbsolutePaths({ pathOf }: Host, input: Data, cwd: Json | undefined): Data {
  const entries = Object.entries(input).map(([key, value]) => {
    if (!PATHS.has(key) || typeof value !== 'string' || value === '') return [key, value] as const
    const path = expandedPath(pathOf?.(value) ?? value)
    if (path !== value && hasParent(value)) throw new Error('its path can be read in two ways')
    return [key, typeof cwd === 'string' && isAbsolute(cwd) ? resolve(cwd, path) : path] as const
  })
  return Object.fromEntries(entries)
}

/** For an agent that does not expand it, `~/..` is the project. */
function hasParent(path: string): boolean {
  return path.split(/[/\\]/).includes('..')
}

/** Many agents write where a shell would, and the others make an odd folder in the project. */
function expandedPath(path: string): string {
  if (path.startsWith('file:')) {
    try {
      return fileURLToPath(path)
    } catch {
      return path
    }
  }
  const env = callerEnv()
  const known = path.replace(VARIABLE, (written, braced, plain) => env[braced ?? plain] ?? written)
  return known.replace(/^~(?=\/|$)/, () => env.HOME || homedir())
}

const VARIABLE = /\$(?:\{(\w+)\}|(\w+))/g

/**
 * A changed input in the host's own terms. `own` is what the host sent, and `seen` is what hooks were shown. A field that no
 * hook changed stays as the host sent it.
 */
export function hostInput(tool: HostTool | undefined, own: Data, seen: Data, changed: Data): Data {
  const ownNames = new Map(Object.entries(tool?.fields ?? {}).map(([key, canonical]) => [canonical, key]))
  const entries = Object.entries(changed).map(([key, value]) => {
    const sent = Object.hasOwn(own, key) ? key : (ownNames.get(key) ?? key)
    const isSame = Object.hasOwn(own, sent) && sameJson(value, seen[key])
    return [sent, isSame ? (own[sent] as Json) : value] as const
  })
  return Object.fromEntries(entries)
}
