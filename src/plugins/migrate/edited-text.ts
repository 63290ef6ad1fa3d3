// The text of a file with hooks added or taken out. Everything else stays byte for byte.

import { posix } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { knownEvent } from '../../config/stray-names.js'
import { isObject } from '../../core/base/json.js'
import { type JsonPath, JsonText, type Spot, under } from '../../files/json-text.js'
import { appended, type Edit, edited, layoutOf, pushed, removed } from '../../hosts/forms/json-edit.js'
import { SetupProblem } from '../../hosts/setup-problem.js'
import type { Fields } from './migration-files.js'

const MARK = '\uFEFF'
const HOOKS = under(null, 'hooks')

export interface Additions {
  /** Groups by event. */
  readonly groups: ReadonlyMap<string, readonly Fields[]>
  /** Keys beside `hooks` that the file does not have. */
  readonly keys: readonly (readonly [key: string, value: unknown])[]
}

/** Adds hooks after those already there. Throws a SetupProblem if the file's form cannot take more. */
export function withAdditions(before: string | undefined, additions: Additions, path: string): string {
  const text = before ?? ''
  if (text.replace(MARK, '').trim() === '') return (text.startsWith(MARK) ? MARK : '') + freshText(additions)
  const json = new JsonText(text)
  const parsed = json.parse()
  if ('problem' in parsed || !isObject(parsed.value)) {
    throw new SetupProblem(`${path} is not a JSON object`, 'Fix it first.')
  }
  const target = new Target(json, parsed.value, path)
  const after = edited(json.text, target.edits(additions))
  const said = new JsonText(after).parse()
  if (!('value' in said) || !isDeepStrictEqual(said.value, target.expected(additions))) {
    throw new Error('the changed file would not mean what it should; nothing was written')
  }
  return text.startsWith(MARK) ? MARK + after : after
}

function freshText({ groups, keys }: Additions): string {
  const value = { ...Object.fromEntries(keys), hooks: Object.fromEntries(groups) }
  return `${JSON.stringify(value, null, 2)}\n`
}

class Target {
  readonly #json: JsonText
  readonly #value: Fields
  readonly #hooks: Fields | undefined
  readonly #path: string

  constructor(json: JsonText, value: Fields, path: string) {
    this.#json = json
    this.#value = value
    this.#path = path
    const [double] = json.doubleKeys()
    if (double) {
      throw new SetupProblem(
        `${path}:${double.line} ${JSON.stringify(double.key)} occurs twice`,
        'Remove one of them first.',
      )
    }
    this.#hooks = this.#hooksOf()
  }

