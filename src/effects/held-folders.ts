// Folders that must not be lost: of the system, the home, the project, and the one where the call runs.

import { posix } from 'node:path'
import type { RealPaths } from '../files/within.js'
import type { Effect, Held, Place } from './effect.js'
import { canBe, isAny, isPattern, type Parts, partsOf } from './paths/path-overlap.js'

/** The system does not work without these. */
const OF_THE_SYSTEM: ReadonlySet<string> = new Set(
  `/ /bin /boot /dev /etc /home /lib /lib32 /lib64 /libx32 /media /mnt /opt /proc /root /run /sbin /srv /sys /tmp /usr
  /usr/bin /usr/lib /usr/local /usr/sbin /usr/share /var /var/lib /users /system /library /applications /volumes
  /private`.split(/\s+/),
)

/** No system opens a longer path. */
const LONGEST = 4096

export interface Staying {
  readonly cwd: string
  readonly projectDir: string
  readonly home: string
}

/** Looks at the links of the folders once, and only if a call needs it. */
export class HeldFolders {
  readonly #folders: Staying
  readonly #real: RealPaths
  #known: readonly (readonly [string, Held])[] | undefined

  constructor(folders: Staying, real: RealPaths) {
    this.#folders = folders
    this.#real = real
  }

  get #staying(): readonly (readonly [string, Held])[] {
    if (this.#known) return this.#known
    const { cwd, projectDir, home } = this.#folders
    const all = [
      [cwd, 'folder'],
      [projectDir, 'project'],
      [home, 'home'],
    ] as const
    this.#known = all.flatMap(([folder, name]) =>
      [...new Set([plain(folder), this.#real.of(folder)])].map((one) => [one, name] as const),
    )
    return this.#known
  }

  /** Says of a place that is deleted, moved or changed as a whole what it holds. */
  marked(effect: Effect): Effect {
    const isLost = effect.kind === 'delete' || effect.kind === 'move'
    const isWhole = (effect.kind === 'write' && effect.place.deep) || (effect.kind === 'read' && effect.links)
    if (!isLost && !isWhole) return effect
    const holds = this.#heldBy(effect.place)
    return holds.length === 0 ? effect : ({ ...effect, place: { ...effect.place, holds } } as Effect)
  }

  #heldBy({ path, known, wild }: Place): readonly Held[] {
    if (!known || path.length > LONGEST) return []
    // Everything in a folder counts as the folder itself.
    const parts = path.split('/')
    while (wild && isEvery(parts.at(-1) ?? '')) parts.pop()
    const folder = plain(parts.join('/') || '/')
    if (wild && isPattern(folder)) return this.#heldByPattern(partsOf(folder))
    const found = new Set([folder, this.#real.of(folder)].flatMap((one) => this.#heldAt(one)))
    return [...found]
  }

  #heldAt(path: string): readonly Held[] {
    const found: Held[] = OF_THE_SYSTEM.has(path.toLowerCase()) ? ['system'] : []
    for (const [folder, name] of this.#staying) {
      if (path === folder) found.push(name)
      else if (path === '/' || folder.startsWith(`${path}/`)) found.push(name, 'parent')
    }
    return found
  }

  /** The same for a pattern that matches such a folder, or one above it. */
  #heldByPattern(pattern: Parts): readonly Held[] {
    const dots = pattern.includes('**')
    const found = new Set<Held>()
    for (const path of OF_THE_SYSTEM) if (reaches(pattern, partsOf(path), dots)) found.add('system')
    for (const [folder, name] of this.#staying) {
      const parts = partsOf(folder)
      for (let end = parts.length; end > 0; end--) {
        if (!reaches(pattern, parts.slice(0, end), dots)) continue
        found.add(name)
        if (end < parts.length) found.add('parent')
      }
    }
    return [...found]
  }
}

function plain(path: string): string {
  return posix.normalize(path).replace(/(.)\/+$/, '$1')
}

/** `**` stands for any number of folders. A second one takes what the first leaves. */
function reaches(pattern: Parts, names: Parts, dots: boolean): boolean {
  const fitsAt = (parts: Parts, at: number) =>
    parts.every((part, i) => part === '**' || canBe(part, names[at + i] ?? '', true, dots))
  const gap = pattern.indexOf('**')
  if (gap < 0) return pattern.length === names.length && fitsAt(pattern, 0)
  const end = pattern.slice(gap + 1).filter((part) => part !== '**')
  const start = names.length - end.length
  return start >= gap && fitsAt(pattern.slice(0, gap), 0) && fitsAt(end, start)
}

function isEvery(part: string): boolean {
  return part === '**' || isAny(part)
}
