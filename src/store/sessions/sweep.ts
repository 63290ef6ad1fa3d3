// Removes sessions that ended silently, a few at a time: those that have not changed for a long time.

import { opendirSync, rmdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { textOf } from '../../core/base/errors.js'
import { isDiscarded, removeDiscarded } from '../../files/folder.js'
import { lstatIfThere } from '../../files/if-there.js'

const FORGOTTEN_MS = 7 * 24 * 60 * 60 * 1000
/** The approximate limit for one project. */
const MAX_SESSIONS = 1000
const SESSION = /^[0-9a-f]{32}$/

/** Limits for one sweep, because a process that answers an agent runs it. */
const MOST = { sessions: 100, projects: 20, sessionsOfEach: 10, agents: 10 }
/** How many of those sessions to remove if the project has too many: more than come until the next sweep. */
const SURPLUS = 40
/** A session that changed so recently may be at work, and stays even if the project has too many. */
const AT_WORK_MS = 60 * 60 * 1000

export interface Sweep {
  /** Holds a folder for each project, which holds a folder for each session. */
  readonly sessions: string
  /** The project that must stay within its limit. */
  readonly project: string
  /** The folder of the new session, which stays. */
  readonly own: string
  /** A folder in the session's folder. A change to it counts as a change of the session. */
  readonly parts: string
  /** Removes a session's folder, and what is kept about it elsewhere. */
  readonly remove: (folder: string) => void
}

/** Never throws. Returns what could not be removed, and why. */
export function sweep(place: Sweep, now = Date.now()): readonly string[] {
  const { sessions, project } = place
  const troubles: string[] = []
  const attempt = (path: string, work: () => void) => {
    try {
      work()
    } catch (error) {
      // Another process is also sweeping, or the session has just come back.
      const { code } = error as NodeJS.ErrnoException
      if (code !== 'ENOENT' && code !== 'ENOTEMPTY' && code !== 'EEXIST')
        troubles.push(`${path}: ${textOf(error)}`)
    }
  }
  const look = { ...place, since: now - FORGOTTEN_MS, attempt }
  attempt(project, () => {
    const { names, read } = someOf(project, MOST.sessions)
    const kept = removeForgotten(project, names, look)
    if (read > MAX_SESSIONS) thinOut(kept, { ...look, since: now - AT_WORK_MS })
  })
  attempt(sessions, () => {
    const others = someOf(sessions, MOST.projects).names.filter(
      (name) => SESSION.test(name) && name !== basename(project),
    )
    for (const folder of others.map((name) => join(sessions, name)))
      attempt(folder, () => {
        removeForgotten(folder, firstOf(folder, MOST.sessionsOfEach), look)
        rmdirSync(folder)
      })
  })
  return troubles
}

interface Look extends Sweep {
  /** Only sessions that have not changed since then are removed. */
  readonly since: number
  readonly attempt: (path: string, work: () => void) => void
}

/** Returns the sessions that stay. */
function removeForgotten(project: string, names: readonly string[], look: Look): readonly string[] {
  const { own, since, parts, attempt, remove } = look
  const kept: string[] = []
  for (const name of names) {
    const path = join(project, name)
    if (isDiscarded(name)) attempt(path, () => removeDiscarded(path))
    else if (!SESSION.test(name) || path === own) continue
    else if (isUnchanged(path, parts, since)) attempt(path, () => remove(path))
    else kept.push(path)
  }
  return kept
}

/** Removes the oldest of a random selection. */
function thinOut(sessions: readonly string[], { attempt, remove, parts, since }: Look): void {
  const aged = sessions
    .filter((path) => isUnchanged(path, parts, since))
    .map((path) => ({ path, changed: changedAt(path) }))
    .sort((a, b) => a.changed - b.changed)
  for (const { path } of aged.slice(0, SURPLUS)) attempt(path, () => remove(path))
}

function isUnchanged(session: string, parts: string, since: number): boolean {
  if (changedAt(session) > since) return false
  try {
    const folder = join(session, parts)
    return someOf(folder, MOST.agents).names.every((name) => changedAt(join(folder, name)) <= since)
  } catch {
    return true // no such folder
  }
}

/** Infinity if the session is gone by now. */
function changedAt(path: string): number {
  return lstatIfThere(path)?.mtimeMs ?? Infinity
}

// ---- a few names of a folder ------------------------------------------------------------------------------------

/** The usual limit of names to read. The hard limit is a hundred times as high. */
const USUAL = MAX_SESSIONS + 100
const FARTHEST = 100 * USUAL

interface Some {
  readonly names: readonly string[]
  /** How many names were read to pick these. */
  readonly read: number
}

/** Picks names at random. Now and then it reads further than usual, to reach the end of a long folder, too. */
function someOf(folder: string, most: number): Some {
  const names: string[] = []
  const read = eachName(folder, Math.min(USUAL / Math.random(), FARTHEST), (name, at) => {
    const place = at < most ? at : Math.floor(Math.random() * (at + 1))
    if (place < most) names[place] = name
  })
  return { names, read }
}

function firstOf(folder: string, most: number): readonly string[] {
  const names: string[] = []
  eachName(folder, most, (name) => names.push(name))
  return names
}

/** Returns how many there were, up to `most`. Does not list the whole folder, which may be large. */
function eachName(folder: string, most: number, take: (name: string, at: number) => void): number {
  const listing = opendirSync(folder, { bufferSize: 256 })
  try {
    let at = 0
    for (let entry = at < most && listing.readSync(); entry; entry = at < most && listing.readSync())
      take(entry.name, at++)
    return at
  } finally {
    listing.closeSync()
  }
}
