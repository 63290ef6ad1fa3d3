// Compares what a command did with its predicted effects: with the places that they name, and what they cover besides.

import { join } from 'node:path'
import type { Effect, Place } from '../../../src/effects/effect.js'
import { coversChange, coversRead } from './covering.js'
import type { Deeds } from './trace.js'

/** Paths with what tells a change. */
export type Files = ReadonlyMap<string, string>

/** At the end of what tells a change of a folder: a command took the rights to look into it. */
export const CLOSED = 'closed'

export interface Observed {
  readonly home: string
  readonly before: Files
  readonly after: Files
  readonly deeds: Deeds
}

export interface Comparison {
  readonly changed: boolean
  /** Whether something could not be known. */
  readonly unknown: boolean
  /** Deeds that were not predicted: `deleted app/a.txt`. */
  readonly missed: readonly string[]
}

export function compared(effects: readonly Effect[], { home, before, after, deeds }: Observed): Comparison {
  const sure = effects.filter(({ guess }) => !guess)
  const world = { home, app: join(home, 'app') }
  const missed: string[] = []
  const closed = [...after].flatMap(([path, now]) => (now.endsWith(CLOSED) ? [path] : []))
  let changed = false
  const note = (deed: string, name: string, isPredicted: boolean) => {
    if (!isPredicted) missed.push(`${deed} ${name.replace(`${home}/`, '')}`)
  }
  for (const path of before.keys()) {
    if (after.has(path) || closed.some((folder) => path.startsWith(`${folder}/`))) continue
    changed = true
    note(
      'deleted',
      path,
      sure.some((one) => deletes(one, path) || coversChange(one, path, world)) ||
        isDeletedEmpty(sure, path, before) ||
        isEmptiedByGit(sure, path, before),
    )
  }
  for (const [path, now] of after) {
    if (before.get(path) === now) continue
    changed = true
    const isFolder = now.startsWith('folder')
    note(
      'written',
      path,
      sure.some((one) => writes(one, path, isFolder) || coversChange(one, path, world)),
    )
  }
  for (const path of deeds.reads)
    if (path.startsWith(`${home}/`) && before.get(path)?.startsWith('file'))
      note(
        'read',
        path,
        sure.some((one) => reads(one, path) || coversRead(one, path, world)),
      )
  for (const name of deeds.runs)
    note(
      'run',
      name,
      sure.some((one) => one.kind === 'run' && programs(one.program).includes(name)),
    )
  const isUnknown = sure.some(({ kind }) => kind === 'unknown')
  return {
    changed,
    unknown: isUnknown || sure.some((one) => placesOf(one).some(({ known }) => !known)),
    missed: isUnknown ? [] : missed,
  }
}

/** What the effects say about files, for people. */
export function shownEffects(effects: readonly Effect[], home: string): readonly string[] {
  return effects
    .filter(({ guess }) => !guess)
    .flatMap((one) => [
      ...placesOf(one).map(
        ({ path, known, deep }) =>
          `${one.kind} ${path.replace(`${home}/`, '')}${deep ? '/…' : ''}${known ? '' : ' ?'}`,
      ),
      ...(one.kind === 'run' ? [`run ${one.program}`] : []),
    ])
}

/** Debian gives some programs another name. */
function programs(name: string): readonly string[] {
  const base = name.slice(name.lastIndexOf('/') + 1)
  return base === 'sh' ? ['sh', 'dash'] : base === 'awk' ? ['awk', 'mawk', 'gawk'] : [base]
}

function placesOf(effect: Effect): readonly Place[] {
  if (effect.kind === 'move') return [effect.place, effect.to]
  return effect.kind === 'write' || effect.kind === 'delete' || effect.kind === 'read' ? [effect.place] : []
}

function deletes(effect: Effect, path: string): boolean {
  return (
    (effect.kind === 'delete' || effect.kind === 'move' || effect.kind === 'write') &&
    isAt(effect.place, path)
  )
}

/** What find calls empty has this name: a file without content, or a folder without such files, also after other deletes. */
function isDeletedEmpty(effects: readonly Effect[], path: string, before: Files): boolean {
  const isIn = effects.some((one) => {
    if (one.kind !== 'delete') return false
    const [root, end] = one.place.path.split('/**/')
    return end === 'an-empty-one' && path.startsWith(`${root}/`)
  })
  return (
    isIn &&
    ![...before].some(
      ([name, was]) =>
        (name === path || name.startsWith(`${path}/`)) &&
        /^link|^file \d+ [1-9]/.test(was) &&
        !effects.some((one) => deletes(one, name)),
    )
  )
}

/** A folder may also be made for what is written in it. */
function writes(effect: Effect, path: string, isFolder: boolean): boolean {
  if (effect.kind !== 'write' && effect.kind !== 'move') return false
  return placesOf(effect).some(
    (place) =>
      isAt(place, path) || (isFolder && namesOf(place).some((given) => given.startsWith(`${path}/`))),
  )
}

/** A program may read what it changes. */
function reads(effect: Effect, path: string): boolean {
  return placesOf(effect).some((place) => isAt(place, path))
}

/** After the last file, git also removes its folder. */
function isEmptiedByGit(effects: readonly Effect[], path: string, before: Files): boolean {
  if (!effects.some((one) => one.kind === 'git' && /^(?:rm|mv)$/.test(one.operation))) return false
  const inside = [...before].filter(([name, was]) => name.startsWith(`${path}/`) && !was.startsWith('folder'))
  return inside.length > 0 && inside.every(([name]) => effects.some((one) => deletes(one, name)))
}

/** What a link leads to has another name here. */
function namesOf({ path }: Place): readonly string[] {
  return [path, path.replace(join('/app', 'link'), join('/app', 'dir'))]
}

function isAt(place: Place, path: string): boolean {
  if (!place.known) return true
  return namesOf(place).some((given) => {
    // A pattern that matches nothing stands for itself.
    if (place.wild && path !== given) {
      const end = place.deep ? '(?:/.*)?' : ''
      return new RegExp(`^${globbed(given)}${end}$`, 's').test(path)
    }
    return path === given || (place.deep && path.startsWith(`${given}/`))
  })
}

function globbed(pattern: string): string {
  return pattern.replace(/\*\*\/|\*\*|\*|\?|\[[^\]]*\]|[\\^$.|+(){}]/g, (sign) => {
    if (sign === '**/') return '(?:.*/)?'
    if (sign === '**') return '.*'
    if (sign === '*') return '[^/]*'
    if (sign === '?') return '[^/]'
    return sign.startsWith('[') ? '[^/]' : `\\${sign}`
  })
}
