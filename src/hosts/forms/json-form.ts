// Our entries in a JSON file with lists of hooks by event. Everything else in it stays exactly as it is.

import { isDeepStrictEqual } from 'node:util'
import { textOf } from '../../core/base/errors.js'
import { frozenCopy, isObject } from '../../core/base/json.js'
import { type JsonPath, JsonText, type Spot, under } from '../../files/json-text.js'
import {
  type Entry,
  type Form,
  type FormCommand,
  type HostSetup,
  type IsOut,
  ownNames,
} from '../host-setup.js'
import { ownCommand } from '../own-command.js'
import { SetupProblem } from '../setup-problem.js'
import { appended, type Edit, edited, layoutOf, prepended, pushed, removed } from './json-edit.js'

const MARK = '\uFEFF'
const HOOKS = under(null, 'hooks')

type Values = Readonly<Record<string, unknown>>

export interface JsonLists {
  readonly events: HostSetup['events']
  /** One of our entries: a group with a list `hooks`, or a handler. */
  readonly item: (entry: Entry) => unknown
  /** Keys that a new file has beside `hooks`. */
  readonly top?: Values
  /** Where our entries stand among others. Default: first. */
  readonly where?: 'first' | 'last'
  /** Keys of `hooks` that are no events, and that our entries need. Where there is another value, it stays. */
  readonly flags?: Values
}

export function jsonForm(lists: JsonLists): Form {
  return {
    put: (text, entries, { file }) =>
      text === undefined ? freshText(lists, entries) : withEntries(lists, text, entries, file),
    take: (text, file, isOut) => withoutEntries(lists, text, file, isOut),
    isBare: (text) => isBare(text, lists.top),
    commands: commandsIn,
    isSame,
  }
}

export interface GroupShape {
  /** How many of the host's units a second has. */
  readonly unit: 1 | 1000
  /** Fields that every group has. */
  readonly group?: Values
  /** Fields that every handler has. */
  readonly handler?: Values
}

/** An item in Claude Code's layout. */
export function groupItem({ unit, group, handler }: GroupShape): JsonLists['item'] {
  return ({ command, timeout }) => ({
    ...group,
    hooks: [
      {
        type: 'command',
        ...handler,
        command,
        ...(timeout !== undefined && { timeout: Math.ceil(timeout * unit) }),
      },
    ],
  })
}

/** Whether it has nothing but the keys of a new file. */
function isBare(text: string, top: Values = {}): boolean {
  const parsed = new JsonText(text).parse()
  return 'value' in parsed && isDeepStrictEqual(parsed.value, top)
}

function freshText({ top, flags, ...lists }: JsonLists, entries: readonly Entry[]): string {
  return `${JSON.stringify({ ...top, hooks: { ...flags, ...itemsByEvent(lists, entries) } }, null, 2)}\n`
}

/** The text must not contain any of ours yet. */
function withEntries(lists: JsonLists, text: string, entries: readonly Entry[], file: string): string {
  if (text.replace(MARK, '').trim() === '')
    return (text.startsWith(MARK) ? MARK : '') + freshText(lists, entries)
  const json = new JsonText(text)
  const settings = settingsIn(json, file)
  const hooks = hooksOf(settings, json, file)
  const items = itemsByEvent(lists, entries)
  const isFirst = lists.where !== 'last'
  const flags = Object.entries(lists.flags ?? {}).filter(([key]) => !Object.hasOwn(hooks, key))
  const expected: Record<string, unknown> = { ...hooks, ...Object.fromEntries(flags) }
  for (const [event, ours] of Object.entries(items)) {
    const theirs = listOf(hooks, event, json, file)
    expected[event] = isFirst ? [...ours, ...theirs] : [...theirs, ...ours]
  }
  refuseDoubles(json, file)
  return checked(text, edited(json.text, additions(json, items, isFirst, flags)), {
    ...settings,
    hooks: expected,
  })
}

/** Also removes groups, lists and `hooks` that become empty, and flags that no entry of ours needs any more. */
function withoutEntries({ flags }: JsonLists, text: string, file: string, isOut: IsOut): string {
  if (text.replace(MARK, '').trim() === '') return text
  const json = new JsonText(text)
  const settings = settingsIn(json, file)
  const commands = commandsIn(text)
  const isLast = commands.some(isOut) && !commands.some((one) => ownCommand(one) && !isOut(one))
  const cut = new Cut(isOut, isLast ? flags : undefined)
  const rest = cut.settings(settings)
  if (rest === settings) return text
  refuseDoubles(json, file)
  return checked(text, edited(json.text, removals(json, settings, cut)), rest)
}

