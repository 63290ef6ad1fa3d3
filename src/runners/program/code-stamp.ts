// The stamp of code that a warm process has loaded: changes when a file does, so that nobody gets the answer of old code.

import { lstatSync, readdirSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
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

/** Of the files that a command line names, such as its script. Undefined if one changed too recently. */
export function namedFilesStamp(words: readonly string[], cwd: string): string | undefined {
  const seen = moment()
  const stamps: string[] = []
  for (const path of new Set(words.map((word) => resolve(cwd, word)))) {
    const stats = statsOf(path)
    if (!stats?.isFile()) continue
    const stamp = stampOf(stats, seen)
    if (stamp === '') return undefined
    stamps.push(`${path} ${stamp}`)
  }
  return stamps.join('\n')
}

/** Undefined for a word that is no path. */
function statsOf(path: string) {
  try {
    return ifThere(() => statSync(path, { bigint: true }))
  } catch {
    return undefined // a NUL, a name that is too long, a file on the way
  }
}
