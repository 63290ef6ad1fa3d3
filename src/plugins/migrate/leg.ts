// One file on its way: which of its hooks can go, in the terms of the other side, and what stays with the reason.

import { loweredText } from '../../config/configured-hook.js'
import type { Entry } from '../../config/hook-group.js'
import { under } from '../../config/json-text.js'
import { DEFAULT_MERGED } from '../../config/merged-settings.js'
import { CLAUDE_KEYS } from '../../config/reach-settings.js'
import type { DiagnosticCode } from '../../core/base/errors.js'
import { canonicalJson, isObject, type Json } from '../../core/base/json.js'
import { plainText, shown } from '../../core/base/text.js'
import { isOurs } from '../../hosts/claude-code/entries.js'
import { claudeProblem, inClaudeTerms, type Translated } from './claude-terms.js'
import { type Fields, groupAt, type HookFile, titleOf, valueAt } from './hook-file.js'
import type { Direction, Leg, Route } from './route.js'

/** Something of a file, and what is to be said about it. */
export interface Remark {
  /** Of a diagnostic of the file, whose text says what is meant. */
  readonly code?: DiagnosticCode
  readonly what?: string
  readonly why: string
  readonly file: string
  readonly line: number
}

/** A hook that can go. */
export interface Passenger extends Translated {
  readonly entry: Entry
  readonly event: string
  readonly title: string
  /** The same text for the same hook of the same event. */
  readonly key: string
}

export interface Manifest {
  readonly passengers: readonly Passenger[]
  /** Keys beside `hooks` that mean the same on the other side. */
  readonly keys: readonly (readonly [key: string, value: unknown])[]
  readonly left: readonly Remark[]
  readonly notes: readonly Remark[]
}

/** What is said of entries that are no hooks; all else is said of hooks, which go as they are. */
const LEFT_OUT: ReadonlySet<DiagnosticCode> = new Set<DiagnosticCode>([
  'entry-invalid',
  'entry-unsupported',
  'unknown-event',
  'config-invalid',
])

export function isLeftOut(code: DiagnosticCode): boolean {
  return LEFT_OUT.has(code)
}

export function manifestOf(source: HookFile, leg: Leg, route: Route): Manifest {
  const { direction } = route
  const left: Remark[] = []
  const notes: Remark[] = []
  const remarks = remarksOn(source.contents.entries)
  for (const { code, text, file = source.file.path, line = 1 } of source.diagnostics) {
    const isLeft = isLeftOut(code) && !remarks.has(text)
    ;(isLeft ? left : notes).push({ code, why: text, file, line })
  }
  const passengers: Passenger[] = []
  for (const entry of source.contents.entries) {
    const passenger = board(entry, source, route)
    if ('problem' in passenger) left.push(remark(source, entry, titleOf(entry), passenger.problem))
    else passengers.push(passenger)
  }
  for (const process of source.contents.processes) {
    left.push(remark(source, process, `the process ${process.key}`, PROCESS[direction]))
  }
  const keys = keysOf(source, leg, direction, left)
  notes.push(...timeoutNotes(source, passengers, direction))
  if (direction === 'carabiner') left.push(...elsewhere(source, passengers.length > 0))
  return { passengers, keys, left, notes }
}

/** What is said of hooks that were read otherwise than they stand there: they go all the same. */
function remarksOn(entries: readonly Entry[]): ReadonlySet<string> {
  const texts = entries.flatMap(({ name, handler: { remark: said } }) =>
    said ? [plainText(`${name}: ${said.problem}`)] : [],
  )
  return new Set(texts)
}

const PROCESS: Readonly<Record<Direction, string>> = {
  'claude-code': 'Claude Code keeps no process running for hooks',
  carabiner: 'it is no hook of Claude Code; move it by hand',
}

interface Place {
  readonly at: Entry['at']
}

function remark({ config }: HookFile, { at }: Place, what: string, why: string): Remark {
  return { what, why, file: config.path, line: config.json.lineOf(at) }
}

// ---- hooks ----------------------------------------------------------------------------------------------------

function board(entry: Entry, { value }: HookFile, route: Route): Passenger | { readonly problem: string } {
  const handler = valueAt(value, entry.at) as Fields
  // `fire` among the hooks that it runs would run itself without end.
  if (isOurs(handler)) return { problem: 'carabiner setup put it there, and takes it out again' }
  const written = valueAt(value, groupAt(entry)) as Fields
  const group = withoutEvent(written)
  if (route.direction === 'carabiner') return passengerOf(entry, { group, handler })
  const problem = claudeProblem(entry, written, value.matching === 'fullmatch')
  if (problem !== undefined) return { problem }
  const translated = inClaudeTerms({ group, handler }, route)
  return 'problem' in translated ? translated : passengerOf(entry, translated)
}

