// The `if` of a hook: one permission rule, `Tool` or `Tool(pattern)`. If a rule cannot be evaluated, its hook runs.

import { isAbsolute, normalize } from 'node:path'
import { type Data, isObject } from '../core/base/json.js'
import { shown } from '../core/base/text.js'
import { formerNamesOf } from '../core/events/catalogue.js'
import type { EventKind } from '../core/events/events.js'
import type { Hook, HookEvent } from '../core/hooks/hook.js'
import {
  commandPattern,
  fits,
  LONGEST,
  type PathPattern,
  pathPattern,
  piecesOf,
  sureCommandPattern,
} from '../effects/shell/patterns.js'
import { readShell, type ShellReading } from '../effects/shell/shell-reading.js'
import { userHome } from '../files/homes.js'
import { realOf } from '../files/within.js'

/** Without a condition, the hook runs whenever its matcher matches. */
export interface IfRule {
  readonly condition?: NonNullable<Hook['condition']>
  /** Absent if there is no rule. */
  readonly isSure?: NonNullable<Hook['isSure']>
  /** A problem that the author should know about. */
  readonly problem?: string
  readonly todo?: string
}

const RULE = /^([A-Za-z_][\w.:*-]*)(?:\(([\s\S]*)\))?$/
/** Read as one rule, `Bash(a) || Write(b)` would match no command at all. */
const TWO_RULES = /\)\s*(?:[|&,;]+|or|and)?\s*[A-Z]\w*\(/

/** Where the rule comes from. */
export interface RulePlaces {
  /** The meaning of `~`; default: the user's home folder. */
  readonly home?: string | undefined
  /** Paths are also resolved from here, because the event's `cwd` moves with the agent. */
  readonly projectDir?: string | undefined
}

export function compileIf(rule: string, kind: EventKind, places: RulePlaces = {}): IfRule {
  const text = rule.trim()
  if (text === '') return {}
  if (kind.matcher !== 'tool_name') {
    const reason = `"if" is for tool events; on ${kind.name} a hook with "if" never runs`
    return { condition: () => reason, problem: reason, todo: 'Remove "if", or the whole hook.' }
  }
  const [, tool, pattern] = TWO_RULES.test(text) ? [] : (RULE.exec(text) ?? [])
  if (tool === undefined) {
    const problem = `"if": ${shown(rule)} is not a rule such as Bash(git *), so it is ignored and the hook runs without it`
    const todo = `Change "if" from ${shown(rule)} to a rule such as "Bash(git *)", or remove it.`
    return { problem, todo, isSure: () => false }
  }
  const {
    test,
    isSure: isSureOf = () => problem === undefined && !pattern?.trim(),
    problem,
  } = compilePattern(tool, pattern?.trim() ?? '', places)
  const otherCall = `"if": ${shown(rule)} is not for this call of ${tool}`
  const condition: IfRule['condition'] = ({ data }) => {
    const called = data.tool_name
    // A tool under another name may have a different input, so its input is not tested.
    if (called === tool) return !test || test(inputOf(data), data) || otherCall
    if (covers(tool, String(called))) return true
    return `"if": ${shown(rule)} is for the tool ${tool}, not for ${shown(String(called))}`
  }
  const isSure = ({ data }: HookEvent) =>
    data.tool_name === tool ? isSureOf(inputOf(data), data) : !pattern && covers(tool, String(data.tool_name))
  if (problem === undefined) return { condition, isSure }
  return { condition, isSure, problem: `"if": ${shown(rule)}: ${problem}` }
}

/** A renamed tool matches its former names; `mcp__server` matches every tool of that server; text after a `*` is ignored. */
function covers(tool: string, called: string): boolean {
  const star = tool.indexOf('*')
  if (star >= 0) return called.startsWith(tool.slice(0, star))
  if (tool.startsWith('mcp__') && called.startsWith(`${tool}__`)) return true
  return formerNamesOf(called).includes(tool)
}

function inputOf({ tool_input }: Data): Data {
  return isObject(tool_input) ? tool_input : {}
}

// ---- patterns ---------------------------------------------------------------------------------------------------

/** `test` tells whether the pattern applies to this call. Without it, the tool's name alone decides. */
interface Pattern {
  readonly test?: (input: Data, data: Data) => boolean
  /** Whether the rule certainly applies to this call. Without it, only a rule without a pattern is certain. */
  readonly isSure?: (input: Data, data: Data) => boolean
  readonly problem?: string
}

const PATH_FIELDS: ReadonlyMap<string, string> = new Map([
  ['Read', 'file_path'],
  ['Write', 'file_path'],
  ['Edit', 'file_path'],
  ['MultiEdit', 'file_path'],
  ['NotebookRead', 'notebook_path'],
  ['NotebookEdit', 'notebook_path'],
])

function compilePattern(tool: string, pattern: string, places: RulePlaces): Pattern {
  if (pattern === '' || pattern === '*') return { isSure: () => true }
  if (tool === 'Bash') return bashPattern(pattern)
  if (tool === 'WebFetch') return domainPattern(pattern)
  const field = PATH_FIELDS.get(tool)
  return field === undefined ? {} : filePattern(tool, field, pattern, places)
}

function bashPattern(pattern: string): Pattern {
  const matches = commandPattern(pattern)
  const isSure = sureCommandPattern(pattern)
  return {
    test: ({ command }) => typeof command !== 'string' || matches(readingOf(command)),
    isSure: ({ command }) => typeof command === 'string' && isSure(readingOf(command)),
  }
}

let last: ShellReading | undefined

/** Parses a command once for many rules. */
function readingOf(command: string): ShellReading {
  if (last?.source !== command) last = readShell(command)
  return last
}

function filePattern(tool: string, field: string, pattern: string, places: RulePlaces): Pattern {
  const matches = pathPattern(pattern)
  if (!matches) return { problem: `its pattern cannot be read, so the hook runs for every ${tool}` }
  const { home = userHome(), projectDir } = places
  const placed = (path: string, cwd: unknown) =>
    distinct([String(cwd ?? ''), projectDir ?? String(cwd ?? '')]).map((folder) => ({
      path: wholePath(path, folder, home),
      cwd: folder,
      home,
    }))
  return {
    test: (input, { cwd }) => {
      const path = input[field]
      if (typeof path !== 'string') return true
      const written = placed(path, cwd)
      // Matching comes first, because following links takes longer.
      return written.some((one) => matches(one.path, one)) || matchesReally(matches, written)
    },
    isSure: (input, { cwd }) => {
      const path = input[field]
      if (typeof path !== 'string' || !isAbsolute(String(cwd))) return false
      const [one] = placed(path, cwd) as [PlacedPath]
      const real = realOf(one.path)
      if ([one.path, real].some((each) => OF_ANOTHER_PROCESS.test(normalize(each)) || each.length > LONGEST))
        return false
      return matches(one.path, one) && matches(real, { ...one, realOf })
    },
  }
}

interface PlacedPath {
  readonly path: string
  readonly cwd: string
  readonly home: string
}

/** Matches the real paths, too: any of the names may be a link. */
function matchesReally(matches: PathPattern, written: readonly PlacedPath[]): boolean {
  const paths = distinct(written.flatMap(({ path }) => [path, realOf(path)]))
  if (paths.some((path) => OF_ANOTHER_PROCESS.test(normalize(path)))) return true
  return paths.some((path) => written.some((places) => matches(path, { ...places, realOf })))
}

/** These mean something else in the agent's process than in ours. */
const OF_ANOTHER_PROCESS =
  /^\/(?:proc\/[^/]+\/(?:task\/[^/]+\/)?(?:cwd|fd|root)|dev\/(?:fd|std(?:in|out|err)))(?:\/|$)/

/** Keeps `..`, because after a link it does not lead where the text suggests. */
function wholePath(path: string, folder: string, home: string): string {
  if (/^~(?:\/|$)/.test(path)) return home + path.slice(1)
  return isAbsolute(path) ? path : `${folder}/${path}`
}

function distinct(names: readonly string[]): readonly string[] {
  return [...new Set(names)]
}

function domainPattern(pattern: string): Pattern {
  const domain = /^domain:\s*(\S+)$/.exec(pattern)?.[1]
  if (!domain)
    return {
      problem: 'its pattern does not look like domain:example.com, so the hook runs for every WebFetch',
    }
  const pieces = piecesOf(domain.toLowerCase())
  return {
    test: ({ url }) => {
      const host = hostOf(url)
      return host === undefined || fits(pieces, host)
    },
    isSure: ({ url }) => {
      const host = hostOf(url)
      return host !== undefined && fits(pieces, host)
    },
  }
}

function hostOf(url: unknown): string | undefined {
  if (typeof url !== 'string' || !URL.canParse(url)) return undefined
  return new URL(url).hostname.replace(/\.$/, '')
}
