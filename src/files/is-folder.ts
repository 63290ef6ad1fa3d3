// Whether a folder is there, by where a link leads.

import { statSync } from 'node:fs'

export function isFolder(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
  } catch {
    return false // a NUL, no permission, a file on the way
  }
}
