// What a table of programs is made of: an entry reads one call of its program, and its examples show what it sees.

import { posix } from 'node:path'
import { realOf } from '../files/within.js'
import type { Effect, Place, Source } from './effect.js'
import { absolutePath, isNoFile, isSomewhere } from './paths/absolute-path.js'
import { isLink } from './paths/on-disk.js'
import { isPattern } from './paths/path-overlap.js'
import { plainHost } from './plain-host.js'
import { plainResource } from './plain-resource.js'
import type { Call, Script } from './script/shell-script.js'
import { certainStart, isWild, type Word } from './script/word.js'

type Without<T, Keys extends PropertyKey> = T extends unknown ? Omit<T, Keys> : never

/** An effect before it is known which words do it. */
export type Draft = Without<Effect, 'by' | 'guess'> & { readonly by?: string }

/** One call of a program. */
export interface Use {
  readonly call: Call
  readonly args: readonly Word[]
  /** The texts of `args`. */
  readonly texts: readonly string[]
  readonly script: Script
  /** Whether another program runs what this one prints or downloads. */
  readonly isRun: boolean
  /** One for each folder that the call may run in. None if it is no file, such as `/dev/null`. */
  places(word: Word, deep?: boolean, folders?: readonly string[]): readonly Place[]
  /** The effects of another call of the script. */
  of(call: Call): readonly Draft[]
}

export interface Example {
  readonly command: string
  /** Each is part of an effect of the command. Without any, it only runs the program. */
  readonly effects: readonly Readonly<Record<string, unknown>>[]
}

export interface Program {
  /** Without folder, version and `.exe`. */
  readonly names: readonly string[]
  /** Its first plain word says what it does. */
  readonly hasVerb?: true
  readonly effects: (use: Use) => readonly Draft[]
  readonly examples: readonly Example[]
}

/** Whether no part of the script can put a file there that the call reads, in the folder where it runs. */
export function isAlone({ script: { calls, outputs }, texts }: Use): boolean {
  const moves = texts.some((text) => /^-[Cd]|^--(?:directory|work-tree|git-dir)/.test(text))
  return calls.length === 1 && outputs.length === 0 && !moves
}

// ---- places -----------------------------------------------------------------------------------------------------

/** Nothing is below a device. */
const DEVICE = /^\/dev\/(?!shm(?:\/|$))./

