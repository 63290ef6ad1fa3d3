// The witness: the end of a log, noted a second time outside the log's folder, so that a removed or shortened log is missed.

import { dirname, join } from 'node:path'
import { digest } from '../../core/base/digest.js'
import { makePrivate } from '../../files/folder.js'
import { dataHome, stateHome } from '../../files/homes.js'
import { type Head, HeadFile } from './head.js'

/** The path is found from the log's folder alone: whoever verifies knows nothing else. */
export function witnessPath(folder: string): string {
  const data = dirname(dirname(folder))
  const state = data === dataHome() ? stateHome() : join(data, 'state')
  return join(state, 'audit', `${digest(folder).slice(0, 32)}.json`)
}

/** Makes it if it is missing. Undefined if it cannot be written: that must not keep a record from being written. */
export function openWitness(path: string, end: Head): HeadFile | undefined {
  try {
    return new HeadFile(path, false)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? madeWitness(path, end) : undefined
  }
}

function madeWitness(path: string, end: Head): HeadFile | undefined {
  try {
    makePrivate(dirname(path))
    const file = new HeadFile(path, true)
    file.write(end)
    return file
  } catch {
    return undefined
  }
}
