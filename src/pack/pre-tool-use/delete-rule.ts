// Deletes that cannot be undone: of the working folder, a folder above it or the home folder, and of unknown targets.

import { posix } from 'node:path'
import { shown } from '../../core/base/text.js'
import type { Deed, FileEffect } from '../../effects/files/file-effect.js'
import { SOMEWHERE } from '../../effects/paths/absolute-path.js'
import { canBe, isAny, isPattern, type Parts, partsOf } from '../../effects/paths/path-overlap.js'
import type { Call } from '../../effects/script/shell-script.js'
import { isWild, type Word } from '../../effects/script/word.js'
import { realOf } from '../../files/within.js'
import { asked, denied, type Finding } from './finding.js'
import type { Places } from './places.js'

/** The system does not work without these. */
const OF_THE_SYSTEM = new Set(
  `/ /bin /boot /dev /etc /home /lib /lib32 /lib64 /libx32 /media /mnt /opt /proc /root /run /sbin /srv /sys /tmp /usr
  /usr/bin /usr/lib /usr/local /usr/sbin /usr/share /var /var/lib /users /system /library /applications /volumes
  /private`.split(/\s+/),
)

export function isOfTheSystem(path: string): boolean {
  return OF_THE_SYSTEM.has(
    posix
      .normalize(path)
      .replace(/(.)\/+$/, '$1')
      .toLowerCase(),
  )
}

const VERBS: Readonly<Record<Deed, string>> = {
  delete: 'deletes',
  move: 'moves',
  change: 'changes',
  write: 'writes',
  link: 'links',
}

export function destructionBy(call: Call, effects: readonly FileEffect[], places: Places): Finding[] {
  return effects.flatMap((effect) => {
    const { deed, target } = effect
    if (deed !== 'delete' && deed !== 'move' && !(deed === 'change' && isRecursive(call))) return []
    if (!target.known) return unresolved(call, effect)
    const folders = effect.folders ?? call.folders
    return folders.flatMap((folder) => at(call, effect, folder, places) ?? [])
  })
}

/** If the variable is empty, or a list contains `/`, a recursive delete is a disaster. */
function unresolved(call: Call, { deed, target }: FileEffect): Finding[] {
  if (deed === 'change') return []
  if (deed === 'delete' && isRecursive(call)) {
    return [
      denied(
        'unresolved-delete',
        `${called(call)} deletes ${shown(target.text)} and everything in it, but what that is depends on the running shell. Write out the path.`,
      ),
    ]
  }
  return [
    asked(
      'not-understood',
      `${called(call)} ${VERBS[deed]} ${shown(target.text)}, but what that is depends on the running shell. Write out the path.`,
    ),
  ]
}

function at(call: Call, effect: FileEffect, folder: string, places: Places): Finding | undefined {
  const { target, deed } = effect
  const isRelative = !/^[/~]|^file:/.test(target.text)
  if (folder === SOMEWHERE && isRelative) return lost(call, effect)
  places.count()
  const path = places.absolute(target.text, folder)
  const reason = greatLoss(path, isWild(target), places, effect)
  if (reason === undefined) return undefined
  const sentence = `${called(call)} ${VERBS[deed]} ${shown(target.text)}, ${reason}. Name the specific files or folders in it instead.`
  // Moving all files into a folder loses nothing.
  if (deed === 'move' && isWild(target)) return asked('destructive-delete', sentence)
  // Nothing is lost, but it affects the guard's own files.
  if (deed === 'change' && /^which is the (?:working folder|project)$/.test(reason))
    return asked('destructive-delete', sentence)
  return denied('destructive-delete', sentence)
}

function lost(call: Call, { deed, target }: FileEffect): Finding | undefined {
  if (deed !== 'delete' || !isRecursive(call)) return undefined
  const reason = `${called(call)} deletes ${shown(target.text)} in a folder that depends on the running shell. Write out the path.`
  return goesUp(target) ? denied('unresolved-delete', reason) : asked('not-understood', reason)
}

function goesUp(word: Word): boolean {
  return isWild(word) || partsOf(word.text).includes('..') || partsOf(word.text).length === 0
}

/** Why the path must not be deleted. Undefined if it may be. */
function greatLoss(
  path: string,
  wild: boolean,
  places: Places,
  { deed, dots }: FileEffect,
): string | undefined {
  const lexical = posix.normalize(path).replace(/(.)\/+$/, '$1')
  // Everything in a folder counts as the folder itself.
  const parts = lexical.split('/')
  const isAll = wild && isEvery(parts.at(-1) ?? '')
  while (wild && isEvery(parts.at(-1) ?? '')) parts.pop()
  const folder = isAll ? parts.join('/') || '/' : lexical
  if (wild && isPattern(folder)) return wildLoss(partsOf(folder), places, dots ?? false)
  const isMode = deed === 'change'
  for (const one of new Set([posix.normalize(folder), realOf(folder)])) {
    const found = lossOf(one.replace(/(.)\/+$/, '$1'), places, isMode)
    if (found !== undefined) return found
  }
  return undefined
}

/** The same for a pattern that matches such a folder, or one above it. */
function wildLoss(pattern: Parts, places: Places, dots: boolean): string | undefined {
  for (const path of OF_THE_SYSTEM) if (reaches(pattern, partsOf(path), dots)) return 'a system folder'
  for (const [folder, name] of staying(places)) {
    for (const one of new Set([folder, realOf(folder)])) {
      const parts = partsOf(one)
      for (let end = parts.length; end > 0; end--) {
        if (!reaches(pattern, parts.slice(0, end), dots)) continue
        return `which ${end === parts.length ? 'is' : 'contains'} ${name}`
      }
    }
  }
  return undefined
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

function staying({ cwd, projectDir, home }: Places): readonly (readonly [string, string])[] {
  return [
    [cwd, 'the working folder'],
    [projectDir, 'the project'],
    [home, 'the home folder'],
  ]
}

function lossOf(path: string, places: Places, isMode: boolean): string | undefined {
  if (isOfTheSystem(path)) return 'a system folder'
  for (const [folder, name] of staying(places)) {
    for (const one of new Set([posix.normalize(folder).replace(/(.)\/+$/, '$1'), realOf(folder)])) {
      if (path === one) return `which is ${name}`
      if (one.startsWith(`${path}/`)) return `which contains ${name}`
    }
  }
  if (!isMode && path === `${places.projectDir}/.git`) return "which is the project's history"
  return undefined
}

/** Every delete by git, find or rsync is recursive. */
function isRecursive({ name, args }: Call): boolean {
  if (/^(?:unlink|shred|rmdir|mv)$/.test(name)) return false
  if (!/^(?:rm|chmod|chown|chgrp|srm|trash)$/.test(name)) return true
  return args.some(({ text }) => /^-\w*[rR]|^--r/.test(text))
}

function called({ name }: Call): string {
  return `\`${name}\``
}