export function placesOf(
  word: Word,
  folders: readonly string[],
  home: string,
  deep: boolean,
): readonly Place[] {
  // A process substitution is a pipe.
  if (isNoFile(word.text) || /^[<>]\(/.test(word.text)) return []
  if (!word.known) return [{ path: word.text, known: false, wild: false, deep }]
  const [only] = folders
  if (folders.length === 1 && only !== undefined && !isSomewhere(only) && !word.text.endsWith('/')) {
    const wild = isWild(word) || isPattern(only)
    const given = absolutePath(word.text, only, home)
    return [{ path: plainPath(wild ? withStars(given) : given), known: true, wild, deep }]
  }
  const found = new Map<string, Place>()
  for (const folder of folders) {
    const isLost = isSomewhere(folder) && !/^(?:[/~]|file:)/.test(word.text)
    const wild = isWild(word) || (!isLost && isPattern(folder))
    const given = isLost ? word.text : absolutePath(word.text, folder, home)
    const path = isLost ? given : plainPath(wild ? withStars(given) : given)
    const place = { path, known: !isLost, wild, deep: deep && !DEVICE.test(path) }
    found.set(path, place)
    // `rm -r link/`: some programs follow it.
    if (/[^/.]\/+$/.test(word.text) && place.known && !place.wild && isLink(path))
      found.set(realOf(path), { ...place, path: realOf(path) })
  }
  return [...found.values()]
}

/** `@(a)` is `a`. `!(a)` matches almost any name, and counts as `*`. */
function withStars(path: string): string {
  return path.replace(/@\(([^()|/]*)\)/g, '$1').replace(/[@!+?*]\([^()/]*\)/g, '*')
}

/** Without `..`, doubled slashes and a slash at the end. */
export function plainPath(path: string): string {
  // Most paths are plain already.
  if (path.startsWith('/') && !/\/\.{0,2}(?:\/|$)/.test(path)) return path
  return posix.normalize(path).replace(/(.)\/+$/, '$1')
}

export function literalPlace(path: string, deep = false): Place {
  return { path, known: true, wild: false, deep }
}

// ---- drafts -----------------------------------------------------------------------------------------------------

export function onPlaces(kind: 'read' | 'write' | 'delete', places: readonly Place[]): Draft[] {
  return places.map((place) => ({ kind, place }))
}

export function reads(use: Use, words: readonly Word[], deep = false): Draft[] {
  const drafts: Draft[] = []
  for (const word of words) for (const place of use.places(word, deep)) drafts.push({ kind: 'read', place })
  return drafts
}

export function writes(use: Use, words: readonly Word[], deep = false): Draft[] {
  const drafts: Draft[] = []
  for (const word of words) for (const place of use.places(word, deep)) drafts.push({ kind: 'write', place })
  return drafts
}

/** Owners of a `setting` that is dropped unless guards depend on its place: of anybody's, or of more than git's. */
export const ANYBODY = ''
export const NOT_GIT = '!git'

export function maybeSetting(places: readonly Place[], owner = ANYBODY, sure = owner === ANYBODY): Draft[] {
  return places.map((place) => ({ kind: 'setting', owner, place, sure }))
}

export function cloud(
  operation: string,
  destroys: boolean,
  resource?: string,
  others: readonly string[] = [],
): Draft {
  const named = resource === undefined ? undefined : plainResource(resource)
  const draft: Draft = { kind: 'cloud', operation, resource: named, destroys }
  return others.length === 0 ? draft : { ...draft, others: others.slice(0, MOST_OTHERS) }
}

const MOST_OTHERS = 20

export function database(operation: string, destroys: boolean, resource?: string): Draft {
  return { kind: 'database', operation, resource, destroys }
}

export function privilege(operation: string): Draft {
  return { kind: 'privilege', operation }
}

export function onProcess(operation: string, target?: string): Draft {
  return { kind: 'process', operation, target }
}

export function send(host: string | undefined, from: readonly Source[]): Draft {
  return { kind: 'send', host: knownHost(host), from }
}

export function fetched(host: string | undefined, runs: boolean): Draft {
  return { kind: 'fetch', host: knownHost(host), runs }
}

/** `$HOST.example.com` may be any host: the variable may end with a slash. */
function knownHost(host: string | undefined): string | undefined {
  return host === undefined || certainStart(host) !== undefined ? undefined : plainHost(host)
}

// ---- words ------------------------------------------------------------------------------------------------------

/** The words that are neither options nor the values of options that take the next word. */
export function plainWords(texts: readonly string[], valued: RegExp = /^$/): readonly string[] {
  const found: string[] = []
  for (let i = 0; i < texts.length; i++) {
    const text = texts[i] as string
    if (!text.startsWith('-')) found.push(text)
    else if (valued.test(text)) i++
  }
  return found
}

/**
 * Words that may be the verb. An option before the verb may take the next word, which then only looks like the verb:
 * `npm --access public publish`. Returns one index unless there is such an option.
 */
export function verbIndexes(texts: readonly string[]): readonly number[] {
  const found: number[] = []
  for (const [i, text] of texts.entries()) {
    if (text.startsWith('-')) continue
    found.push(i)
    const before = texts[i - 1] ?? ''
    if (!before.startsWith('-') || before.includes('=')) break
  }
  return found
}

/** The value of an option, in the same word after `=` or in the next. */
export function optionValue(texts: readonly string[], option: RegExp): string | undefined {
  for (const [i, text] of texts.entries()) {
    const [name = '', value] = /^(--?[\w-]+)(?:=(.*))?$/s.exec(text)?.slice(1) ?? []
    if (name !== '' && option.test(name)) return value ?? texts[i + 1]
  }
  return undefined
}

export function hostOf(address: string): string | undefined {
  const [, host] =
    /^(?:[a-z][\w+.-]*:)?\/\/(?:[^/@?#\\\s]*@)?(\[[^\]]*\]|[^/:?#\\\s]+)/i.exec(address) ??
    /^(?:[\w.-]+@)?(\[[^\]]*\]|localhost|[\w-]+(?:\.[\w-]+)+|\d+(?:\.\d+){3})(?=[:/?#]|$)/i.exec(address) ??
    []
  return host === undefined || /[$`{]/.test(host) ? undefined : plainHost(host)
}
