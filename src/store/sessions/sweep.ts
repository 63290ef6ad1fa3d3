// Removes sessions that ended silently: those that have not changed for long, a few at a time.

import { lstatSync, readdirSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'
import { textOf } from '../../core/base/errors.js'
import { discard, isDiscarded, removeDiscarded } from '../../files/folder.js'

const FORGOTTEN_MS = 7 * 24 * 60 * 60 * 1000
const MAX_LOOKED_AT = 200
const MAX_SESSIONS = 1000
/** Below the bound, so that not every new session has to sort a thousand. */
const SESSIONS_LEFT = 900
const SESSION = /^[0-9a-f]{32}$/

export interface Sweep {
  /** Holds a folder for each project, which holds a folder for each session. */
  readonly sessions: string
  /** The project that must stay within its bound. */
  readonly project: string
  /** The folder of the new session, which stays. */
  readonly own: string
  /** The folder in a session's folder whose changes count as changes of the session. */
  readonly parts: string
}

/** Never throws. Answers what could not be removed, and why. */
export function sweep(place: Sweep, now = Date.now()): readonly string[] {
  const troubles: string[] = []
  const attempt = (path: string, work: () => void) => {
    try {
      work()
    } catch (error) {
      // Another process sweeps, too, or the session has just come back.
      const { code } = error as NodeJS.ErrnoException
      if (code !== 'ENOENT' && code !== 'ENOTEMPTY' && code !== 'EEXIST')
        troubles.push(`${path}: ${textOf(error)}`)
    }
  }
  attempt(place.project, () => thinOut(place, attempt))
  attempt(place.sessions, () => removeForgotten(place, now, attempt))
  return troubles
}

type Attempt = (path: string, work: () => void) => void

function thinOut({ project, own }: Sweep, attempt: Attempt): void {
  const names = readdirSync(project).filter((name) => SESSION.test(name))
  if (names.length <= MAX_SESSIONS) return
  const aged = names
    .map((name) => join(project, name))
    .map((path) => ({ path, changed: changedAt(path) }))
    .sort((a, b) => a.changed - b.changed)
  for (const { path } of aged.slice(0, names.length - SESSIONS_LEFT)) {
    if (path !== own) attempt(path, () => discard(path))
  }
}

function removeForgotten(
  { sessions, project: ownProject, own, parts }: Sweep,
  now: number,
  attempt: Attempt,
): void {
  let left = MAX_LOOKED_AT
  for (const project of fromAnywhere(readdirSync(sessions).filter((name) => SESSION.test(name)))) {
    if (left-- <= 0) return
    const folder = join(sessions, project)
    attempt(folder, () => {
      for (const name of fromAnywhere(readdirSync(folder))) {
        if (left-- <= 0) return
        const path = join(folder, name)
        if (isDiscarded(name)) attempt(path, () => removeDiscarded(path))
        else if (SESSION.test(name) && path !== own && isForgotten(path, parts, now))
          attempt(path, () => discard(path))
      }
      if (folder !== ownProject) rmdirSync(folder)
    })
  }
}

/** Starts at a random place, so that the end is reached, too. */
function fromAnywhere(names: readonly string[]): readonly string[] {
  const start = Math.floor(Math.random() * names.length)
  return [...names.slice(start), ...names.slice(0, start)]
}

function isForgotten(session: string, parts: string, now: number): boolean {
  const since = now - FORGOTTEN_MS
  if (changedAt(session) > since) return false
  return foldersIn(join(session, parts)).every((part) => changedAt(part) <= since)
}

function foldersIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).map((name) => join(folder, name))
  } catch {
    return []
  }
}

/** Infinity if the session is gone meanwhile. */
function changedAt(path: string): number {
  return lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Infinity
}
