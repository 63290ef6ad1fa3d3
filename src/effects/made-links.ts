// Links that the call itself makes: what it then does through one, it does to the file that the link leads to.

import type { Effect } from './effect.js'
import { isFolder } from './paths/on-disk.js'

interface MadeLink {
  readonly name: string
  readonly target: string
  /** The words that make it. */
  readonly by: string
}

/** More links are not told apart from other files. */
const MOST_LINKS = 50

/** The same list if nothing happens through a link that the call makes: `ln -s dir x; rm x/a.txt`. */
export function throughMadeLinks(effects: readonly Effect[]): readonly Effect[] {
  if (!effects.some(isLinked)) return effects
  const links = madeLinks(effects)
  const more = effects.flatMap((effect) => links.flatMap((link) => through(link, effect)))
  return more.length === 0 ? effects : [...effects, ...more]
}

function isLinked(effect: Effect): effect is Extract<Effect, { kind: 'read' }> {
  return effect.kind === 'read' && effect.links === true && effect.place.known && !effect.place.wild
}

/** Every place that the same words write may be the name. */
function madeLinks(effects: readonly Effect[]): readonly MadeLink[] {
  const links = effects
    .filter(isLinked)
    .flatMap(({ place, by }) =>
      effects.flatMap((one) =>
        one.kind === 'write' && one.by === by && one.place.known && !one.place.wild
          ? [{ name: one.place.path, target: place.path, by }]
          : [],
      ),
    )
  return links.slice(0, MOST_LINKS)
}

function through({ name, target, by }: MadeLink, effect: Effect): readonly Effect[] {
  const { kind } = effect
  if ((kind !== 'read' && kind !== 'write' && kind !== 'delete' && kind !== 'move') || !effect.place.known)
    return []
  const { path } = effect.place
  const isBelow = path.startsWith(`${name}/`)
  // The words that make the link may run again, and then find a folder in its place.
  const isOther = effect.by !== by || (isBelow && isFolder(target))
  // A link that is deleted or moved leaves the file behind it as it is.
  const isAt = path === name && (kind === 'read' || kind === 'write')
  if (!isOther || !(isBelow || isAt)) return []
  return [{ ...effect, place: { ...effect.place, path: target + path.slice(name.length) } } as Effect]
}
