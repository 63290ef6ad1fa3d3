// The hooks of one file that can move, translated for the other side, and everything that stays, with the reason.

import { formatOfPath } from '../../config/hook-document.js'
import type { Entry } from '../../config/hook-group.js'
import { DEFAULT_MERGED } from '../../config/merged-settings.js'
import { CLAUDE_KEYS } from '../../config/reach-settings.js'
import { lowered } from '../../config/timeout.js'
import type { DiagnosticCode } from '../../core/base/errors.js'
import { canonicalJson, isObject, type Json } from '../../core/base/json.js'
import { plainText, shown } from '../../core/base/text.js'
import { under } from '../../files/json-text.js'
import { isOurs } from '../../hosts/entries.js'
import { kindOf } from '../../runners/kinds.js'
import { claudeProblem, inClaudeTerms, type Translated } from './claude-terms.js'
import type { Direction, FilePair, MigrationFiles } from './migration-files.js'
import { type Fields, groupAt, type HookFile, titleOf, valueAt } from './migration-files.js'

/** A remark on something in a file. */
export interface Remark {
  /** The code of a diagnostic. Its text says what it is about. */
  readonly code?: DiagnosticCode
  readonly what?: string
  readonly why: string
  readonly file: string
  readonly line: number
}

/** A hook that can move. */
export interface MovableHook extends Translated {
  readonly entry: Entry
  readonly event: string
  readonly title: string
  /** Equal for the same hook on the same event. */
  readonly key: string
}

export interface Movable {
  readonly hooks: readonly MovableHook[]
  /** Keys beside `hooks` that mean the same on the other side. */
  readonly keys: readonly (readonly [key: string, value: unknown])[]
  readonly left: readonly Remark[]
  readonly notes: readonly Remark[]
}

/** Diagnostics about entries that are not hooks. All others are about hooks, which move as they are. */
const LEFT_OUT: ReadonlySet<DiagnosticCode> = new Set<DiagnosticCode>([
  'entry-invalid',
  'entry-unsupported',
  'unknown-event',
  'config-invalid',
])

export function isLeftOut(code: DiagnosticCode): boolean {
  return LEFT_OUT.has(code)
}

export function movableIn(source: HookFile, pair: FilePair, files: MigrationFiles): Movable {
  const { direction } = files
  const left: Remark[] = []
  const notes: Remark[] = []
  const remarks = remarksOn(source.contents.entries)
  for (const { code, text, file = source.file.path, line = 1 } of source.diagnostics) {
    const isLeft = isLeftOut(code) && !remarks.has(text)
    ;(isLeft ? left : notes).push({ code, why: text, file, line })
  }
  const hooks: MovableHook[] = []
  for (const entry of source.contents.entries) {
    const hook = movedHook(entry, source, files)
    if ('problem' in hook) left.push(remark(source, entry, titleOf(entry), hook.problem))
    else hooks.push(hook)
  }
  for (const process of source.contents.processes) {
    left.push(remark(source, process, `the process ${process.key}`, NO_PROCESS[direction]))
  }
  const keys = keysOf(source, pair, direction, left)
  notes.push(...timeoutNotes(source, hooks, direction))
  if (direction === 'carabiner') left.push(...elsewhere(source))
  return { hooks, keys, left, notes }
}

/** Remarks on hooks that are read differently from how they are written. These hooks still move. */
function remarksOn(entries: readonly Entry[]): ReadonlySet<string> {
  const texts = entries.flatMap(({ name, handler: { remarks } }) =>
    remarks.map(({ problem }) => plainText(`${name}: ${problem}`)),
  )
  return new Set(texts)
}

const { max_timeout: OUR_LONGEST } = DEFAULT_MERGED

/** Why a process stays, by the side that hooks go to. */
const NO_PROCESS: Readonly<Record<Direction, string>> = {
  'claude-code': 'Claude Code does not keep processes running for hooks',
  carabiner: 'it is not a Claude Code hook; move it by hand',
}

const NO_MODULE: Readonly<Record<Direction, string>> = {
  'claude-code': 'Claude Code does not run modules with exported handlers',
  carabiner: 'it names its file from the folder that it is in; move both by hand',
}

interface Place {
  readonly at: Entry['at']
}

function remark({ config }: HookFile, { at }: Place, what: string, why: string): Remark {
  return { what, why, file: config.path, line: config.json.lineOf(at) }
}

// ---- hooks ----------------------------------------------------------------------------------------------------

function movedHook(
  entry: Entry,
  { value }: HookFile,
  files: MigrationFiles,
): MovableHook | { readonly problem: string } {
  if (entry.handler.type === 'module') return { problem: NO_MODULE[files.direction] }
  const handler = valueAt(value, entry.at) as Fields
  // If `fire` ran this hook, it would run itself forever.
  if (isOurs(handler)) return { problem: 'it belongs to carabiner setup, which adds and removes it' }
  const written = valueAt(value, groupAt(entry)) as Fields
  const group = withoutEvent(written)
  if (files.direction === 'carabiner')
    return movableHook(entry, { group, handler: timedAsThere(entry, handler) })
  if (handler.env !== undefined)
    return {
      problem:
        'Claude Code cannot set variables for a single hook; move them to "env" at the top of the file',
    }
  const problem = claudeProblem(entry, written, value.matching === 'fullmatch')
  if (problem !== undefined) return { problem }
  const translated = inClaudeTerms({ group, handler: timedForClaude(entry, handler) }, files)
  return 'problem' in translated ? translated : movableHook(entry, translated)
}

