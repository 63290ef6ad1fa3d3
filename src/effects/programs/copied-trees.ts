// Copies of a whole folder: its files keep their names, and one of them may replace a setting.

import { posix } from 'node:path'
import { isBelow } from '../../files/within.js'
import { argumentsOf, baseOf, inFolder } from '../files/file-effect.js'
import { fileEffectsOf, isReader } from '../files/file-effects.js'
import { namesIn } from '../paths/on-disk.js'
import { ANYBODY, type Draft, maybeSetting, type Use } from '../program.js'
import { remembered } from '../remembered.js'
import type { Call } from '../script/shell-script.js'
import type { Word } from '../script/word.js'

export interface Surroundings {
  readonly cwd: string
  readonly projectDir: string
  readonly home: string
}

const COPIERS = /^(?:cp|mv|rsync|ditto|scp|install|ln)$/

const copies = remembered((name) => COPIERS.test(name))

/** `host:x`, `scp://host/x`, but not `./a:b`. */
const REMOTE = /^(?:[^/]*:|(?:rsync|scp):\/\/)/

const MOST_ENTRIES = 1000

/** `rsync -a new/ ~/.config/agent/` */
export function copiedTrees(use: Use, around: Surroundings): readonly Draft[] {
  const { name, args } = use.call
  if (!copies(name)) return []
  const { operands, valuesOf } = argumentsOf(args, { valued: 't' })
  const named = valuesOf('t', '--target-directory')
  const [target] = [...named, ...operands.slice(-1)]
  if (!target?.known || REMOTE.test(target.text)) return []
  return (named.length > 0 ? operands : operands.slice(0, -1))
    .filter((source) => isWhole(source, name))
    .flatMap((source) => {
      const entries = entriesOf(source, use)
      // A copy of the project in an unrelated folder guards nothing there.
      if (use.places(target).every(({ path }) => isAside(path, around))) return []
      if (!entries) return maybeSetting(use.places(target, true))
      return entries.flatMap((entry) =>
        maybeSetting(use.places(inFolder(target, entry), true), ANYBODY, false),
      )
    })
}

/** Whether a folder is neither inside nor above one where an agent works. */
function isAside(path: string, { cwd, projectDir, home }: Surroundings): boolean {
  const near = [cwd, projectDir, home]
  return near.every((one) => !isBelow(path, one) && !isBelow(one, path))
}

/** Sources whose whole content is copied: `x/.`, `x/*`, and for some programs `x/` or `x`. */
function isWhole(source: Word, name: string): boolean {
  return (
    name === 'ditto' || /^[.*]+$/.test(baseOf(source).replace(/^.*:/, '')) || /(?:^|[/:])$/.test(source.text)
  )
}

/** The names that are copied. Undefined if the folder is elsewhere, is not there, or may change before the copy. */
function entriesOf(source: Word, use: Use): readonly string[] | undefined {
  const { places } = use
  if (REMOTE.test(source.text) || !source.known) return undefined
  const folder = { ...source, text: source.text.replace(/(?<=^|\/)[.*]*\*[.*]*$/, '') || '.' }
  const paths = places(folder).map(({ path }) => posix.normalize(path))
  if (changesBefore(paths, use)) return undefined
  const names = paths.map(namesIn)
  return names.length === 0 || names.some((one) => one.length === 0)
    ? undefined
    : names.flat().slice(0, MOST_ENTRIES)
}

/** Whether another part of the script may change these folders. */
function changesBefore(paths: readonly string[], { call, script, places }: Use): boolean {
  const touches = (words: readonly Word[], folders: readonly string[]) =>
    words.some((word) =>
      places(word, false, folders).some(
        ({ path: at, known }) => !known || paths.some((path) => isBelow(at, path) || isBelow(path, at)),
      ),
    )
  const isQuiet = (other: Call) => {
    if (other.command === call.command || isReader(other.name)) return true
    const effects = other.name === 'git' ? undefined : fileEffectsOf(other.name)?.(other)
    return effects?.every((one) => !touches([one.target], one.folders ?? other.folders)) ?? false
  }
  return !script.calls.every(isQuiet) || script.outputs.some(({ words, folders }) => touches(words, folders))
}
