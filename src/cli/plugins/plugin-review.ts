// A plugin that is about to be installed: its review, and trusting it once the user agreed.

import { join } from 'node:path'
import { textOf } from '../../core/base/errors.js'
import { type PreparedPlugin, trustInstalled } from '../../plugins/install-plugin.js'
import type { LockEntry } from '../../plugins/lock-file.js'
import type { Origin } from '../../plugins/sources/accepted-source.js'
import { pluginsDir, type Target } from '../../plugins/target.js'
import { kindOf } from '../../runners/kinds.js'
import type { Difference } from '../../trust/review.js'
import { risksOf } from '../../trust/risks.js'
import { trustStore } from '../../trust/trust-store.js'
import { isExecutable } from '../../trust/unit.js'
import { type Output, plainData } from '../output.js'
import { noticeLines } from '../print/lines.js'
import { painter } from '../print/terminal.js'
import { Refusal } from '../refusal.js'
import { originOf } from './plugin-commands.js'
import { reviewLines } from './print-review.js'
import type { Shown } from './trust-units.js'

interface Coming extends Pick<PreparedPlugin, 'name' | 'staged' | 'isUnpinned'> {
  readonly entry: Origin & Partial<LockEntry>
}

/** `update`: the changes since `before` was installed, for a user who trusts the installed version. */
export function shownPlugin(
  { name, entry, staged, isUnpinned }: Coming,
  target: Target,
  update?: { readonly before: LockEntry; readonly differences: readonly Difference[] },
): Shown {
  const unit = { ...staged.unit, path: join(pluginsDir(target), name) }
  const read = trustStore().look(staged.unit)
  // The review screen shows changes since a record; here, since the last installation.
  const since = update && ({ at: update.before.installed } as NonNullable<typeof read.record>)
  const review = { ...read, unit, record: since, differences: update?.differences ?? [] }
  const passthrough = staged.hooks.map((spec) => kindOf(spec).passthrough?.(spec.handler) ?? [])
  return {
    unit,
    passthrough,
    state: update ? 'modified' : 'untrusted',
    why: isUnpinned ? `${originOf(entry)}, ${UNPINNED}` : originOf(entry),
    review,
    risks: risksOf(read),
    problems: read.problems,
  }
}

export const UNPINNED = 'a folder as it is now; add #REF to pin a commit'

/** Throws if it cannot be trusted. */
export async function printReview(
  shown: Shown,
  { name, staged: { diagnostics } }: Pick<Coming, 'name' | 'staged'>,
  isFull: boolean,
  output: Output,
): Promise<void> {
  if (!output.json) {
    if (diagnostics.length > 0) await output.complain(noticeLines(plainData(diagnostics), painter(2)))
    await output.print(reviewLines(shown, isFull))
  }
  const [problem] = shown.problems
  if (problem !== undefined) throw new Refusal('UNSAFE_ENTRY', `${name} was not installed: ${problem}`)
}

/** For programs. */
export function reviewData({ unit, review, risks, problems }: Shown) {
  return {
    digest: review?.digest ?? null,
    hooks: unit.hooks,
    files: (review?.files ?? []).map((file) => ({
      path: file.path,
      size: file.size,
      sha256: file.sha256,
      executable: isExecutable(file),
    })),
    risks,
    problems,
  }
}

/** True, or why it is not trusted: then it is installed, but blocked. */
export async function trustShown(name: string, { review }: Shown, target: Target): Promise<true | string> {
  try {
    await trustInstalled(name, target, review?.digest ?? '')
    return true
  } catch (error) {
    return textOf(error)
  }
}
