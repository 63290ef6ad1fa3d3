// Groups hooks that are trusted together: the hooks of a plugin or skill form one unit, and so do those of a file.

import { needsTrust } from '../core/hooks/hook.js'
import { kindOf } from '../runners/kinds.js'
import { USUAL_TIMEOUTS } from '../runners/process/kind.js'
import type { Unit, UnitHook } from '../trust/unit.js'
import type { ConfiguredHook, ConfiguredProcess } from './configured-hook.js'

type Units = ReadonlyMap<Unit, readonly ConfiguredHook[]>

/** By the hooks, which nobody changes: a service uses the same ones for many calls. */
const known = new WeakMap<readonly ConfiguredHook[], Units>()

/** The units of these hooks, in order, each with its hooks. The hooks of the company and the user belong to no unit. */
export function unitsOf(specs: readonly ConfiguredHook[]): Units {
  const units = known.get(specs) ?? grouped(specs)
  known.set(specs, units)
  return units
}

function grouped(specs: readonly ConfiguredHook[]): Units {
  const groups = new Map<string, ConfiguredHook[]>()
  for (const spec of specs) {
    if (!needsTrust(spec.hook.origin.scope)) continue
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
    ...(common.mode === 'shadow' ? ['mode shadow'] : []),
    ...(spec.agent ? [`answers as in ${spec.agent.agent}: ${spec.agent.event}`] : []),
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
    ...(hook.mode === 'shadow' ? ['mode shadow'] : []),
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
): Pick<UnitHook, 'type' | 'command' | 'args' | 'shell' | 'dir' | 'env' | 'agent'> {
  const kind = kindOf(spec)
  const program = inSkill(spec, kind.program?.(spec.handler) ?? { command: kind.target(spec.handler) })
  const { agent, dir } = (spec.type === 'process' ? undefined : spec.agent) ?? {}
  const line = {
    ...program,
    ...(agent !== undefined && { agent }),
    ...(dir !== undefined && dir !== '.' && { dir }),
  }
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
