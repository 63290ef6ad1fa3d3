// Groups hooks that are trusted together: the hooks of a plugin or skill form one unit, and so do those of a file.

import { isGuard } from '../core/hooks/gate.js'
import type { Matcher } from '../core/hooks/matcher.js'
import { kindOf } from '../runners/kinds.js'
import { USUAL_TIMEOUTS } from '../runners/process/kind.js'
import type { Unit, UnitHook } from '../trust/unit.js'
import type { ConfiguredHook, ConfiguredProcess } from './configured-hook.js'

/** The units of these hooks, in order, each with its hooks. The user's own hooks belong to no unit. */
export function unitsOf(specs: readonly ConfiguredHook[]): ReadonlyMap<Unit, readonly ConfiguredHook[]> {
  const groups = new Map<string, ConfiguredHook[]>()
  for (const spec of specs) {
    if (spec.hook.origin.scope === 'user') continue
    const { kind, path } = unitOf(spec)
    const group = groups.get(`${kind} ${path}`)
    if (group) group.push(spec)
    else groups.set(`${kind} ${path}`, [spec])
  }
  return new Map([...groups.values()].map((group) => [unitWith(group), group]))
}

function unitOf({ hook, place }: ConfiguredHook): Pick<Unit, 'kind' | 'path'> {
  const folder = place.plugin?.root ?? place.skillDir
  return folder === undefined
    ? { kind: 'file', path: hook.origin.file ?? '' }
    : { kind: 'folder', path: folder }
}

function unitWith(specs: readonly ConfiguredHook[]): Unit {
  const first = specs[0] as ConfiguredHook
  const { projectDir, hooksDir } = first.place
  return {
    ...unitOf(first),
    name: first.hook.origin.source,
    projectDir,
    hooksDir,
    hooks: specs.map(unitHook),
  }
}

function unitHook(spec: ConfiguredHook): UnitHook {
  const { name, events, matcher, origin } = spec.hook
  const { line, hash = '' } = origin
  const event = spec.type === 'process' ? takenBy(spec) : events === 'all' ? '*' : [...events].join(', ')
  const what = { name, event, matcher: matcher?.pattern ?? null, hash }
  const terms = termsOf(spec)
  return {
    ...what,
    ...running(spec),
    ...(terms.length > 0 && { terms }),
    ...(line !== undefined && { line }),
  }
}

/** The fields that decide whether, when and with what effect a hook runs, named as in the file. */
function termsOf(spec: ConfiguredHook): readonly string[] {
  if (spec.type === 'process') return termsOfProcess(spec)
  const { common, handler } = spec
  return [
    ...(common.if === undefined ? [] : [`if ${common.if}`]),
    ...(kindOf(spec).terms?.(handler) ?? []),
    ...(common.timeout === undefined ? [] : [`timeout ${common.timeout}`]),
    ...(common.onFailure === undefined ? [] : [`onFailure ${common.onFailure}`]),
    ...(common.once ? ['once'] : []),
    ...(common.observe ? ['observe'] : []),
  ]
}

/** Leaves out defaults. */
function termsOfProcess({ hook, handler, disabled }: ConfiguredProcess): readonly string[] {
  const { timeouts, restart } = handler
  const others = (Object.keys(timeouts) as (keyof typeof timeouts)[]).filter(
    (role) => timeouts[role] !== USUAL_TIMEOUTS[role],
  )
  return [
    ...(disabled === undefined ? [] : ['enabled false']),
    ...(hook.onFailure === 'byEvent' ? [] : [`onFailure ${hook.onFailure}`]),
    ...others.map((role) => `timeouts.${role} ${timeouts[role]}`),
    ...(hook.priority === 0 ? [] : [`priority ${hook.priority}`]),
    ...(restart.attempts === 0 ? ['restart false'] : []),
  ]
}

/** What a process intercepts and observes, named as in its file. */
function takenBy({ handler: { intercept, observe } }: ConfiguredProcess): string {
  return [...intercept, ...observe.map((kind) => `observes ${kind}`)].join(', ')
}

/** Leaves out the type of a command. */
function running(
  spec: ConfiguredHook,
): Pick<UnitHook, 'type' | 'command' | 'args' | 'shell' | 'dir' | 'env'> {
  const kind = kindOf(spec)
  const line = inSkill(spec, kind.program?.(spec.handler) ?? { command: kind.target(spec.handler) })
  return spec.type === 'command' ? line : { type: spec.type, ...line }
}

/** A command of a plugin's skill, with paths from the plugin's folder instead of the skill's. */
function inSkill<L extends { readonly command: string }>(
  { place: { plugin, skillDir } }: ConfiguredHook,
  line: L,
): L {
  if (!plugin || skillDir === undefined) return line
  const folder = `\${CLAUDE_PLUGIN_ROOT}${skillDir.slice(plugin.root.length)}`
  const command = line.command
    .replace(/^(?=\.\.?\/)/, () => `"${folder}"/`)
    .replace(/\$\{?(?:CLAUDE|AMPLIFIER)_SKILL_DIR\}?/g, () => folder)
  return { ...line, command }
}

// ---- many hooks that may not run --------------------------------------------------------------------------------

/** So many hooks of an event that may not run are reported one by one, for all units together. */
export const MOST_TOLD = 300

/**
 * The hooks of one unit, none of which may run. Beyond the limit, one hook stands for all that are alike, because every
 * call reports and records each hook. `told` counts the hooks of each event.
 */
export function abridged(
  specs: readonly ConfiguredHook[],
  told: Map<string, number>,
): readonly ConfiguredHook[] {
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
