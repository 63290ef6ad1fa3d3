// Copies of a whole folder: the files keep their names, and one of them may replace a file of the guard.

import { posix } from 'node:path'
import { shown } from '../../core/base/text.js'
import { argumentsOf, baseOf, inFolder } from '../../effects/files/file-effect.js'
import { fileEffectsOf, isReader } from '../../effects/files/file-effects.js'
import { isFolder, namesIn } from '../../effects/paths/on-disk.js'
import type { Call, Script } from '../../effects/script/shell-script.js'
import type { Word } from '../../effects/script/word.js'
import { isBelow } from '../../files/within.js'
import { asked, denied, type Finding } from './finding.js'
import { type Hit, OF_AGENTS_WHAT, type Places } from './places.js'

const COPIERS = /^(?:cp|mv|rsync|ditto|scp|install|ln)$/

/** `host:x`, `scp://host/x`, but not `./a:b`. */
const REMOTE = /^(?:[^/]*:|(?:rsync|scp):\/\/)/

const MOST_ENTRIES = 1000

/** `cp -r x/. .` */
export function treeFindings(call: Call, script: Script, places: Places): Finding[] {
  const { name, args, folders } = call
  if (!COPIERS.test(name)) return []
  const { operands, valuesOf } = argumentsOf(args, { valued: 't' })
  const named = valuesOf('t', '--target-directory')
  const [target] = [...named, ...operands.slice(-1)]
  if (!target) return []
  // A copy of the project in an unrelated folder guards nothing there.
  const counts = (hit: Hit | undefined) =>
    hit && !(hit.what === OF_AGENTS_WHAT && folders.every((folder) => places.isAside(target, folder)))
  for (const source of (named.length > 0 ? operands : operands.slice(0, -1)).filter(isAll(name))) {
    const whole = `\`${name}\` copies all of ${shown(source.text)}`
    if (!isListed(source, call, script, places)) {
      const hit = places.hitBy(target, folders, 'names')
      if (hit && counts(hit)) return [overwritten(whole, hit, target)]
      continue
    }
    for (const entry of folders.flatMap((folder) => entriesOf(source, folder, places))) {
      const hit = places.hitBy(inFolder(target, entry), folders, true)
      if (!hit || !counts(hit)) continue
      const text = `${whole}, including ${shown(entry)}: ${hit.what}. Name the specific files instead.`
      return [asked('self-protection', text)]
    }
  }
  return []
}

/** Sources whose whole content is copied: `x/.`, `x/*`, and for some programs `x/` or `x`. */
function isAll(name: string): (source: Word) => boolean {
  if (name === 'ditto') return () => true
  return (source) => /^[.*]+$/.test(baseOf(source).replace(/^.*:/, '')) || /(?:^|[/:])$/.test(source.text)
}

function overwritten(whole: string, { what, verdict }: Hit, { text }: Word): Finding {
  const todo = 'Name the specific files, each with its new name.'
  const reason = `${whole} over ${shown(text)}, and its content is not known yet: it may include ${what}. ${todo}`
  return verdict === 'deny' ? denied('self-protection', reason) : asked('self-protection', reason)
}

/** Whether the folder exists now and will still have the same names when the copy starts. */
function isListed(source: Word, call: Call, { calls, outputs }: Script, places: Places): boolean {
  if (REMOTE.test(source.text)) return false
  const paths = call.folders.map((folder) => folderOf(source, folder, places))
  if (!paths.every(isFolder)) return false
  const touches = (words: readonly Word[], folders: readonly string[]) =>
    words.some(
      (word) =>
        !word.known ||
        folders
          .map((folder) => posix.normalize(places.absolute(word.text, folder)))
          .some((at) => paths.some((path) => isBelow(at, path) || isBelow(path, at))),
    )
  const isQuiet = (other: Call) => {
    if (other === call || isReader(other.name)) return true
    const effects = other.name === 'git' ? undefined : fileEffectsOf(other.name)?.(other)
    return effects?.every((one) => !touches([one.target], one.folders ?? other.folders)) ?? false
  }
  return calls.every(isQuiet) && !outputs.some(({ words, folders }) => touches(words, folders))
}

function folderOf({ text }: Word, folder: string, places: Places): string {
  return posix
    .normalize(places.absolute(text.replace(/(?<=^|\/)[.*]*\*[.*]*$/, ''), folder))
    .replace(/(.)\/+$/, '$1')
}

function entriesOf(source: Word, folder: string, places: Places): readonly string[] {
  return namesIn(folderOf(source, folder, places)).slice(0, MOST_ENTRIES)
}
