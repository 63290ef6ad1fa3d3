// The stamp of a folder: changes when any file in it does.

import { lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { ifThere } from '../../files/if-there.js'
import { moment, stampOf } from '../../files/stamp.js'

const MOST_FILES = 2000
/** Their content is too large to look at. Installing or removing a package changes the folder itself or its lock file. */
const PACKAGES = 'node_modules'
const LOCK = '.package-lock.json'
const LEFT_OUT: ReadonlySet<string> = new Set(['.git'])

/** Undefined if it cannot be read, holds too many files, or changed so recently that it may change again unnoticed. */
export function folderStamp(folder: string): string | undefined {
  const seen = moment()
  const stamps: string[] = []
  const folders = [folder]
  const add = (path: string) => {
    const stats = ifThere(() => lstatSync(path, { bigint: true }))
    const stamp = stats ? stampOf(stats, seen) : 'absent'
    if (stamp === '') throw new Error(`${path} is too young`)
    stamps.push(`${path} ${stamp}`)
  }
  try {
    for (const one of folders) {
      for (const entry of readdirSync(one, { withFileTypes: true })) {
        if (LEFT_OUT.has(entry.name)) continue
        if (stamps.length === MOST_FILES) return undefined
        const path = join(one, entry.name)
        add(path)
        if (entry.name === PACKAGES) add(join(path, LOCK))
        else if (entry.isDirectory()) folders.push(path)
      }
    }
  } catch {
    return undefined
  }
  return stamps.join('\n')
}
