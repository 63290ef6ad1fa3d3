// What the user wants every session to know: a text in the settings, or a file beside them.

import { join } from 'node:path'
import { textOf } from '../core/base/errors.js'
import { readPlain } from '../files/plain-file.js'
import { realOf } from '../files/within.js'
import { fenced } from './fenced.js'
import type { PackContext } from './pack-hook.js'

const MAX_FILE = 256 * 1024
const MAX_BYTES = 2048

/** Fenced and within its bound; a problem where the file is there and cannot be read. */
export function preferences({ home, settings }: PackContext): { text?: string; problem?: string } {
  const found = settings.preferences === undefined ? fromFile(home) : { text: settings.preferences }
  if ('problem' in found) return found
  const text = fenced('preferences of the user', found.text, MAX_BYTES)
  return text === undefined ? {} : { text }
}

function fromFile(home: string): { readonly text: string } | { readonly problem: string } {
  const path = join(home, '.amplifier', 'preferences.md')
  try {
    const found = readPlain(realOf(path), MAX_FILE)
    if ('text' in found) return found
    return found.problem === 'is empty' ? { text: '' } : { problem: `${path} ${found.problem}` }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return { text: '' }
    return { problem: `${path} cannot be read: ${textOf(error)}` }
  }
}
