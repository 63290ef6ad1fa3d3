// Folders of this machine inside a container: what happens to them there happens here.

import type { Effect, Place } from '../effect.js'
import { placesOf } from '../program.js'
import { type Word, withText } from '../script/word.js'

export interface Mount {
  readonly source: Word
  /** Absolute, in the container. */
  readonly target: string
  readonly isReadOnly: boolean
}

export interface Mounts {
  readonly mounts: readonly Mount[]
  /** Where the command starts in the container, if that is said. */
  readonly folder: string | undefined
}

const CONTAINERS = /^(?:docker|docker-compose|podman|podman-compose|nerdctl)$/

/** Of the words before the command. Undefined if nothing of this machine is inside. */
export function mountsOf(program: string, options: readonly Word[]): Mounts | undefined {
  if (!CONTAINERS.test(program)) return undefined
  const mounts: Mount[] = []
  let folder: string | undefined
  for (const [i, word] of options.entries()) {
    const [, name = '', attached] = /^(--[\w-]+|-[vw](?!\w*=)|-[vw](?==))=?(.*)$/s.exec(word.text) ?? []
    const value = attached ? withText(word, attached) : options[i + 1]
    if (!value) continue
    if (name === '-v' || name === '--volume') mounts.push(...volume(value))
    else if (name === '--mount') mounts.push(...mount(value))
    else if (name === '-w' || name === '--workdir') folder = value.text
  }
  return mounts.length === 0 ? undefined : { mounts, folder }
}

/** `HOST:CONTAINER[:ro]`. A name without a slash is a volume of its own. */
function volume(word: Word): readonly Mount[] {
  const [, source = '', target, options = ''] = /^(.+?):(\/[^:]*)(?::(.*))?$/s.exec(word.text) ?? []
  if (target === undefined || !/[/~.$`]/.test(source)) return []
  return [{ source: withText(word, source), target: plain(target), isReadOnly: /\bro\b/.test(options) }]
}

/** `type=bind,source=HOST,target=CONTAINER` */
function mount(word: Word): readonly Mount[] {
  const fieldOf = (key: RegExp) => {
    const found = word.text.split(',').find((part) => key.test(part.split('=', 1)[0] ?? ''))
    return found?.slice(found.indexOf('=') + 1)
  }
  const source = fieldOf(/^(?:source|src)$/)
  const target = fieldOf(/^(?:target|dst|destination)$/)
  if (source === undefined || target === undefined || !/[/~.$`]/.test(source)) return []
  const isReadOnly = word.text.split(',').some((part) => /^(?:readonly|ro)(?:=true)?$/.test(part))
  return [{ source: withText(word, source), target: plain(target), isReadOnly }]
}

function plain(target: string): string {
  return target.replace(/(.)\/+$/, '$1')
}

/** The effects on this machine. Undefined if it is on none of the mounts. */
export function throughMounts(
  effect: Effect,
  { mounts }: Mounts,
  folders: readonly string[],
  home: string,
): readonly Effect[] | undefined {
  if (effect.kind !== 'read' && effect.kind !== 'write' && effect.kind !== 'delete' && effect.kind !== 'move')
    return undefined
  const hostPlaces = (place: Place, reads: boolean) =>
    mounts
      .filter(({ isReadOnly }) => reads || !isReadOnly)
      .flatMap((one) => placesIn(place, one, folders, home))
  const places = hostPlaces(effect.place, effect.kind === 'read')
  if (effect.kind !== 'move')
    return places.length === 0 ? undefined : places.map((place) => ({ ...effect, place }))
  const { to, place: _, ...rest } = effect
  const [arrival] = hostPlaces(to, false)
  if (places.length === 0)
    return arrival === undefined ? undefined : [{ ...rest, kind: 'write', place: arrival }]
  return places.map(
    (place): Effect =>
      arrival === undefined ? { ...rest, kind: 'delete', place } : { ...effect, place, to: arrival },
  )
}

function placesIn(
  place: Place,
  { source, target }: Mount,
  folders: readonly string[],
  home: string,
): readonly Place[] {
  const below = place.known
    ? insideOf(place, target)
    : /^[^/~]/.test(place.path)
      ? `/${place.path}`
      : undefined
  if (below === undefined) return []
  return placesOf(source, folders, home, place.deep).map((one) => ({
    ...one,
    path: below === '' ? one.path : `${one.path.replace(/\/$/, '')}${below}`,
    wild: place.wild,
  }))
}

/** The path below the mount. A folder that holds the mount means all of it. */
function insideOf({ path, deep, wild }: Place, target: string): string | undefined {
  if (path === target || target === '/') return path === target ? '' : path
  if (path.startsWith(`${target}/`)) return path.slice(target.length)
  const holder = path.replace(/(?:\/\*+)+$/, '') || '/'
  return (deep || wild) && (holder === '/' || target === holder || target.startsWith(`${holder}/`))
    ? ''
    : undefined
}
