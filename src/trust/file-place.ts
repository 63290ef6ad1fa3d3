// Where a path leads as the kernel follows it: `..` is the folder above what a link leads to, not the name before it.

import { statSync } from 'node:fs'

/** Keeps every `..`, so that whoever opens it goes where the command goes, also when a link on the way was changed. */
export function pathAt(folder: string, path: string): string {
  return `/${tidy(path.startsWith('/') ? path : `${folder}/${path}`)}`
}

/** Without `.` and empty names, and without a slash in front. */
export function tidy(path: string): string {
  return path
    .split('/')
    .filter((name) => name !== '' && name !== '.')
    .join('/')
}

/** Anything that cannot be looked at (no permission, a circle of links) stands for something that is there. */
export function typeAt(path: string): 'file' | 'folder' | 'other' | undefined {
  try {
    const stats = statSync(path, { throwIfNoEntry: false })
    if (!stats) return undefined
    if (stats.isFile()) return 'file'
    return stats.isDirectory() ? 'folder' : 'other'
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return code === 'ENOTDIR' || code === 'ENAMETOOLONG' ? undefined : 'other'
  }
}
