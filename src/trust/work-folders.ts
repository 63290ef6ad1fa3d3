// The folders that a command may be in while it runs: where it starts, and where `cd` and its kin lead from there.

import { homedir } from 'node:os'
import { posix } from 'node:path'
import { quoted } from '../core/base/text.js'
import type { SimpleCommand } from '../shell/simple-command.js'
import { isReader } from './data-readers.js'
import { pathAt, tidy } from './file-place.js'
import type { HookReading } from './hook-reading.js'
import { type Lead, readable, unmarked, type Variable } from './hook-text.js'

export interface WorkFolder {
  readonly path: string
  /** It is in the copy when the hook runs. */
  readonly isCopied: boolean
  /** The way from where the hook starts; undefined where that does not matter. */
  readonly from: string | undefined
  /** A command goes there, so that what is not there yet counts too. */
  readonly isEntered: boolean
}

export interface WorkFolders {
  readonly folders: readonly WorkFolder[]
  /** What is not known of them, each as the end of a sentence. */
  readonly unseen: readonly string[]
}

/** Each `cd` may double them. */
const MOST_FOLDERS = 16

/** A program of its own starts elsewhere with them: `git -C x`, `make --directory=x`. */
const ELSEWHERE = /^(?:-C|--(?:chdir|cwd|directory|prefix|project|working-directory))(?:=|$)/

export function workFolders(
  start: string,
  reading: HookReading,
  variables: readonly Variable[],
): WorkFolders {
  const found = new Map<string, WorkFolder>()
  const unseen = new Set<string>()
  const add = (folder: WorkFolder) => {
    if (found.size < MOST_FOLDERS) found.set(keyOf(folder), folder)
    else if (!found.has(keyOf(folder))) unseen.add('it may be in more folders than are looked at')
  }
  const begin = unmarked(reading.begin ?? '', variables)
  const first: WorkFolder = { path: start, isCopied: false, from: '', isEntered: true }
  for (const folder of begin.text.startsWith('/') ? reached(first, begin) : [first]) add(folder)
  for (const target of reading.commands.flatMap(targetsOf)) {
    if (target === '-') continue
    const lead = unmarked(target, variables)
    const doubt = doubtAbout(lead.text, reading)
    if (doubt !== undefined) unseen.add(`it goes to ${quoted(readable(target, variables))}, ${doubt}`)
    if (DYNAMIC.test(lead.text)) continue
    // Whether it gets there is not known: it may fail, or be in another shell.
    for (const folder of [...found.values()]) for (const next of reached(folder, lead)) add(next)
  }
  return { folders: [...found.values()], unseen: [...unseen] }
}

const DYNAMIC = /[$`*?[{]|^~[^/]/

function doubtAbout(target: string, { repeats, assignments }: HookReading): string | undefined {
  if (DYNAMIC.test(target)) return 'a folder that only the shell knows'
  if (/^[/~]|^$/.test(target)) return undefined
  if (repeats) return 'and perhaps more than once'
  const isSought = !/^\.\.?(?:\/|$)/.test(target)
  const hasPath = process.env.CDPATH || assignments.some((one) => one.startsWith('CDPATH='))
  return isSought && hasPath ? 'which CDPATH may lead elsewhere' : undefined
}

function keyOf({ path, from, isCopied }: WorkFolder): string {
  return [path, from ?? '/', isCopied].join('\0')
}

/** By the kernel's way and by the shell's, for which `link/..` is where the link lies. */
function reached(folder: WorkFolder, { text, variable }: Lead): readonly WorkFolder[] {
  const target = expandedHome(text === '' ? '~/' : text)
  if (target.startsWith('/')) {
    const common = { isCopied: variable?.isCopied ?? false, from: undefined, isEntered: true }
    return [pathAt('/', target), posix.resolve(target)].map((path) => ({ ...common, path }))
  }
  const { path, from, isCopied } = folder
  const common = { isCopied, isEntered: true }
  const way = from === undefined ? undefined : `${from}/${target}`
  return [
    { ...common, path: pathAt(path, target), from: way && tidy(way) },
    { ...common, path: posix.resolve(path, target), from: way && tidy(posix.join('.', tidy(way))) },
  ]
}

/** Nothing else is changed: it may go through links. */
export function expandedHome(text: string): string {
  return /^~(?:\/|$)/.test(text) ? homedir() + text.slice(1) : text
}

/** Where a command goes, or starts another. */
function targetsOf(command: SimpleCommand): readonly string[] {
  const [, ...words] = command.words
  if (/^(?:cd|chdir|pushd)$/.test(command.name)) {
    return [words.find((word) => word === '-' || !/^[-+]./.test(word)) ?? '']
  }
  if (isReader(command)) return []
  return words.flatMap((word, i) => {
    if (/^-C./.test(word)) return [word.slice(2)]
    if (!ELSEWHERE.test(word)) return []
    return word.includes('=') ? [word.slice(word.indexOf('=') + 1)] : (words[i + 1] ?? [])
  })
}
