// Projects that nobody worked on for long are forgotten, so that what the pack keeps stays bounded over all of them.

import { lstatSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const MOST_PROJECTS = 200
/** Whoever locked a project still wants it locked. */
const LOCK = 'lock.json'

/** Called when a project is new, which is seldom. `own` is the folder of that project. Throws where one cannot be removed. */
export function forgetProjects(home: string, own: string, most = MOST_PROJECTS): void {
  const folders = readdirSync(home, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(home, name))
  if (folders.length <= most) return
  const byAge = folders.map((folder) => ({ folder, at: lastUse(folder) })).sort((a, b) => a.at - b.at)
  const idle = byAge.filter(({ folder }) => folder !== own && !namesIn(folder).includes(LOCK))
  for (const { folder } of idle.slice(0, folders.length - most))
    rmSync(folder, { recursive: true, force: true })
}

/** Of what is in it: a folder itself does not change when a log in it grows. */
function lastUse(folder: string): number {
  return Math.max(0, ...namesIn(folder).map((name) => changedAt(join(folder, name))))
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return [] // another session has just forgotten it
  }
}

function changedAt(path: string): number {
  return lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
}
