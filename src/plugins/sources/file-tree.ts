// The files of a plugin on their way from a source to a folder. Each path and size is checked, wherever it came from.

import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { visibleName } from '../../core/base/text.js'
import { PluginProblem } from '../plugin-problem.js'
import { MOST_BYTES, MOST_ENTRIES, MOST_FILE_BYTES, tooLarge, tooMany } from './limits.js'
import { type Entries, plainFiles } from './links.js'

interface TreeFile {
  readonly bytes: Buffer
  /** The only part of the file's mode that is kept. */
  readonly isExecutable: boolean
}

/**
 * Never part of a plugin. Trust neither hashes nor copies them, a nested repository has settings that run programs, and
 * Python's compiled files could run in place of the reviewed ones.
 */
const LEFT_OUT: ReadonlySet<string> = new Set(['.git', 'git~1', '.ds_store', '__pycache__'])

/** The form of `FileTree.integrity()`. */
export const INTEGRITY = /^sha256-[A-Za-z0-9+/]{43}=$/

export class FileTree {
  readonly #files = new Map<string, TreeFile>()
  readonly #links = new Map<string, string>()
  /** The first spelling of each collision key, and whether it is a folder. */
  readonly #taken = new Map<string, { readonly path: string; readonly isFolder: boolean }>()
  #counted = 0
  #bytes = 0

  /** Paths are in any order. */
  get files(): ReadonlyMap<string, TreeFile> {
    return this.#files
  }

  addFile(raw: string, bytes: Buffer, isExecutable: boolean): void {
    const path = this.#place(raw, false)
    this.#bytes += bytes.length
    if (bytes.length > MOST_FILE_BYTES) throw tooLarge(raw, MOST_FILE_BYTES)
    if (this.#bytes > MOST_BYTES) throw tooLarge(undefined, MOST_BYTES)
    if (!isLeftOut(path)) this.#files.set(path, { bytes, isExecutable })
  }

  /** `below` replaces the link with the files it leads to. */
  addLink(raw: string, target: string): void {
    const path = this.#place(raw, false)
    if (Buffer.byteLength(target) > LONGEST_PATH || /\p{Cc}/u.test(target) || target === '')
      throw unsafe(raw, 'is a symbolic link without a valid target')
    if (!isLeftOut(path)) this.#links.set(path, target)
  }

  /** Only checks the path: a folder exists once a file is in it. */
  addFolder(raw: string): void {
    if (entryPath(raw) === '') this.#count()
    else this.#place(raw, true)
  }

  /** Never returns: only files, folders and links are accepted. */
  refuse(raw: string, what: string): never {
    throw unsafe(raw, `is ${what}`)
  }

  /** The files in this folder as a tree, with links replaced. Undefined if there are none. Throws for a bad link. */
  below(folder: string): FileTree | undefined {
    if (folder === '' && this.#links.size === 0) return this
    const tree = new FileTree()
    for (const { path, from } of plainFiles(this.#entries(), folder)) {
      const { bytes, isExecutable } = this.#files.get(from) as TreeFile
      tree.addFile(path, bytes, isExecutable)
    }
    return tree.#files.size === 0 ? undefined : tree
  }

  #entries(): Entries {
    const links = [...this.#links].map(([path, link]) => [path, { link }] as const)
    return new Map([...[...this.#files.keys()].map((path) => [path, {}] as const), ...links])
  }

  /** The names at the top. */
  top(): readonly string[] {
    const paths = [...this.#files.keys(), ...this.#links.keys()]
    return [...new Set(paths.map((path) => path.split('/')[0] as string))].sort()
  }

  text(path: string): string | undefined {
    return this.#files.get(path)?.bytes.toString('utf8')
  }

  /** A hash of paths, executable bits and contents, the same on every machine. */
  integrity(): string {
    const hash = createHash('sha256')
    for (const path of [...this.#files.keys()].sort()) {
      const { bytes, isExecutable } = this.#files.get(path) as TreeFile
      const content = createHash('sha256').update(bytes).digest('hex')
      hash.update(`${path}\0${isExecutable ? 'x' : '-'}\0${content}\n`)
    }
    return `sha256-${hash.digest('base64')}`
  }

  /** Checks the path and every folder on it, and returns the path. */
  #place(raw: string, isFolder: boolean): string {
    this.#count()
    const path = entryPath(raw)
    if (path === '') throw unsafe(raw, 'has no name')
    const names = path.split('/')
    for (let n = 1; n < names.length; n++) this.#take(names.slice(0, n).join('/'), true, raw)
    const known = this.#take(path, isFolder, raw)
    if (known && !isFolder) throw unsafe(raw, 'occurs twice')
    return path
  }

  #count(): void {
    if (++this.#counted > MOST_ENTRIES) throw tooMany()
  }

  /** Whether it was there already. */
  #take(path: string, isFolder: boolean, raw: string): boolean {
    const key = collisionKey(path)
    const known = this.#taken.get(key)
    if (!known) this.#taken.set(key, { path, isFolder })
    else if (known.path !== path)
      throw unsafe(raw, `is the same file as ${JSON.stringify(known.path)} on some systems`)
    else if (known.isFolder !== isFolder) throw unsafe(raw, 'is both a file and a folder')
    return known !== undefined
  }
}

export function isLeftOut(path: string): boolean {
  return path.split('/').some((name) => LEFT_OUT.has(name.toLowerCase()))
}

// ---- paths: none may lead out of the folder, or mean another file, on any system ------------------------------

const LONGEST_PATH = 1024
const LONGEST_NAME = 255
const DEEPEST = 32

const DEVICE = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[\d¹²³])\s*(?:\.|$)/i

/** A path in bytes, from an archive or a repository. Throws if it is not UTF-8. */
export function pathOfBytes(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString('utf8')
  throw unsafe(bytes.toString('latin1'), 'has a name that is not UTF-8')
}

/** The path with forward slashes, and none at either end. Empty for the folder itself. Throws if the path is unsafe. */
export function entryPath(raw: string): string {
  const wrong = faultOf(raw)
  if (wrong !== undefined) throw unsafe(raw, wrong)
  const path = raw.replace(/^(?:\.\/)+/, '').replace(/\/$/, '')
  if (path === '' || path === '.') return ''
  for (const name of path.split('/')) {
    const bad = faultOfName(name)
    if (bad !== undefined) throw unsafe(raw, bad)
  }
  if (path.split('/').length > DEEPEST) throw unsafe(raw, `is more than ${DEEPEST} folders deep`)
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
  if (name.includes(':')) return 'has a colon in its name, which means a hidden stream on Windows'
  if (DEVICE.test(name)) return 'has the name of a Windows device'
  return Buffer.byteLength(name) > LONGEST_NAME ? `has a name of more than ${LONGEST_NAME} bytes` : undefined
}

/** Paths with equal keys are the same file on some system: they differ only in case, accent forms, trailing dots or spaces. */
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

function unsafe(path: string, wrong: string): PluginProblem {
  const shown = visibleName(path.length > 200 ? `${path.slice(0, 200)}…` : path)
  return new PluginProblem(
    'UNSAFE_ENTRY',
    `${shown} ${wrong}; nothing was installed`,
    'A plugin may only contain plain files and folders. Ask its author to fix this.',
  )
}
