// Putting a plugin in its place, replacing and removing it: whenever it is interrupted, what is found later is the old or the new.

import { existsSync, lstatSync, mkdirSync, readdirSync, renameSync, rmdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { visibleName } from '../core/visible.js'
import { nonce } from '../state/nonce.js'
import { collisionKey } from './entry-path.js'
import type { FileTree } from './file-tree.js'
import { readFolderTree } from './folder-source.js'
import { isLockDraft, type LockEntry, readLock, writeLock } from './lock-file.js'
import { isPluginName } from './plugin-name.js'
import { PluginProblem } from './plugin-problem.js'
import { lockPath, makePluginsDir, pluginsDir, type Target } from './target.js'
import { writeTree } from './tree-files.js'

/*
 * All in the folder of plugins itself, in folders whose names begin with a dot, which nobody looks into for hooks:
 *
 *   .staging-N/NAME   the new files. The lock file is written when they are whole: from then on they are what is to be.
 *   .old-N/NAME       what was there before.
 *   .gone-N/NAME      what is being removed. It is gone from the moment it has its place here.
 *
 * So the lock file decides between old and new, and `recover` does what is left to do.
 */
const LEFT = /^\.(staging|old|gone)-[0-9a-f]{16}$/

/** Between the steps, for tests that end the process there. */
export type Step = (name: string) => void

const NO_STEP: Step = () => undefined

/** What belongs to a plugin elsewhere: trust, data, switches. `folder` is where its files are now. */
export type Forget = (name: string, folder: string) => void

export interface Placing {
  readonly name: string
  readonly tree: FileTree
  readonly entry: LockEntry
  /** The integrity of what it replaces, as it was shown; undefined: nothing may be there. */
  readonly replaces?: string | undefined
}

/** Call it alone (see target.ts), after `recover`. */
export function place(target: Target, { name, tree, entry, replaces }: Placing, step = NO_STEP): void {
  makePluginsDir(target)
  const folder = pluginsDir(target)
  checkPlace(folder, name, replaces)
  const staging = join(folder, `.staging-${nonce()}`)
  try {
    mkdirSync(staging)
    step('begun')
    writeTree(tree, join(staging, name))
    step('staged')
    writeLock(lockPath(target), new Map([...readLock(lockPath(target)), [name, entry]]))
  } catch (error) {
    rmSync(staging, { recursive: true, force: true })
    throw error
  }
  step('decided')
  swapIn(folder, staging, name, step)
  rmSync(staging, { recursive: true, force: true })
  step('done')
}

/** The new files in, the old ones out of the way first. */
function swapIn(folder: string, staging: string, name: string, step: Step): void {
  const old = join(folder, `.old-${nonce()}`)
  if (isThere(join(folder, name))) {
    mkdirSync(old)
    step('room')
    renameSync(join(folder, name), join(old, name))
    step('aside')
  }
  renameSync(join(staging, name), join(folder, name))
  step('placed')
  rmSync(old, { recursive: true, force: true })
}

/** Throws where something is that is not to be replaced, or is not any more what was shown. */
export function checkPlace(folder: string, name: string, replaces: string | undefined): void {
  const taken = pluginEntries(folder).find((one) => collisionKey(one) === collisionKey(name))
  if (replaces === undefined) {
    if (taken === undefined) return
    throw new PluginProblem(
      'ALREADY_INSTALLED',
      `${visibleName(taken)} is there already, in ${visibleName(folder)}`,
      `Type carabiner update ${name} for a newer version, carabiner uninstall ${name} first, or give another name with --name NAME.`,
    )
  }
  if (integrityAt(join(folder, name)) === replaces) return
  throw new PluginProblem(
    'MISMATCH',
    `${name} was changed meanwhile, and was left as it is`,
    'Look at it again: carabiner update',
  )
}

/** Removes it whole. Answers false if there was nothing. Call it alone, after `recover`. */
export function unplace(target: Target, name: string, forget: Forget, step = NO_STEP): boolean {
  const folder = pluginsDir(target)
  const [isHere, isLocked] = [isThere(join(folder, name)), readLock(lockPath(target)).has(name)]
  if (isHere) {
    const gone = join(folder, `.gone-${nonce()}`)
    mkdirSync(gone)
    step('begun')
    renameSync(join(folder, name), join(gone, name))
    step('aside')
    finish(target, gone, name, forget, step)
  } else {
    forget(name, join(folder, name))
    if (isLocked) unlock(target, name)
  }
  removeEmpty(folder)
  return isHere || isLocked
}

function finish(target: Target, gone: string, name: string, forget: Forget, step: Step): void {
  forget(name, join(gone, name))
  step('forgotten')
  unlock(target, name)
  step('unlocked')
  rmSync(gone, { recursive: true, force: true })
  step('done')
}

function unlock(target: Target, name: string): void {
  const path = lockPath(target)
  const lock = readLock(path)
  if (lock.has(name)) writeLock(path, new Map([...lock].filter(([one]) => one !== name)))
}

/** As if there never was a plugin. */
function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder)
    rmdirSync(dirname(folder))
  } catch {
    // something is in there
  }
}

// ---- afterwards -----------------------------------------------------------------------------------------------

/** Whether somebody was interrupted here. */
export function isInterrupted(target: Target): boolean {
  return leftIn(pluginsDir(target)).length > 0
}

/** Finishes what a process that was ended left half done. Call it alone. */
export function recover(target: Target, forget: Forget): void {
  const folder = pluginsDir(target)
  for (const name of namesIn(dirname(folder)).filter(isLockDraft))
    rmSync(join(dirname(folder), name), { force: true })
  const left = leftIn(folder)
  if (left.length === 0) return
  const lock = readLock(lockPath(target))
  const each = (kind: string, work: (from: string, name: string) => void) => {
    for (const one of left.filter((path) => path.startsWith(`.${kind}-`))) {
      const from = join(folder, one)
      for (const name of lstatSync(from).isDirectory() ? namesIn(from).filter(isPluginName) : [])
        work(from, name)
      rmSync(from, { recursive: true, force: true })
    }
  }
  each('staging', (from, name) => {
    const wanted = lock.get(name)?.integrity
    if (wanted === undefined || integrityAt(join(from, name)) !== wanted) return
    if (integrityAt(join(folder, name)) !== wanted) swapIn(folder, from, name, NO_STEP)
  })
  each('old', (from, name) => {
    if (!isThere(join(folder, name))) renameSync(join(from, name), join(folder, name))
  })
  each('gone', (from, name) => {
    if (!isThere(join(folder, name))) finish(target, from, name, forget, NO_STEP)
  })
  removeEmpty(folder)
}

function leftIn(folder: string): readonly string[] {
  return namesIn(folder).filter((name) => LEFT.test(name))
}

/** What may be a plugin in there: what discovery looks at. */
export function pluginEntries(folder: string): readonly string[] {
  return namesIn(folder).filter((name) => !name.startsWith('.') && name !== 'hooks.json')
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return []
    throw error
  }
}

/** Also a link that leads nowhere. */
export function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}

/** Undefined where nothing is, or nothing that could have been installed. */
export function integrityAt(folder: string): string | undefined {
  if (!existsSync(folder)) return undefined
  try {
    return readFolderTree(folder).integrity()
  } catch (error) {
    if (error instanceof PluginProblem) return undefined
    throw error
  }
}
