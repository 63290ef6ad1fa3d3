// A plugin that was made or carried over here goes into its place: alone, whole, and over nothing.

import { homedir } from 'node:os'
import { dirname } from 'node:path'
import { hooksDirOf } from '../config/discovery.js'
import { realOf } from '../files/within.js'
import { forgetting } from './forget-plugin.js'
import { clearLeft, placeNew, recover, type Step } from './placing.js'
import type { FileTree } from './sources/file-tree.js'
import { alone, aloneIn, type Target } from './target.js'

/** `folder` is to hold it: any, or one where plugins are installed. */
export async function placeMade(folder: string, name: string, tree: FileTree, step?: Step): Promise<void> {
  const target = targetAt(folder)
  const work = () => placeNew(folder, name, tree, step)
  if (!target) {
    return aloneIn(folder, () => {
      clearLeft(folder)
      work()
    })
  }
  await alone(target, () => {
    recover(target, forgetting(target))
    work()
  })
}

function targetAt(folder: string): Target | undefined {
  const base = dirname(dirname(folder))
  if (hooksDirOf(base) !== folder) return undefined
  return { scope: realOf(base) === realOf(homedir()) ? 'user' : 'project', base }
}
