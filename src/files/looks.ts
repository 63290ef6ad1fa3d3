// What is seen on disk while something is planned. A caller of a service looks at each path once, because many parts of a
// plan look at the same ones; and what was made from files is used again as long as every look has the same answer.

import { existsSync } from 'node:fs'
import { callerNow, perCaller } from '../core/base/caller.js'
import { exactLstatIfThere, exactStatIfThere, lstatIfThere } from './if-there.js'
import { moment, stampOf } from './stamp.js'

// ---- once in a call -------------------------------------------------------------------------------------------

const call = perCaller(() => ({ hasActed: false }))

/**
 * Looks at each path once in a call, until `forgetLooks`. The next call looks again. A process that works for itself
 * always looks, because it cannot tell where one call ends.
 */
export function oncePerCall<T>(look: (path: string) => T): (path: string) => T {
  const seen = perCaller(() => new Map<string, T>())
  return (path) => {
    if (!callerNow() || call().hasActed) return look(path)
    const known = seen()
    const before = known.get(path)
    if (before !== undefined || known.has(path)) return before as T
    const now = look(path)
    known.set(path, now)
    return now
  }
}

/** Called before a hook starts anything for the caller: it may change the disk. From then on, the call always looks. */
export function forgetLooks(): void {
  if (callerNow()) call().hasActed = true
}

/** Whether the call has started nothing yet, so that whatever it saw still counts. A process that works for itself always looks. */
export function isPlanning(): boolean {
  return callerNow() !== undefined && !call().hasActed
}

// ---- again in the next call -----------------------------------------------------------------------------------

/** `UNSURE`: the next answer may be the same although something has changed. */
type Answer = string | number | boolean | undefined | typeof UNSURE
type Look = (path: string) => Answer

const UNSURE = Symbol('unsure')

/** Everything that a piece of work asked about the disk, and the answers. */
export class Looks {
  readonly #answers = new Map<Look, Map<string, Answer>>()
  #isSure = true

  note(look: Look, path: string, answer: Answer): void {
    const known = this.#answers.get(look) ?? new Map<string, Answer>()
    const hasChanged = known.has(path) && known.get(path) !== answer
    if (answer === UNSURE || hasChanged) this.#isSure = false
    this.#answers.set(look, known.set(path, answer))
  }

  /** Asks everything again. If true, the same work would have the same result. */
  hold(): boolean {
    return this.#isSure && [...this.#answers].every(([look, paths]) => isStill(look, paths))
  }
}

function isStill(look: Look, paths: ReadonlyMap<string, Answer>): boolean {
  for (const [path, answer] of paths) if (look(path) !== answer) return false
  return true
}

let recording: Looks | undefined

/** What `work` asks through the functions below, and through others made with `noted`. It must not await anything. */
export function recordLooks<T>(looks: Looks, work: () => T): T {
  const before = recording
  recording = looks
  try {
    return work()
  } finally {
    recording = before
  }
}

/** A look that work which is recorded may use. */
export function noted<T extends Answer>(look: (path: string) => T): (path: string) => T {
  return (path) => {
    const answer = look(path)
    recording?.note(look, path, answer)
    return answer
  }
}

/** As existsSync. */
export const isThere = noted((path) => existsSync(path))

/** True for a broken link too, and if it cannot be told. */
export const hasName = noted((path) => {
  try {
    return lstatIfThere(path) !== undefined
  } catch {
    return true
  }
})

/** Call it before a file is read, or the names in a folder are. */
export function noteContent(path: string): void {
  recording?.note(contentAt, path, contentAt(path))
}

/** Call it if that failed for a reason that may pass. */
export function noteFailure(error: unknown): void {
  const { code } = error as NodeJS.ErrnoException
  if (code !== 'ENOENT' && code !== 'ENOTDIR') recording?.note(() => UNSURE, '', UNSURE)
}

/** Its stamp, and that of the file which a link leads to. Undefined if nothing is there. */
function contentAt(path: string): Answer {
  const seen = moment()
  try {
    const own = exactLstatIfThere(path)
    const target = own?.isSymbolicLink() ? exactStatIfThere(path) : own
    if (!own || !target) return own && (stampOf(own, seen) || UNSURE)
    const stamps = own === target ? [stampOf(own, seen)] : [stampOf(own, seen), stampOf(target, seen)]
    return stamps.includes('') ? UNSURE : stamps.join(' ')
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOTDIR' ? undefined : UNSURE
  }
}
