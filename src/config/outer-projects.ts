// Projects around a project: a folder that becomes a project of its own does not switch off the gates around it.

import { lstatSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { registeredHome, userHome } from '../files/homes.js'
import { realOf } from '../files/within.js'

/** Every folder above it, nearest first, up to the user's home, whose hooks are for all projects. */
export function foldersAbove(projectDir: string, homeDir?: string): readonly string[] {
  const homes = [homeDir, userHome(), registeredHome()].flatMap((home) => (home ? [home, realOf(home)] : []))
  const folders: string[] = []
  if (homes.includes(projectDir)) return folders
  for (let folder = dirname(projectDir), below = projectDir; folder !== below; folder = dirname(folder)) {
    if (homes.includes(folder)) break
    folders.push(folder)
    below = folder
  }
  return folders
}

/** Other users may write into folders such as /tmp. */
export function isOwn(base: string, name: string): boolean {
  const user = process.getuid?.()
  return [base, join(base, name)].every((path) => {
    const owner = lstatSync(path, { throwIfNoEntry: false })?.uid
    return owner !== undefined && (user === undefined || owner === user || owner === 0)
  })
}