/** In a list of `{ event, … }`, each group names its event. Elsewhere it is under its event. */
function withoutEvent(group: Fields): Fields {
  return Object.fromEntries(Object.entries(group).filter(([key]) => key !== 'event'))
}

function movableHook(entry: Entry, translated: Translated): MovableHook {
  const event = entry.event.name
  const key = keyOf(event, translated)
  return { ...translated, entry, event, title: titleOf(entry), key }
}

/** Comments on the group do not make it a different hook. */
function keyOf(event: string, { group, handler }: Translated): string {
  const { matcher = '', sequential = false } = group
  return canonicalJson([event, matcher === '*' ? '' : matcher, sequential, handler] as Json)
}

export function withoutTimeout(key: string): string {
  const [handler, ...rest] = (JSON.parse(key) as Json[]).reverse()
  const { timeout: _, ...others } = handler as Fields
  return canonicalJson([...rest, others as Json])
}

export function keysIn({ config, contents, value }: HookFile): readonly string[] {
  const isClaudes = formatOfPath(config.path) === 'claude'
  const inGroups = contents.entries.filter(({ event }) => event.name !== '*')
  return inGroups.map((entry) => {
    const group = valueAt(value, groupAt(entry)) as Fields
    const handler = valueAt(value, entry.at) as Fields
    return keyOf(entry.event.name, { group, handler: isClaudes ? timedForClaude(entry, handler) : handler })
  })
}

// ---- keys beside the hooks ------------------------------------------------------------------------------------

const CARRIED_KEYS: readonly string[] = ['disableAllHooks', ...Object.keys(CLAUDE_KEYS)]

function keysOf(source: HookFile, pair: FilePair, direction: Direction, left: Remark[]): Movable['keys'] {
  const { value, contents } = source
  const keys: (readonly [string, unknown])[] = []
  // Without hooks, the variables are only for the agent.
  if (isObject(value.env) && Object.keys(value.env).length > 0 && contents.entries.length > 0)
    keys.push(['env', value.env])
  for (const key of CARRIED_KEYS.filter((one) => value[one] !== undefined)) {
    // The private file becomes a plugin, and a plugin's keys cannot apply to other hooks.
    if (pair.isPrivate) left.push(remark(source, { at: under(null, key) }, JSON.stringify(key), PRIVATE_KEY))
    else keys.push([key, value[key]])
  }
  if (direction === 'claude-code') {
    for (const { key, at } of contents.settings.filter(({ at: place }) => place?.parent !== null)) {
      left.push(
        remark(source, { at }, `the setting ${JSON.stringify(key)}`, 'Claude Code has no such setting'),
      )
    }
  }
  return keys
}

const PRIVATE_KEY = 'it is in your private settings for the project, which have no equivalent here'

/** Remarks on enabled plugins, whose hooks Claude Code also runs. */
function elsewhere(source: HookFile): readonly Remark[] {
  const { enabledPlugins } = source.value
  const remarks: Remark[] = []
  for (const [name, isOn] of isObject(enabledPlugins) ? Object.entries(enabledPlugins) : []) {
    if (isOn !== true) continue
    const why = 'it has its own files: run carabiner migrate DIR with the folder of the plugin'
    remarks.push(
      remark(source, { at: under(under(null, 'enabledPlugins'), name) }, `the plugin ${shown(name)}`, why),
    )
  }
  return remarks
}

// ---- timeouts ------------------------------------------------------------------------------------------------

/** A hook keeps its timeout from Claude Code: with a shorter one, a slow gate would be cut off and left open. */
function timedAsThere({ handler: { type } }: Entry, handler: Fields): Fields {
  const usual = kindOf({ type }).usualInClaudeCode
  return usual === undefined || handler.timeout !== undefined ? handler : { ...handler, timeout: usual }
}

/** Leaves out a timeout that equals Claude Code's default. */
function timedForClaude({ handler: { type } }: Entry, handler: Fields): Fields {
  const { timeout, ...rest } = handler
  return timeout !== undefined && timeout === kindOf({ type }).usualInClaudeCode ? rest : handler
}

function timeoutNotes(
  source: HookFile,
  hooks: readonly MovableHook[],
  direction: Direction,
): readonly Remark[] {
  if (direction === 'claude-code') return []
  return hooks.flatMap(({ entry, title }) => {
    const { timeout = 0 } = entry.handler.common
    if (timeout <= OUR_LONGEST) return []
    const why = `the timeout of ${lowered(timeout, OUR_LONGEST).text}; max_timeout in your settings may allow more`
    return [remark(source, entry, title, why)]
  })
}
