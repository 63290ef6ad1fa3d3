// Symbolic links in a source. A link that stays inside is replaced with the files it leads to; any other is refused.

import { posix } from 'node:path'
import { visibleName } from '../../core/base/text.js'
import { PluginProblem } from '../plugin-problem.js'
import { MOST_ENTRIES, tooMany } from './limits.js'

/** Every file and link of a source by its path. `link` is the target as it is written; undefined for a file. */
export type Entries = ReadonlyMap<string, { readonly link?: string | undefined }>

interface PlainFile {
  readonly path: string
  /** The file that has its content: itself, or the end of a chain of links. */
  readonly from: string
}

/** As many as Linux follows. */
const MOST_HOPS = 40

/** The files below `folder`, named from there, with links replaced. A link may lead anywhere in the source. */
export function plainFiles(entries: Entries, folder = ''): readonly PlainFile[] {
  return new Links(entries).below(folder)
}

class Links {
  readonly #entries: Entries
  /** The names in each folder. */
  readonly #folders = new Map<string, Set<string>>([['', new Set()]])
  readonly #found: PlainFile[] = []
  #visits = 0

  constructor(entries: Entries) {
    this.#entries = entries
    for (const path of entries.keys()) this.#list(path)
  }

  below(folder: string): readonly PlainFile[] {
    this.#walk(folder, '', [folder])
    return this.#found
  }

  #list(path: string): void {
    const folder = parentOf(path)
    const names = this.#folders.get(folder)
    if (names) names.add(posix.basename(path))
    else {
      this.#folders.set(folder, new Set([posix.basename(path)]))
      this.#list(folder)
    }
  }

  /** `open`: the real paths of the folders that the walk is in. */
  #walk(folder: string, as: string, open: readonly string[]): void {
    for (const name of this.#folders.get(folder) ?? []) {
      // Folders can hold links to folders with links to folders, and no file at all.
      if (++this.#visits > MOST_ENTRIES) throw tooMany()
      const path = posix.join(folder, name)
      const here = posix.join(as, name)
      const entry = this.#entries.get(path)
      if (!entry) this.#walk(path, here, [...open, path])
      else if (entry.link === undefined) this.#found.push({ path: here, from: path })
      else this.#replace(path, here, open)
    }
  }

  #replace(path: string, here: string, open: readonly string[]): void {
    const target = this.#follow(path)
    if (this.#entries.has(target)) {
      this.#found.push({ path: here, from: target })
      return
    }
    const isAround = open.some((one) => one === target || target === '' || one.startsWith(`${target}/`))
    if (isAround) throw bad(path, 'leads to a folder that contains it, which never ends')
    this.#walk(target, here, [...open, target])
  }

  /** Goes name by name, as the kernel does: `..` is the folder above where a link leads. */
  #follow(path: string): string {
    let at = ''
    const names = path.split('/')
    for (let hops = 0; names.length > 0; ) {
      const name = names.shift() as string
      if (name === '' || name === '.') continue
      if (name === '..') {
        if (at === '') throw bad(path, 'leads out of the source')
        at = parentOf(at)
        continue
      }
      const next = posix.join(at, name)
      const link = this.#entries.get(next)?.link
      if (link === undefined) at = next
      else if (/^(?:[/\\]|[A-Za-z]:)/.test(link))
        throw bad(path, `leads to an absolute path, ${visibleName(link)}`)
      else if (++hops > MOST_HOPS) throw bad(path, 'leads to itself')
      else names.unshift(...link.split('/'))
    }
    if (this.#entries.has(at) || this.#folders.has(at)) return at
    throw bad(path, `leads to ${visibleName(at)}, which is not in the source`)
  }
}

function parentOf(path: string): string {
  const folder = posix.dirname(path)
  return folder === '.' ? '' : folder
}

function bad(path: string, why: string): PluginProblem {
  return new PluginProblem(
    'UNSAFE_ENTRY',
    `${visibleName(path)} is a symbolic link that ${why}; nothing was installed`,
    'A link may lead to a file or folder in the same source. If the plugin is only a part of the source, name its folder with --path DIR.',
  )
}
