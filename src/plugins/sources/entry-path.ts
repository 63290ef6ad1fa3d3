// Where a file of a plugin lies in its folder: a path that cannot lead out of it on any system, nor mean another file.

import { isUtf8 } from 'node:buffer'
import { visibleName } from '../../core/base/visible.js'
import { PluginProblem } from '../plugin-problem.js'

/** In bytes. */
const LONGEST_PATH = 1024
const LONGEST_NAME = 255
const DEEPEST = 32

const DEVICE = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[\d¹²³])\s*(?:\.|$)/i

/** In bytes as they stand in an archive or a repository; throws if it is not plain. */
export function pathOfBytes(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString('utf8')
  throw unsafe(bytes.toString('latin1'), 'has a name that is not UTF-8')
}

/** Forward slashes, no slash at either end. Empty for the folder itself. Throws for everything that is a trick. */
export function entryPath(raw: string): string {
  const wrong = faultOf(raw)
  if (wrong !== undefined) throw unsafe(raw, wrong)
  const path = raw.replace(/^(?:\.\/)+/, '').replace(/\/$/, '')
  if (path === '' || path === '.') return ''
  for (const name of path.split('/')) {
    const bad = faultOfName(name)
    if (bad !== undefined) throw unsafe(raw, bad)
  }
  if (path.split('/').length > DEEPEST) throw unsafe(raw, `lies more than ${DEEPEST} folders deep`)
  return path
}

function faultOf(raw: string): string | undefined {
  if (Buffer.byteLength(raw) > LONGEST_PATH) return `has a path of more than ${LONGEST_PATH} bytes`
  if (/\p{Cc}/u.test(raw)) return 'has a control character in its name'
  if (raw.includes('\\')) return 'has a backslash in its name'
  return raw.startsWith('/') ? 'has an absolute path' : undefined
}

function faultOfName(name: string): string | undefined {
  if (name === '..') return 'leads out of the folder'
  if (name === '' || name === '.') return 'has an empty part in its path'
  if (/^[A-Za-z]:/.test(name)) return 'has a drive letter in its path'
  if (name.includes(':')) return 'has a colon in its name, behind which Windows hides another file'
  if (DEVICE.test(name)) return 'has the name of a device of Windows'
  return Buffer.byteLength(name) > LONGEST_NAME ? `has a name of more than ${LONGEST_NAME} bytes` : undefined
}

/** Two paths with the same key are the same file on some system: case, forms of accents, dots and blanks at the end. */
export function collisionKey(path: string): string {
  return path
    .split('/')
    .map((name) =>
      name
        .normalize('NFKC')
        .toUpperCase()
        .toLowerCase()
        .normalize('NFKC')
        .replace(/[. ]+$/, ''),
    )
    .join('/')
}

export function unsafe(path: string, wrong: string): PluginProblem {
  const shown = visibleName(path.length > 200 ? `${path.slice(0, 200)}…` : path)
  return new PluginProblem(
    'UNSAFE_ENTRY',
    `${shown} ${wrong}; nothing was installed`,
    'Whoever made it has to put a plain file there; a plugin holds files and folders, nothing else.',
  )
}
