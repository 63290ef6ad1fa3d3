// The witness: the end of a log, noted a second time outside the log's folder, so that a removed or shortened log is missed.

import { lstatSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { digest } from '../../core/base/digest.js'
import { makePrivate } from '../../files/folder.js'
import { dataHome, stateHome } from '../../files/homes.js'
import { type Head, HeadFile, readEnd } from './head.js'

/** The path is found from the log's folder alone: whoever verifies knows nothing else. */
export function witnessPath(folder: string): string {
  const data = dirname(dirname(folder))
  const state = data === dataHome() ? stateHome() : join(data, 'state')
  return join(state, 'audit', `${digest(folder).slice(0, 32)}.json`)
}

/** Undefined if there is none. Throws if a newer version of Carabiner wrote it. */
export function readWitness(folder: string): ReturnType<typeof readEnd> {
  return readEnd(witnessPath(folder))
}

export function hasWitness(folder: string): boolean {
  return lstatSync(witnessPath(folder), { throwIfNoEntry: false }) !== undefined
}

/** Makes it if it is missing. Undefined if it cannot be written: that must not keep a record from being written. */
export function openWitness(folder: string, end: Head): HeadFile | undefined {
  const path = witnessPath(folder)
  try {
    if (lstatSync(path, { throwIfNoEntry: false })) return new HeadFile(path, false)
    makePrivate(dirname(path))
    const file = new HeadFile(path, true)
    file.write(end)
    return file
  } catch {
    return undefined
  }
}