  edits({ groups, keys }: Additions): readonly Edit[] {
    const { text } = this.#json
    const root = this.#spot(null)
    const layout = layoutOf(text, root)
    if (this.#hooks === undefined) {
      const all = [...keys, ...(groups.size > 0 ? [['hooks', Object.fromEntries(groups)] as const] : [])]
      return all.length > 0 ? appended(text, root, all, layout) : []
    }
    const missing = [...groups].filter(([event]) => this.#keyOf(event) === undefined)
    const there = [...groups].flatMap(([event, list]) => {
      const key = this.#keyOf(event)
      return key === undefined ? [] : [[key, list] as const]
    })
    return [
      ...there.flatMap(([key, list]) => pushed(text, this.#spot(under(HOOKS, key)), list, layout)),
      ...(missing.length > 0 ? appended(text, this.#spot(HOOKS), missing, layout) : []),
      ...(keys.length > 0 ? appended(text, root, keys, layout) : []),
    ]
  }

  expected({ groups, keys }: Additions): Fields {
    const hooks: Record<string, unknown> = { ...this.#hooks }
    for (const [event, list] of groups) {
      const key = this.#keyOf(event) ?? event
      hooks[key] = [...((hooks[key] as readonly unknown[] | undefined) ?? []), ...list]
    }
    const isNew = this.#hooks === undefined && groups.size === 0
    return { ...this.#value, ...Object.fromEntries(keys), ...(isNew ? {} : { hooks }) }
  }

  /** Finds the event under any of its names: once its proper name is there, entries under the others would be ignored. */
  #keyOf(event: string): string | undefined {
    const hooks = this.#hooks ?? {}
    const key = Object.hasOwn(hooks, event)
      ? event
      : Object.keys(hooks).find((name) => knownEvent(name)?.name === event)
    if (key === undefined || Array.isArray(hooks[key])) return key
    const line = this.#json.lineOf(under(HOOKS, key))
    throw new SetupProblem(
      `${this.#path}:${line} ${JSON.stringify(key)} is not a list of groups`,
      'Fix it first.',
    )
  }

  #hooksOf(): Fields | undefined {
    const { hooks } = this.#value
    if (hooks === undefined) {
      const stray = Object.keys(this.#value).find((name) => knownEvent(name)?.name === name)
      if (stray === undefined) return undefined
      throw this.#odd(under(null, stray), `${stray} is at the top level instead of under "hooks"`)
    }
    if (!isObject(hooks)) throw this.#odd(HOOKS, '"hooks" is not an object of events')
    if (hooks.hooks !== undefined) throw this.#odd(HOOKS, '"hooks" contains another "hooks"')
    return hooks
  }

  #odd(at: JsonPath, what: string): SetupProblem {
    return new SetupProblem(
      `${this.#path}:${this.#json.lineOf(at)} ${what}`,
      'Change it to { "hooks": { EVENT: [ … ] } } first, so that more hooks can be added.',
    )
  }

  #spot(path: JsonPath): Spot {
    const spot = this.#json.spotOf(path)
    if (!spot) throw new Error('a value of the file was not found in its text')
    return spot
  }
}

// ---- hooks taken out ------------------------------------------------------------------------------------------

/** `handlers` are the places of the hooks to take out. Groups, events and `hooks` that become empty go too. */
export function withoutHandlers(text: string, handlers: readonly JsonPath[], path: string): string {
  const json = new JsonText(text)
  const [double] = json.doubleKeys()
  if (double) {
    throw new SetupProblem(
      `${path}:${double.line} ${JSON.stringify(double.key)} occurs twice, and removing one would bring back the other`,
      'Remove one of them first.',
    )
  }
  const gone = new Gone(json)
  for (const at of handlers) gone.takeHandler(at)
  const after = edited(json.text, gone.edits())
  return text.startsWith(MARK) ? MARK + after : after
}

class Gone {
  readonly #json: JsonText
  readonly #spots = new Set<Spot>()
  /** For each part taken out, its container and the place of the container. */
  readonly #parents = new Map<Spot, readonly [container: Spot, at: JsonPath]>()

  constructor(json: JsonText) {
    this.#json = json
  }

  /** Takes its group too, if this was the last hook in it. */
  takeHandler(at: JsonPath): void {
    const list = this.#mark(at)
    if (this.#isEmptied(list)) this.#take(at?.parent?.parent ?? null)
  }

  #take(at: JsonPath): void {
    const container = this.#mark(at)
    if (at?.parent && this.#isEmptied(container)) this.#take(at.parent)
  }

  /** Returns the container. */
  #mark(at: JsonPath): Spot {
    const spot = this.#json.spotOf(at)
    const container = at && this.#json.spotOf(at.parent)
    if (!at || !spot || !container) throw new Error('a hook of the file was not found in its text')
    this.#spots.add(spot)
    this.#parents.set(spot, [container, at.parent])
    return container
  }

  /** Leaves out parts inside something that is taken out itself. */
  edits(): readonly Edit[] {
    const containers = new Map<Spot, Set<Spot>>()
    for (const [spot, [container, at]] of this.#parents) {
      if (this.#isInsideGone(at)) continue
      const children = containers.get(container) ?? new Set()
      containers.set(container, children.add(spot))
    }
    return [...containers].flatMap(([container, children]) => removed(this.#json.text, container, children))
  }

  #isEmptied({ inside }: Spot): boolean {
    return [...(inside?.values() ?? [])].every((child) => this.#spots.has(child))
  }

  #isInsideGone(at: JsonPath): boolean {
    for (let one = at; one !== null; one = one.parent) {
      const spot = this.#json.spotOf(one)
      if (spot && this.#spots.has(spot)) return true
    }
    return false
  }
}

// ---- plugin.json for Claude Code ------------------------------------------------------------------------------

/** Undefined if there is no file or it cannot be read. An unreadable file is reported when its hooks are read. */
export function manifestValue(text: string | undefined): Fields | undefined {
  if (text === undefined) return undefined
  const parsed = new JsonText(text).parse()
  return 'value' in parsed && isObject(parsed.value) ? parsed.value : undefined
}

/** Adds a name, which Claude Code requires, and drops hooks.json, which has moved to where Claude Code looks anyway. */
export function manifestFor(text: string | undefined, name: string, said: Fields): string {
  if (text === undefined) return `${JSON.stringify({ name, ...said }, null, 2)}\n`
  return manifestValue(text) ? named(withoutMoved(text), name) : text
}

/** Other hooks that it names stay. */
function withoutMoved(text: string): string {
  const json = new JsonText(text)
  const { hooks } = manifestValue(text) ?? {}
  const [root, spot] = [json.spotOf(null), json.spotOf(under(null, 'hooks'))]
  const parts: readonly unknown[] = Array.isArray(hooks) ? hooks : [hooks]
  const moved = parts.flatMap((part, i) => (isMoved(part) ? [i] : []))
  if (!root || !spot || moved.length === 0) return text
  if (moved.length === parts.length) return edited(json.text, removed(json.text, root, new Set([spot])))
  const gone = moved.flatMap((i) => spot.inside?.get(i) ?? [])
  return edited(json.text, removed(json.text, spot, new Set(gone)))
}

function isMoved(part: unknown): boolean {
  return typeof part === 'string' && posix.normalize(part) === 'hooks.json'
}

function named(text: string, name: string): string {
  const json = new JsonText(text)
  const value = manifestValue(text)
  const root = json.spotOf(null)
  if (!root || typeof value?.name === 'string') return text
  const wrong = root.inside?.get('name')
  const edits = wrong
    ? [{ at: wrong.at, end: wrong.end, text: JSON.stringify(name) }]
    : appended(json.text, root, [['name', name]], layoutOf(json.text, root))
  return edited(json.text, edits)
}
