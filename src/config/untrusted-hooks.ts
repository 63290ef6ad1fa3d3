// Hooks that may not run. They are listed and reported, but a project full of them must not slow down every call.

import { isGuard } from '../core/hooks/gate.js'
import { expandedLength, isExactList, type Matcher } from '../core/hooks/matcher.js'
import type { ConfiguredHook } from './configured-hook.js'
import { matchingAll } from './matchers.js'

/** So many characters of their patterns, with repeats expanded, are compiled, for all files together. */
const MOST_COMPILED = 20_000
/** So many hooks of an event that may not run are reported one by one, for all units together. */
export const MOST_TOLD = 300

export class UntrustedHooks {
  /** Patterns that were counted already. */
  readonly #patterns = new Set<string>()
  #compiled = 0
  /** How many hooks of each event there are. */
  readonly #told = new Map<string, number>()

  /** Call it before all units are read again. */
  begin(): void {
    this.#told.clear()
    this.#patterns.clear()
    this.#compiled = 0
  }

  /** The hooks of one unit. Beyond the limit, one hook stands for all that are alike. */
  listed(specs: readonly ConfiguredHook[]): readonly ConfiguredHook[] {
    return abridged(
      specs.map((spec) => this.#withinBudget(spec)),
      this.#told,
    )
  }

  /** Beyond the budget, a pattern is not worth compiling: the hook then counts as one that would run. */
  #withinBudget(spec: ConfiguredHook): ConfiguredHook {
    const { matcher } = spec.hook
    if (matcher === null || isExactList(matcher.pattern)) return spec
    if (!this.#patterns.has(matcher.pattern)) {
      this.#patterns.add(matcher.pattern)
      this.#compiled += expandedLength(matcher.pattern)
    }
    if (this.#compiled <= MOST_COMPILED) return spec
    return { ...spec, hook: { ...spec.hook, matcher: matchingAll(matcher.pattern) } } as ConfiguredHook
  }
}

/** `told` counts the hooks of each event. */
function abridged(specs: readonly ConfiguredHook[], told: Map<string, number>): readonly ConfiguredHook[] {
  const kept: ConfiguredHook[] = []
  const rest = new Map<string, [ConfiguredHook, ...ConfiguredHook[]]>()
  for (const spec of specs) {
    const event = spec.type === 'process' ? spec.type : [...spec.hook.events].join()
    const count = (told.get(event) ?? 0) + 1
    told.set(event, count)
    if (count <= MOST_TOLD) {
      kept.push(spec)
      continue
    }
    const key = `${event} ${isGuard(spec.hook)} ${spec.disabled !== undefined}`
    const alike = rest.get(key)
    if (alike) alike.push(spec)
    else rest.set(key, [spec])
  }
  return rest.size === 0 ? specs : [...kept, ...[...rest.values()].map(standingFor)]
}

/** The first of them, for what any of them would be asked. It leaves out `if`: it may match more, never less. */
function standingFor(specs: readonly [ConfiguredHook, ...ConfiguredHook[]]): ConfiguredHook {
  const [first] = specs
  if (specs.length === 1) return first
  const hook = {
    ...first.hook,
    name: `${first.hook.name} and ${specs.length - 1} more`,
    matcher: anyOf(specs.map((spec) => spec.hook.matcher)),
    condition: undefined,
    standsForMany: true,
  }
  if (first.type !== 'process') return { ...first, hook } as ConfiguredHook
  const handlers = specs.flatMap((spec) => (spec.type === 'process' ? [spec.handler] : []))
  const handler = {
    ...first.handler,
    intercept: [...new Set(handlers.flatMap(({ intercept }) => intercept))],
    observe: [...new Set(handlers.flatMap(({ observe }) => observe))],
  }
  return { ...first, hook, handler } as ConfiguredHook
}

function anyOf(matchers: readonly (Matcher | null)[]): Matcher | null {
  const byPattern = new Map(matchers.map((matcher) => [matcher?.pattern, matcher]))
  const [only] = byPattern.values()
  if (only === undefined || byPattern.has(undefined)) return null
  if (byPattern.size === 1) return only
  const all = [...byPattern.values()]
  return { pattern: '*', test: (value) => all.some((matcher) => matcher?.test(value)) }
}
