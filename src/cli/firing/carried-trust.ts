// A plugin that gets a case: who trusts it, and records the case, trusts it still, if nothing else in it changed.

import { basename, relative, resolve, sep } from 'node:path'
import { realOf } from '../../files/within.js'
import type { Review } from '../../trust/review.js'
import { isExecutable, type Unit } from '../../trust/unit.js'
import { isAgentShell } from '../agent-shell.js'
import { findUnits, type Units } from '../plugins/trust-units.js'
import type { Sources } from '../sources.js'
import { CASE_FILE, pluginOf } from '../test-cases/find-cases.js'

/** Writes the file of cases, and answers whether the plugin that it is in is still trusted by that. */
export async function carryTrust<T>(
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

/** Undefined where the user did not trust it; or where a hook names its cases, which are then more than that. */
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

/** All that was reviewed, but for one file. */
function contentOf({ files, scripts, absent, programs }: Review, without: string): string {
  const parts = [...files.filter(({ path }) => path !== without), ...scripts].map((file) => [
    file.path,
    file.sha256,
    isExecutable(file),
    file.link,
  ])
  return JSON.stringify([parts, absent, programs])
}
