// The handlers that a module exports: a default function, functions named after their events, or a list of hook() values.

import { HookError } from '../../core/base/errors.js'
import { type Data, isObject } from '../../core/base/json.js'
import { nearest, shown } from '../../core/base/text.js'
import {
  canonicalEvent,
  knownEvents,
  matcherValue,
  nearestEvent,
  resolveEvent,
} from '../../core/events/events.js'
import { type Handler, type HookDef, handlerOf } from '../../core/hooks/hook.js'
import { compileMatcher, type MatcherSpec } from '../../core/hooks/matcher.js'

export interface ExportedHandler {
  /** `*`: every event. Undefined: events without another handler. */
  readonly event: string | undefined
  /** The function as it was exported. A CommonJS module exports each one twice. */
  readonly exported: unknown
  readonly handler: Handler
  readonly matches: (data: Data) => boolean
}

type Exports = Readonly<Record<string, unknown>>

/** Throws if an export is not what its name promises, because a gate might be lost. */
export function handlersOf({ default: main, ...named }: Exports): readonly ExportedHandler[] {
  const found = [...namedHandlers(named), ...mainHandlers(main)]
  const isFirst = (one: ExportedHandler, i: number) =>
    found.findIndex(({ event, exported }) => event === one.event && exported === one.exported) === i
  return found.filter(isFirst)
}

/** The handlers that run for an event, in order. */
export function handlersFor(handlers: readonly ExportedHandler[], event: string): readonly ExportedHandler[] {
  const own = handlers.filter((one) => one.event === event || one.event === '*')
  return own.length > 0 ? own : handlers.filter((one) => one.event === undefined)
}

function mainHandlers(main: unknown): readonly ExportedHandler[] {
  if (main === undefined) return []
  if (typeof main === 'function') return [ofFunction(undefined, main)]
  if (Array.isArray(main)) return listedHandlers(main, 'default')
  if (isObject(main)) return 'event' in main ? listedHandlers([main], 'default') : namedHandlers(main)
  throw wrong(`its default export must be a function, got ${shown(main)}`)
}

function namedHandlers(exports: Exports): readonly ExportedHandler[] {
  return Object.entries(exports).flatMap(([name, value]) => {
    if (name === 'hooks') return listedHandlers(value, name)
    const event = /[A-Z_]/.test(name) ? canonicalEvent(name) : undefined
    if (event === undefined) {
      checkSpelling(name, value)
      return []
    }
    if (typeof value === 'function') return [ofFunction(event, value)]
    throw wrong(`its export ${name} must be a function, got ${shown(value)}`)
  })
}

/** A misspelt event would be a gate that lets everything pass. */
function checkSpelling(name: string, value: unknown): void {
  if (typeof value !== 'function' || !/^[A-Z]/.test(name)) return
  const names = knownEvents().map((kind) => kind.name)
  const meant = nearest(name, names)
  if (meant !== undefined) throw wrong(`it exports ${name}, which is not an event; did you mean ${meant}?`)
}

function listedHandlers(list: unknown, name: string): readonly ExportedHandler[] {
  if (!Array.isArray(list)) throw wrong(`its export ${name} must be a list of hooks, got ${shown(list)}`)
  return list.map((one: unknown, i) => {
    if (isObject(one) && typeof one.event === 'string') {
      const { handler, callback, matcher } = one
      const run = typeof handler === 'function' ? handler : callback
      if (typeof run === 'function') return ofHook(one as Exports & { readonly event: string }, run, matcher)
    }
    throw wrong(`item ${i + 1} of its export ${name} must be { event, handler, matcher? }, got ${shown(one)}`)
  })
}

function ofFunction(event: string | undefined, exported: object): ExportedHandler {
  return { event, exported, handler: exported as Handler, matches: () => true }
}

/** A value of hook(), or the same with a `handler`, which gets (event, data, context). */
function ofHook(one: { readonly event: string }, exported: object, matcher: unknown): ExportedHandler {
  const isHandler = 'handler' in one && one.handler === exported
  const handler = isHandler ? (exported as Handler) : (handlerOf(one as HookDef) as unknown as Handler)
  const event = one.event === '*' ? '*' : canonicalEvent(one.event)
  if (event === undefined) throw wrong(`it lists the event ${shown(one.event)}${suggestion(one.event)}`)
  const kind = resolveEvent(event)
  const compiled = compileMatcher(matcher as MatcherSpec, { narrow: kind.narrowMatcher })
  const matches = (data: Data) => compiled === null || compiled.test(matcherValue(kind, data))
  return { event, exported, handler, matches: kind.matcher === null ? () => true : matches }
}

function suggestion(event: string): string {
  const meant = nearestEvent(event)
  return meant === undefined ? ', which is not known' : `, which is not known; did you mean ${meant}?`
}

function wrong(text: string): HookError {
  return new HookError('HOOK_NOT_STARTED', text, { hint: FORMS })
}

/** What a module may export. */
export const FORMS =
  'Export a default function (event, data, context), or functions named after their events, such as PreToolUse.'
