// Where a path in a call leads: absolute, but not normalised, because `link/..` may lead elsewhere.

import { isAbsolute } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Stands for a folder that is only known at run time. */
export const SOMEWHERE = '?'

/** Also for a folder below one that is only known at run time. */
export function isSomewhere(folder: string): boolean {
  return folder === SOMEWHERE || folder.startsWith(`${SOMEWHERE}/`)
}

export function absolutePath(text: string, folder: string, home: string): string {
  const path = ofProcess(text.startsWith('file://') ? fromUrl(text) : text, folder)
  if (path.startsWith('~') && (path.length === 1 || path[1] === '/')) return home + path.slice(1)
  return isAbsolute(path) ? path : `${folder}/${path}`
}

/** `/proc/self/cwd` is the folder of the call, not of the guard. */
export function ofProcess(path: string, folder: string): string {
  if (!path.includes('proc')) return path
  const [, place, rest = ''] =
    /^\/[/.]*proc\/+[^/]+(?:\/+task\/+[^/]+)?\/+(cwd|root)(?=\/|$)(.*)$/s.exec(path) ?? []
  if (place === undefined) return path
  return place === 'cwd' ? folder + rest : rest || '/'
}

function fromUrl(text: string): string {
  try {
    return fileURLToPath(text)
  } catch {
    return text.slice('file://'.length)
  }
}

/** Standard streams and the like, and numbers of open files. */
export function isNoFile(text: string): boolean {
  return /^(?:\/dev\/(?:null|stdout|stderr|stdin|tty|fd\/\d+)|&?\d+-?|-)$/.test(text)
}
