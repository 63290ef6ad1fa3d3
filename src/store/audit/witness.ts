// The witness: a second note of the log's end, outside the log's folder, so that a removed or shortened log is noticed.

import { accessSync, constants, existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { digest } from '../../core/base/digest.js'
import { textOf } from '../../core/base/errors.js'
import { dataHome, stateHome } from '../../files/homes.js'
import { ifThere, lstatIfThere } from '../../files/if-there.js'
import { type Head, HeadFile } from './head.js'
import { checkFile, checkOwnFolder } from './log-folder.js'

/** Derived from the log's folder alone, because a verifier knows nothing else. */
export function witnessPath(folder: string): string {
  const data = dirname(dirname(folder))
  const state = data === dataHome() ? stateHome() : join(data, 'state')
  return join(state, 'audit', `${digest(folder).slice(0, 32)}.json`)
}

/** Creates it if it is missing. A problem with it must not prevent records, so it is only reported. */
export function openWitness(
  path: string,
  end: Head,
  onTrouble: (text: string) => void = () => {},
): HeadFile | undefined {
  try {
    checkOwnFolder(dirname(path))
    return openedWitness(path) ?? madeWitness(path, end)
  } catch (error) {
    onTrouble(`${unwitnessedText(path, textOf(error))}; fix that`)
    return undefined
  }
}

/** Undefined if there is none. */
function openedWitness(path: string): HeadFile | undefined {
  return ifThere(() => new HeadFile(path, false))
}

function madeWitness(path: string, end: Head): HeadFile {
  const file = new HeadFile(path, true)
  file.write(end)
  return file
}

export function unwitnessedText(path: string, why: string | undefined): string {
  const because = why === undefined ? '' : ` (${why})`
  return `the witness of the audit log, ${path}, cannot be written${because}: if the newest records are cut off, that goes unnoticed`
}

/** Why it cannot be written now. Checks without writing. */
export function witnessProblem(path: string): string | undefined {
  try {
    const folder = dirname(path)
    if (lstatIfThere(folder)) checkOwnFolder(folder)
    const stats = lstatIfThere(path)
    if (stats) checkFile(path, stats)
    const paths = [path, folder, dirname(folder), dirname(dirname(folder))]
    accessSync(paths.find((one) => existsSync(one)) ?? folder, constants.W_OK)
    return undefined
  } catch (error) {
    return textOf(error)
  }
}
