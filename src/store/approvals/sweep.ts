// Questions that are long over go, and so does what a killed process left in the making.

import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { textOf } from '../../core/base/errors.js'
import { discard, isDiscarded, namesIn, removeDiscarded } from '../../files/folder.js'
import { isId } from './question-id.js'
import type { Entry } from './question-list.js'
import { DRAFT } from './stored-question.js'

/** Whoever comes too late is told what became of it. */
const KEPT_MS = 24 * 60 * 60 * 1000
const MOST_KEPT = 2000
/** Longer than it takes to raise a question: it has its folder before it is in the list. */
const ABANDONED_MS = 10 * 60 * 1000

/** Those that are over go after a day, and earlier where there are too many. */
export function thinnedOut(entries: readonly Entry[], now: number): readonly Entry[] {
  const left = entries.filter(({ expires }) => expires + KEPT_MS > now)
  let tooMany = left.length - MOST_KEPT
  return left.filter(({ expires }) => expires > now || tooMany-- <= 0)
}

/** Removes the folders of questions that are not kept. Answers how many. */
export function sweepQuestions(
  folder: string,
  kept: ReadonlySet<string>,
  onTrouble: (text: string) => void,
): number {
  const before = Date.now() - ABANDONED_MS
  let removed = 0
  for (const name of namesIn(folder)) {
    const path = join(folder, name)
    try {
      if (isDiscarded(name)) removeDiscarded(path)
      else if ((isId(name) && !kept.has(name)) || DRAFT.test(name)) {
        if (changedAt(path) > before) continue
        discard(path)
        removed++
      }
    } catch (error) {
      onTrouble(`an old question could not be removed: ${path}: ${textOf(error)}`)
    }
  }
  return removed
}

/** Of what is gone meanwhile: now. */
function changedAt(path: string): number {
  return lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Infinity
}