/** In a list of `{ event, … }` each group says for which it is; elsewhere it stands under its event. */
function withoutEvent(group: Fields): Fields {
  return Object.fromEntries(Object.entries(group).filter(([key]) => key !== 'event'))
}

function passengerOf(entry: Entry, translated: Translated): Passenger {
  const event = entry.event.name
  const key = keyOf(event, translated)
  return { ...translated, entry, event, title: titleOf(entry), key }
}

/** Remarks on the group do not make it another hook. */
function keyOf(event: string, { group, handler }: Translated): string {
  const { matcher = '', sequential = false } = group
  return canonicalJson([event, matcher === '*' ? '' : matcher, sequential, handler] as Json)
}

/** The hooks that a file has, as keys. */
export function keysIn({ contents, value }: HookFile): readonly string[] {
  return contents.entries.map((entry) => {
    const group = valueAt(value, groupAt(entry)) as Fields
    return keyOf(entry.event.name, { group, handler: valueAt(value, entry.at) as Fields })
  })
}

// ---- keys beside the hooks ------------------------------------------------------------------------------------

const CARRIED_KEYS: readonly string[] = ['disableAllHooks', ...Object.keys(CLAUDE_KEYS)]

function keysOf(source: HookFile, leg: Leg, direction: Direction, left: Remark[]): Manifest['keys'] {
  const { value, contents } = source
  const keys: (readonly [string, unknown])[] = []
  for (const key of CARRIED_KEYS.filter((one) => value[one] !== undefined)) {
    // A plugin of the project holds what is private, and may not speak for others.
    if (leg.isPrivate) left.push(remark(source, { at: under(null, key) }, JSON.stringify(key), PRIVATE_KEY))
    else keys.push([key, value[key]])
  }
  if (direction === 'claude-code') {
    for (const { key, at } of contents.settings.filter(({ at: place }) => place?.parent !== null)) {
      left.push(
        remark(source, { at }, `the setting ${JSON.stringify(key)}`, 'Claude Code has no setting like it'),
      )
    }
  }
  return keys
}

const PRIVATE_KEY = 'it is said in your private settings of the project, which have no place for it here'

/** What else of Claude Code's settings hooks may count on. */
function elsewhere(source: HookFile, hasHooks: boolean): readonly Remark[] {
  const { env, enabledPlugins } = source.value
  const remarks: Remark[] = []
  if (hasHooks && isObject(env) && Object.keys(env).length > 0) {
    const names = Object.keys(env).map(shown).join(', ')
    const why = `Claude Code sets ${names} for its hooks; a hook that needs one must set it itself`
    remarks.push(remark(source, { at: under(null, 'env') }, '"env"', why))
  }
  for (const [name, isOn] of isObject(enabledPlugins) ? Object.entries(enabledPlugins) : []) {
    if (isOn !== true) continue
    const why = 'it has files of its own: carabiner migrate DIR, with the folder of the plugin'
    remarks.push(
      remark(source, { at: under(under(null, 'enabledPlugins'), name) }, `the plugin ${shown(name)}`, why),
    )
  }
  return remarks
}

// ---- time-outs ------------------------------------------------------------------------------------------------

/** Claude Code's, in seconds, where a hook says nothing. */
const CLAUDE_TIMEOUT = 600
const { default_timeout: OUR_TIMEOUT, max_timeout: OUR_LONGEST } = DEFAULT_MERGED

function timeoutNotes(
  source: HookFile,
  passengers: readonly Passenger[],
  direction: Direction,
): readonly Remark[] {
  const silent = passengers.filter(
    ({ entry: { handler } }) =>
      handler.common.timeout === undefined && handler.type !== 'prompt' && handler.type !== 'agent',
  )
  const notes: Remark[] = []
  const [first] = silent
  if (first) {
    const [here, there] =
      direction === 'carabiner' ? [OUR_TIMEOUT, CLAUDE_TIMEOUT] : [CLAUDE_TIMEOUT, OUR_TIMEOUT]
    const why = `${silent.length} without "timeout": at most ${here} seconds where they go, ${there} where they come from`
    notes.push(remark(source, first.entry, 'time-outs', why))
  }
  if (direction === 'claude-code') return notes
  for (const { entry, title } of passengers) {
    const { timeout = 0 } = entry.handler.common
    if (timeout <= OUR_LONGEST) continue
    const why = `the time-out of ${loweredText(timeout, OUR_LONGEST)}; max_timeout in your settings may allow more`
    notes.push(remark(source, entry, title, why))
  }
  return notes
}
