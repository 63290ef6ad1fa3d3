// Which hooks are trusted together: those of a plugin or skill with its folder, those of a file with the file.

import type { Unit, UnitHook } from '../trust/unit.js'
import type { ConfiguredHook } from './configured-hook.js'

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
  const what = { name, event: [...events].join(', '), matcher: matcher?.pattern ?? null, hash }
  return { ...what, ...running(spec), ...(line !== undefined && { line }) }
}

function running(spec: ConfiguredHook): Pick<UnitHook, 'type' | 'command' | 'args' | 'shell'> {
  if (spec.type !== 'command') return { type: spec.type, command: describe(spec) }
  const { command, args, shell } = spec.handler
  return { command, ...(args && { args }), ...(shell && { shell }) }
}

/** What hooks of other types do, in a line. */
function describe(spec: Exclude<ConfiguredHook, { readonly type: 'command' }>): string {
  switch (spec.type) {
    case 'http':
      return spec.handler.url
    case 'mcp_tool':
      return `${spec.handler.server} ${spec.handler.tool}`
    default:
      return spec.handler.prompt
  }
}
