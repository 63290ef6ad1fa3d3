// A private folder for what is fetched and looked at, gone when the work is done; what a killed process left is swept.

import { lstatSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { textOf } from '../core/base/errors.js'
import { makePrivate } from '../files/folder.js'
import { stateHome } from '../files/homes.js'
import { nonce } from '../files/nonce.js'
import { PluginProblem } from './plugin-problem.js'

const NAME = /^work-[0-9a-f]{16}$/
/** Nobody looks at a review for so long. */
const LEFT_MS = 24 * 3600_000

export function workHome(): string {
  return join(stateHome(), 'plugins')
}

export async function withWorkFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = makeWorkFolder()
  try {
    return await work(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Whoever makes it removes it. */
export function makeWorkFolder(): string {
  const home = workHome()
  try {
    makePrivate(home)
    sweep(home)
    const folder = join(home, `work-${nonce()}`)
    mkdirSync(folder, 0o700)
    return folder
  } catch (error) {
    throw new PluginProblem(
      'NOT_WRITTEN',
      `Nothing can be written in ${home}: ${textOf(error)}`,
      'Make room there, or set CARABINER_HOME to a folder that can be written.',
    )
  }
}

function sweep(home: string): void {
  for (const name of readdirSync(home).filter((one) => NAME.test(one))) {
    const path = join(home, name)
    const made = lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()
    if (Date.now() - made > LEFT_MS) rmSync(path, { recursive: true, force: true })
  }
}