/** Whether two texts mean the same, whatever their layout. */
function isSame(a: string, b: string): boolean {
  const [one, other] = [new JsonText(a).parse(), new JsonText(b).parse()]
  return 'value' in one && 'value' in other && isDeepStrictEqual(one.value, other.value)
}

function itemsByEvent(
  lists: JsonLists,
  entries: readonly Entry[],
): Readonly<Record<string, readonly unknown[]>> {
  const items: Record<string, readonly unknown[]> = {}
  for (const entry of entries) {
    for (const name of ownNames(lists, entry.event)) items[name] = [...(items[name] ?? []), lists.item(entry)]
  }
  return items
}

/** The last check: unless the new text means exactly what it should, the file is not written. */
function checked(before: string, after: string, expected: unknown): string {
  const parsed = new JsonText(after).parse()
  if (!('value' in parsed) || !isDeepStrictEqual(parsed.value, expected)) {
    throw new Error('the changed settings would be wrong; nothing was written')
  }
  return before.startsWith(MARK) ? MARK + after : after
}

// ---- reading --------------------------------------------------------------------------------------------------

function settingsIn(json: JsonText, file: string): Values {
  const parsed = json.parse()
  if ('problem' in parsed) {
    throw new SetupProblem(`${file}:${parsed.line} is not valid JSON: ${parsed.problem}`, 'Correct it first.')
  }
  if (!isObject(parsed.value)) {
    throw new SetupProblem(`${file} is not a JSON object`, 'Settings are an object: { … }. Correct it first.')
  }
  try {
    frozenCopy(parsed.value, file)
  } catch (error) {
    // It is nested too deeply, or too large.
    throw new SetupProblem(textOf(error), 'It was not changed.')
  }
  return parsed.value
}

/** Which of the two counts is not for us to decide, and removing one would bring back the other. */
function refuseDoubles(json: JsonText, file: string): void {
  const [double] = json.doubleKeys()
  if (!double) return
  throw new SetupProblem(
    `${file}:${double.line} ${JSON.stringify(double.key)} is there twice`,
    'Remove one of them first.',
  )
}

function hooksOf(settings: Values, json: JsonText, file: string): Values {
  if (!Object.hasOwn(settings, 'hooks')) return {}
  if (isObject(settings.hooks)) return settings.hooks
  throw new SetupProblem(
    `${file}:${json.lineOf(HOOKS)} "hooks" is not an object`,
    'Correct or remove it first.',
  )
}

function listOf(hooks: Values, event: string, json: JsonText, file: string): readonly unknown[] {
  if (!Object.hasOwn(hooks, event)) return []
  const list = hooks[event]
  if (Array.isArray(list)) return list
  const line = json.lineOf(under(HOOKS, event))
  throw new SetupProblem(`${file}:${line} "${event}" is not a list`, 'Correct or remove it first.')
}

// ---- adding ---------------------------------------------------------------------------------------------------

function additions(
  json: JsonText,
  items: Readonly<Record<string, readonly unknown[]>>,
  isFirst: boolean,
  flags: readonly (readonly [string, unknown])[],
): readonly Edit[] {
  const added = isFirst ? prepended : pushed
  const { text } = json
  const root = spotOf(json, null)
  const layout = layoutOf(text, root)
  const hooks = json.spotOf(HOOKS)
  if (!hooks) return appended(text, root, [['hooks', { ...Object.fromEntries(flags), ...items }]], layout)
  const isThere = ([event]: readonly [string, unknown]) => hooks.inside?.has(event) === true
  const all = Object.entries(items)
  const missing = [...flags, ...all.filter((entry) => !isThere(entry))]
  return [
    ...all
      .filter(isThere)
      .flatMap(([event, ours]) => added(text, spotOf(json, under(HOOKS, event)), ours, layout)),
    ...(missing.length > 0 ? appended(text, hooks, missing, layout) : []),
  ]
}

function spotOf(json: JsonText, path: Parameters<JsonText['spotOf']>[0]): Spot {
  const spot = json.spotOf(path)
  if (!spot) throw new Error('a value of the settings was not found in their text')
  return spot
}

