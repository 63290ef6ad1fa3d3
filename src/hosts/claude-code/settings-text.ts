// The text of a settings.json with and without our entries. Everything else in it stays exactly as it is.

import { isDeepStrictEqual } from 'node:util'
import { JsonText, type Spot, under } from '../../config/json-text.js'
import { textOf } from '../../core/base/errors.js'
import { frozenCopy, isObject } from '../../core/base/json.js'
import { appended, type Edit, edited, layoutOf, prepended, removed } from '../json-edit.js'
import { SetupProblem } from '../setup-problem.js'
import { type Entry, isOurs } from './entries.js'

const MARK = '\uFEFF'
const HOOKS = under(null, 'hooks')

type Values = Readonly<Record<string, unknown>>
/** Whether to remove a handler. */
type IsOut = (handler: unknown) => boolean

/** The text of a new file. */
export function freshText(entries: readonly Entry[]): string {
  return `${JSON.stringify({ hooks: groupsByEvent(entries) }, null, 2)}\n`
}

/** Puts our entries first, in their order, before the existing ones. The text must not contain any of ours yet. */
export function withEntries(text: string, entries: readonly Entry[], file: string): string {
  if (text.replace(MARK, '').trim() === '') return (text.startsWith(MARK) ? MARK : '') + freshText(entries)
  const json = new JsonText(text)
  const settings = settingsIn(json, file)
  const hooks = hooksOf(settings, json, file)
  const groups = groupsByEvent(entries)
  const expected: Record<string, unknown> = { ...hooks }
  for (const [event, ours] of Object.entries(groups)) {
    expected[event] = [...ours, ...listOf(hooks, event, json, file)]
  }
  refuseDoubles(json, file)
  return checked(text, edited(json.text, additions(json, groups)), { ...settings, hooks: expected })
}

/** Also removes groups, lists and `hooks` that become empty. */
export function withoutEntries(text: string, file: string, isOut: IsOut = isOurs): string {
  if (text.replace(MARK, '').trim() === '') return text
  const json = new JsonText(text)
  const settings = settingsIn(json, file)
  const cut = new Cut(isOut)
  const rest = cut.settings(settings)
  if (rest === settings) return text
  refuseDoubles(json, file)
  return checked(text, edited(json.text, removals(json, settings, cut)), rest)
}

/** Whether two texts mean the same, whatever their layout. */
export function saysTheSame(a: string, b: string): boolean {
  const [one, other] = [new JsonText(a).parse(), new JsonText(b).parse()]
  return 'value' in one && 'value' in other && isDeepStrictEqual(one.value, other.value)
}

function groupsByEvent(entries: readonly Entry[]): Readonly<Record<string, readonly unknown[]>> {
  const groups: Record<string, readonly unknown[]> = {}
  for (const { event, group } of entries) groups[event] = [...(groups[event] ?? []), group]
  return groups
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

function additions(json: JsonText, groups: Readonly<Record<string, readonly unknown[]>>): readonly Edit[] {
  const { text } = json
  const root = spotOf(json, null)
  const layout = layoutOf(text, root)
  const hooks = json.spotOf(HOOKS)
  if (!hooks) return appended(text, root, [['hooks', groups]], layout)
  const isThere = ([event]: readonly [string, unknown]) => hooks.inside?.has(event) === true
  const all = Object.entries(groups)
  const missing = all.filter((entry) => !isThere(entry))
  return [
    ...all
      .filter(isThere)
      .flatMap(([event, ours]) => prepended(text, spotOf(json, under(HOOKS, event)), ours, layout)),
    ...(missing.length > 0 ? appended(text, hooks, missing, layout) : []),
  ]
}

function spotOf(json: JsonText, path: Parameters<JsonText['spotOf']>[0]): Spot {
  const spot = json.spotOf(path)
  if (!spot) throw new Error('a value of the settings was not found in their text')
  return spot
}

// ---- removing -------------------------------------------------------------------------------------------------

/** Computes the rest of each part: the same value if nothing is removed from it, undefined if nothing is left. */
class Cut {
  readonly #isOut: IsOut

  constructor(isOut: IsOut) {
    this.#isOut = isOut
  }

  settings(settings: Values): Values {
    if (!isObject(settings.hooks)) return settings
    const events = without(settings.hooks, this.list)
    if (events === settings.hooks) return settings
    const { hooks: _, ...rest } = settings
    return events === undefined ? rest : { ...rest, hooks: events }
  }

  readonly list = (list: unknown): unknown => (Array.isArray(list) ? fewer(list, this.group) : list)

  readonly group = (group: unknown): unknown => {
    if (!isObject(group) || !Array.isArray(group.hooks)) return group
    const hooks = fewer(group.hooks, this.handler)
    if (hooks === group.hooks) return group
    return hooks === undefined ? undefined : { ...group, hooks }
  }

  readonly handler = (handler: unknown): unknown => (this.#isOut(handler) ? undefined : handler)
}

/** Undefined if nothing is left. */
function without(hooks: Values, change: (list: unknown) => unknown): Values | undefined {
  const changed = Object.entries(hooks).map(([event, list]) => [event, list, change(list)] as const)
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
    goneFrom(text, listSpot, [...(list as readonly unknown[]).entries()], cut.group, (group, spot) => {
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
  change: (value: unknown) => unknown,
  inside?: (value: unknown, spot: Spot) => readonly Edit[],
): readonly Edit[] {
  const gone = new Set<Spot>()
  const edits: Edit[] = []
  for (const [key, value] of children) {
    const rest = change(value)
    const spot = container.inside?.get(key)
    if (!spot || rest === value) continue
    if (rest === undefined) gone.add(spot)
    else edits.push(...(inside?.(value, spot) ?? []))
  }
  return gone.size > 0 ? [...edits, ...removed(text, container, gone)] : edits
}
