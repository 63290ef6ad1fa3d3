// `fire --record`: the call and what came of it as a case, if `carabiner test` can come to the same.

import { homedir } from 'node:os'
import { resolve } from 'node:path'
import type { ConfiguredHook } from '../../config/configured-hook.js'
import { hooksDirOf } from '../../config/discovery.js'
import { visibleName } from '../../core/base/text.js'
import type { Trace } from '../../core/hooks/outcome.js'
import { isBelow, realOf } from '../../files/within.js'
import { typedTrust } from '../print/typed.js'
import { Refusal } from '../refusal.js'
import { projectOf, type Sources } from '../sources.js'
import { specsIn } from '../specs.js'
import { pluginOf } from '../test-cases/find-cases.js'
import { type Call, recordCase, recordedLines } from '../test-cases/record-case.js'
import { undoOf } from '../why/undo.js'
import { carryTrust } from './carried-trust.js'

/** Lines for people. Throws a Refusal where a hook had no say that would have one in the test. */
export async function recordFired(
  file: string,
  call: Omit<Call, 'project'>,
  sources: Sources,
): Promise<readonly string[]> {
  const project = projectOf(sources)
  await checkHeard(file, call.outcome.hooks, sources, project)
  const { written: added, isCarried } = await carryTrust(file, sources, () =>
    recordCase(file, { ...call, project }),
  )
  const next = added.isNew && !isCarried ? trustAgain(added.file, sources, project) : []
  return [...recordedLines(added), ...next]
}

/** A test runs every hook that it is about: without switches, settings of the user, or trust. */
async function checkHeard(
  file: string,
  traces: readonly Trace[],
  sources: Sources,
  project: string,
): Promise<void> {
  const unheard = traces.filter(({ why }) => why === 'untrusted' || why === 'modified' || why === 'disabled')
  if (unheard.length === 0) return
  const specs = (await specsIn(sources)).filter(isTested(pluginOf(resolve(file))))
  for (const { name, source, why } of unheard) {
    const spec = specs.find(({ hook }) => hook.name === name && hook.origin.source === source)
    if (!spec || isOffByItself(spec)) continue
    throw new Refusal(
      'NOT_RECORDED',
      `The case was not recorded: ${visibleName(name)} was not asked (${why}), and carabiner test would ask it`,
      { hint: why === 'disabled' ? onAgain(spec, project) : trusting(source, sources) },
    )
  }
}

/** `plugin`: the folder that a file of cases is about; undefined where it is about a project. */
function isTested(plugin: string | undefined): (spec: ConfiguredHook) => boolean {
  const folder = plugin === undefined ? undefined : realOf(plugin)
  return ({ hook: { origin } }) =>
    folder === undefined ? origin.scope === 'project' : isBelow(realOf(origin.file ?? ''), folder)
}

/** By its own file, which the test reads as well. */
function isOffByItself({ disabled, hook }: ConfiguredHook): boolean {
  return disabled?.file !== undefined && disabled.file === hook.origin.file
}

function onAgain(spec: ConfiguredHook, project: string): string {
  const { id, origin } = spec.hook
  return `${undoOf({ id, scope: origin.scope, source: origin.source }, spec, project)}; then record again.`
}

function trusting(source: string, sources: Sources): string {
  return `${typedTrust([source], sources)}; then record again, or with --trust-all.`
}

/** A plugin of the project with another file in it is not what was trusted. */
function trustAgain(file: string, sources: Sources, project: string): readonly string[] {
  const hooksDir = realOf(hooksDirOf(project))
  const path = realOf(file)
  if (realOf(project) === realOf(homedir()) || !isBelow(path, hooksDir)) return []
  const [plugin, ...inside] = path.slice(hooksDir.length + 1).split(/[/\\]/)
  if (plugin === undefined || inside.length === 0) return []
  return [`next ${typedTrust([plugin], sources)}   # a file of it has changed`]
}