/** Reads whatever it can. */
function commandsIn(text: string): readonly FormCommand[] {
  const json = new JsonText(text)
  const parsed = json.parse()
  const hooks = 'value' in parsed && isObject(parsed.value) ? parsed.value.hooks : undefined
  return Object.entries(isObject(hooks) ? hooks : {}).flatMap(([event, list]) =>
    itemsOf(list, under(HOOKS, event))
      .flatMap(([item, at]) =>
        isObject(item) && Array.isArray(item.hooks)
          ? itemsOf(item.hooks, under(at, 'hooks'))
          : [[item, at] as const],
      )
      .flatMap(([handler, at]) => {
        if (!isObject(handler)) return []
        const key = typeof handler.command === 'string' ? 'command' : 'bash'
        const command = handler[key]
        return typeof command === 'string' ? [{ command, event, line: json.lineOf(under(at, key)) }] : []
      }),
  )
}

function itemsOf(list: unknown, at: JsonPath): readonly (readonly [item: unknown, at: JsonPath])[] {
  return Array.isArray(list) ? list.map((item, i) => [item, under(at, i)] as const) : []
}

// ---- removing -------------------------------------------------------------------------------------------------

/** Computes the rest of each part: the same value if nothing is removed from it, undefined if nothing is left. */
class Cut {
  readonly #isOut: IsOut
  readonly #flags: Values

  constructor(isOut: IsOut, flags: Values = {}) {
    this.#isOut = isOut
    this.#flags = flags
  }

  settings(settings: Values): Values {
    if (!isObject(settings.hooks)) return settings
    const events = without(settings.hooks, this.list)
    if (events === settings.hooks) return settings
    const { hooks: _, ...rest } = settings
    return events === undefined ? rest : { ...rest, hooks: events }
  }

  readonly list = (list: unknown, key: string | number): unknown => {
    if (Array.isArray(list)) return fewer(list, this.item)
    return Object.hasOwn(this.#flags, key) && this.#flags[key] === list ? undefined : list
  }

  /** A group, or a handler where the host has no groups. */
  readonly item = (group: unknown): unknown => {
    if (!isObject(group)) return group
    if (!Array.isArray(group.hooks)) return this.handler(group)
    const hooks = fewer(group.hooks, this.handler)
    if (hooks === group.hooks) return group
    return hooks === undefined ? undefined : { ...group, hooks }
  }

  readonly handler = (handler: unknown): unknown => (this.#isOut(handler) ? undefined : handler)
}

/** Undefined if nothing is left. */
function without(hooks: Values, change: Cut['list']): Values | undefined {
  const changed = Object.entries(hooks).map(([event, list]) => [event, list, change(list, event)] as const)
  if (changed.every(([, list, rest]) => list === rest)) return hooks
  const left = changed.flatMap(([event, , rest]) => (rest === undefined ? [] : [[event, rest] as const]))
  return left.length > 0 ? Object.fromEntries(left) : undefined
}

function fewer(list: readonly unknown[], change: (item: unknown) => unknown): readonly unknown[] | undefined {
  const changed = list.map(change)
  if (changed.every((item, i) => item === list[i])) return list
  const left = changed.filter((item) => item !== undefined)
  return left.length > 0 ? left : undefined
}

/** The same removals in the text, each as far out as possible. */
function removals(json: JsonText, settings: Values, cut: Cut): readonly Edit[] {
  const { text } = json
  const hooks = spotOf(json, HOOKS)
  const values = settings.hooks as Values
  if (without(values, cut.list) === undefined) return removed(text, spotOf(json, null), new Set([hooks]))
  return goneFrom(text, hooks, Object.entries(values), cut.list, (list, listSpot) =>
    goneFrom(text, listSpot, [...(list as readonly unknown[]).entries()], cut.item, (group, spot) => {
      const handlers = (group as { readonly hooks: readonly unknown[] }).hooks
      const own = spot.inside?.get('hooks')
      return own ? goneFrom(text, own, [...handlers.entries()], cut.handler) : []
    }),
  )
}

/** Removes children that become empty, and descends into the others. */
function goneFrom(
  text: string,
  container: Spot,
  children: readonly (readonly [key: string | number, value: unknown])[],
  change: (value: unknown, key: string | number) => unknown,
  inside?: (value: unknown, spot: Spot) => readonly Edit[],
): readonly Edit[] {
  const gone = new Set<Spot>()
  const edits: Edit[] = []
  for (const [key, value] of children) {
    const rest = change(value, key)
    const spot = container.inside?.get(key)
    if (!spot || rest === value) continue
    if (rest === undefined) gone.add(spot)
    else edits.push(...(inside?.(value, spot) ?? []))
  }
  return gone.size > 0 ? [...edits, ...removed(text, container, gone)] : edits
}
