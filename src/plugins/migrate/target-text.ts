// The text of a file with more hooks in it, behind those that are there. All that others wrote stays as they wrote it.

import { isDeepStrictEqual } from 'node:util'
import { knownEvent } from '../../config/event-name.js'
import { type JsonPath, JsonText, type Spot, under } from '../../config/json-text.js'
import { isObject } from '../../core/base/json.js'
import { appended, type Edit, edited, layoutOf, pushed } from '../../hosts/json-edit.js'
import { SetupProblem } from '../../hosts/setup-problem.js'
import type { Fields } from './hook-file.js'

const MARK = '\uFEFF'
const HOOKS = under(null, 'hooks')

export interface Additions {
  /** Groups by event. */
  readonly groups: ReadonlyMap<string, readonly Fields[]>
  /** Keys beside `hooks` that the file does not have. */
  readonly keys: readonly (readonly [key: string, value: unknown])[]
}

/** Throws a SetupProblem where the file has its hooks in a form that cannot take more. */
export function withAdditions(before: string | undefined, additions: Additions, path: string): string {
  const text = before ?? ''
  if (text.replace(MARK, '').trim() === '') return (text.startsWith(MARK) ? MARK : '') + freshText(additions)
  const json = new JsonText(text)
  const parsed = json.parse()
  if ('problem' in parsed || !isObject(parsed.value)) {
    throw new SetupProblem(`${path} holds no JSON object`, 'Correct it first.')
  }
  const target = new Target(json, parsed.value, path)
  const after = edited(json.text, target.edits(additions))
  const said = new JsonText(after).parse()
  if (!('value' in said) || !isDeepStrictEqual(said.value, target.expected(additions))) {
    throw new Error('the changed file would not say what it is meant to; nothing was written')
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
        `${path}:${double.line} ${JSON.stringify(double.key)} is there twice`,
        'Keep one first.',
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

  /** By any of its names: beside the proper one the others would no longer count. */
  #keyOf(event: string): string | undefined {
    const hooks = this.#hooks ?? {}
    const key = Object.hasOwn(hooks, event)
      ? event
      : Object.keys(hooks).find((name) => knownEvent(name)?.name === event)
    if (key === undefined || Array.isArray(hooks[key])) return key
    const line = this.#json.lineOf(under(HOOKS, key))
    throw new SetupProblem(
      `${this.#path}:${line} ${JSON.stringify(key)} is not a list of groups`,
      'Correct it first.',
    )
  }

  #hooksOf(): Fields | undefined {
    const { hooks } = this.#value
    if (hooks === undefined) {
      const stray = Object.keys(this.#value).find((name) => knownEvent(name)?.name === name)
      if (stray === undefined) return undefined
      throw this.#odd(under(null, stray), `${stray} stands at the top and not under "hooks"`)
    }
    if (!isObject(hooks)) throw this.#odd(HOOKS, '"hooks" is not an object of events')
    if (hooks.hooks !== undefined) throw this.#odd(HOOKS, '"hooks" holds "hooks" again')
    return hooks
  }

  #odd(at: JsonPath, what: string): SetupProblem {
    return new SetupProblem(
      `${this.#path}:${this.#json.lineOf(at)} ${what}`,
      'Write { "hooks": { EVENT: [ … ] } } first, so that more can be added.',
    )
  }

  #spot(path: JsonPath): Spot {
    const spot = this.#json.spotOf(path)
    if (!spot) throw new Error('a value of the file stands nowhere in its text')
    return spot
  }
}
