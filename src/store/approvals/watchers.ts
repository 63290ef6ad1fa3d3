// Who sits before the open questions: a file for each, which counts as long as its process lives.

import { renameSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { makePrivate, namesIn } from '../../files/folder.js'
import { nonce } from '../../files/nonce.js'
import { readOwn, removeIfThere } from '../../files/plain-file.js'
import { startOf } from '../../files/process.js'
import { parsed } from './stored-question.js'

export interface Watching {
  /** Idempotent. */
  end(): void
}

const NAME = /^\d+-[0-9a-f]+\.json$/
const MAX_BYTES = 4096

export function beginWatching(folder: string): Watching {
  makePrivate(folder)
  const { pid } = process
  const path = join(folder, `${pid}-${nonce()}.json`)
  const content = JSON.stringify({ pid, start: startOf(pid) ?? null, host: hostname() })
  // Whole from the beginning: half a file is one of the dead.
  const draft = `${path}.tmp`
  writeFileSync(draft, content, { flag: 'wx', mode: 0o600 })
  renameSync(draft, path)
  return { end: () => removeIfThere(path) }
}

/** Files of the dead are removed on the way. */
export function isAnybodyWatching(folder: string): boolean {
  for (const name of namesIn(folder).filter((name) => NAME.test(name))) {
    const path = join(folder, name)
    try {
      if (isAlive(path)) return true
      removeIfThere(path)
    } catch {
      // gone meanwhile, or not to be read just now
    }
  }
  return false
}

/** Who looks from another machine cannot be asked whether they live, and is not waited for. */
function isAlive(path: string): boolean {
  const read = readOwn(path, MAX_BYTES)
  if ('problem' in read) return false
  const { pid, start, host } = parsed(read.text)
  return host === hostname() && typeof start === 'string' && startOf(Number(pid)) === start
}
