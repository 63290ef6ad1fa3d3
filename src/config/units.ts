// Which hooks are trusted together: those of a plugin or skill with its folder, those of a file with the file.

import type { Unit, UnitHook } from '../trust/unit.js'
import type { ConfiguredHook } from './configured-hook.js'
import type { ConfiguredProcess } from './configured-process.js'
import { USUAL_TIMEOUTS } from './process-entry.js'

/** The units of these hooks, in their order, each with the hooks it has. What is the user's is in none. */
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
  const event = spec.type === 'process' ? takenBy(spec) : [...events].join(', ')
  const what = { name, event, matcher: matcher?.pattern ?? null, hash }
  const terms = termsOf(spec)
  return {
    ...what,
    ...running(spec),
    ...(terms.length > 0 && { terms }),
    ...(line !== undefined && { line }),
  }
}

/** In the words of the file: each of them decides whether, when or with which effect it runs. */
function termsOf(spec: ConfiguredHook): readonly string[] {
  if (spec.type === 'process') return termsOfProcess(spec)
  const { common } = spec
  const { async = false, asyncRewake = false } = spec.type === 'command' ? spec.handler : {}
  return [
    ...(common.if === undefined ? [] : [`if ${common.if}`]),
    ...(async ? ['async'] : []),
    ...(asyncRewake ? ['asyncRewake'] : []),
    ...(common.timeout === undefined ? [] : [`timeout ${common.timeout}`]),
    ...(common.onFailure === undefined ? [] : [`onFailure ${common.onFailure}`]),
    ...(common.once ? ['once'] : []),
  ]
}

/** What is as usual is not said. */
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

/** What a process is asked and told, in the words of its file. */
function takenBy({ handler: { intercept, observe } }: ConfiguredProcess): string {
  return [...intercept, ...observe.map((kind) => `observes ${kind}`)].join(', ')
}

type Running = Pick<UnitHook, 'type' | 'command' | 'args' | 'shell' | 'dir' | 'env'>

function running(spec: ConfiguredHook): Running {
  if (spec.type === 'process') return ofProcess(spec)
  if (spec.type !== 'command') return { type: spec.type, command: describe(spec) }
  const { command, args, shell } = spec.handler
  return { command, ...(args && { args }), ...(shell && { shell }) }
}

function ofProcess({ handler: { command, dir, env } }: ConfiguredProcess): Running {
  const [program = '', ...args] = command
  return { type: 'process', command: program, args, ...(dir !== undefined && { dir }), ...(env && { env }) }
}

/** What hooks of other types do, in a line. */
function describe(spec: Exclude<ConfiguredHook, { readonly type: 'command' | 'process' }>): string {
  switch (spec.type) {
    case 'http':
      return spec.handler.url
    case 'mcp_tool':
      return `${spec.handler.server} ${spec.handler.tool}`
    default:
      return spec.handler.prompt
  }
}
