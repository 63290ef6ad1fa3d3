// `fire --record`: records a call and its outcome as a test case, if `carabiner test` can reproduce it.

import { basename, relative, resolve, sep } from 'node:path'
import type { ConfiguredHook } from '../../config/configured-hook.js'
import { hooksDirOf } from '../../config/discovery.js'
import { visibleName } from '../../core/base/text.js'
import type { Trace } from '../../core/hooks/outcome.js'
import { userHome } from '../../files/homes.js'
import { isBelow, realOf } from '../../files/within.js'
import type { Review } from '../../trust/review.js'
import { isExecutable, type Unit } from '../../trust/unit.js'
import { isAgentShell } from '../person.js'
import { findUnits, type Units } from '../plugins/review.js'
import { typedTrust } from '../print/next-command.js'
import { Refusal } from '../refusal.js'
import { projectOf, type Sources, specsIn } from '../sources.js'
import { CASE_FILE, pluginOf } from '../test-cases/find-cases.js'
import { type Call, recordCase, recordedLines } from '../test-cases/record-case.js'
import { undoOf } from '../why/advice.js'

/** Returns lines for people. Throws if a hook was not asked here that the test would ask. */
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
  const next = added.isNew && !isCarried ? typedTrustAgain(added.file, sources, project) : []
  return [...recordedLines(added), ...next]
}

/** A test runs all hooks of its subject, without switches, the user's settings, or trust. */
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
      `The case was not recorded: ${visibleName(name)} did not run (${why}), but carabiner test would run it`,
      { hint: why === 'disabled' ? onAgain(spec, project) : trusting(source, sources) },
    )
  }
}

/** `plugin`: the folder of the tested plugin; undefined for a project. */
function isTested(plugin: string | undefined): (spec: ConfiguredHook) => boolean {
  const folder = plugin === undefined ? undefined : realOf(plugin)
  return ({ hook: { origin } }) =>
    folder === undefined ? origin.scope === 'project' : isBelow(realOf(origin.file ?? ''), folder)
}

/** Its own file switches it off, which the test reads too. */
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

/** A new file in a plugin of the project ends its trust. */
function typedTrustAgain(file: string, sources: Sources, project: string): readonly string[] {
  const hooksDir = realOf(hooksDirOf(project))
  const path = realOf(file)
  if (realOf(project) === realOf(userHome()) || !isBelow(path, hooksDir)) return []
  const [plugin, ...inside] = path.slice(hooksDir.length + 1).split(/[/\\]/)
  if (plugin === undefined || inside.length === 0) return []
  return [`next ${typedTrust([plugin], sources)}   # one of its files has changed`]
}

// ---- trust that is kept ----------------------------------------------------------------------------------------

/** Writes the case. A plugin that the user trusts stays trusted, if nothing else in it changed. */
async function carryTrust<T>(
  file: string,
  sources: Sources,
  write: () => T,
): Promise<{ readonly written: T; readonly isCarried: boolean }> {
  const path = realOf(resolve(file))
  const plugin = pluginOf(path)
  const isCaseFile = plugin !== undefined && basename(path) === CASE_FILE
  const found = isCaseFile && !isAgentShell() ? await findUnits(sources, undefined) : undefined
  const unit = [...(found?.units.keys() ?? [])].find((one) => isAt(one, plugin))
  const before = found && unit ? trustedReview(found, unit) : undefined
  const written = write()
  if (!found || !unit || !before) return { written, isCarried: false }
  const inside = relative(realOf(unit.path), path).split(sep).join('/')
  return { written, isCarried: trustAgain(found, unit, before, inside) }
}

function isAt({ kind, path }: Unit, plugin: string | undefined): boolean {
  return kind === 'folder' && plugin !== undefined && realOf(path) === realOf(plugin)
}

/** Undefined if the user does not trust the plugin, or if a hook uses the file of cases, which then is code. */
function trustedReview({ store }: Units, unit: Unit): Review | undefined {
  const isNamed = unit.hooks.some(({ command, args = [] }) =>
    [command, ...args].join(' ').includes(CASE_FILE),
  )
  if (isNamed || store.standingOf(unit).state !== 'trusted') return undefined
  const review = store.look(unit)
  return review.record && review.differences.length === 0 ? review : undefined
}

function trustAgain({ store }: Units, unit: Unit, before: Review, inside: string): boolean {
  try {
    const after = store.look(unit)
    if (after.problems.length > 0 || contentOf(after, inside) !== contentOf(before, inside)) return false
    store.trust(unit, after.digest)
    return true
  } catch {
    return false // it waits, which is told
  }
}

/** Everything that was reviewed, except one file. */
function contentOf({ files, scripts, absent, programs }: Review, without: string): string {
  const parts = [...files.filter(({ path }) => path !== without), ...scripts].map((file) => [
    file.path,
    file.sha256,
    isExecutable(file),
    file.link,
  ])
  return JSON.stringify([parts, absent, programs])
}
