// The user's list of digests that need no review, for machines without anyone to ask.

import { resolve } from 'node:path'
import { textOf } from '../core/base/errors.js'
import { quoted } from '../core/base/text.js'
import { callerPath } from '../files/caller.js'
import { userHome } from '../files/homes.js'
import { readPlain } from '../files/plain-file.js'
import { foldersAround, isMarked } from '../files/project-folders.js'
import { isWithin, realOf } from '../files/within.js'
import { isDigest } from '../store/trust-records.js'

const MOST_BYTES = 1024 * 1024

/** Digests, each with the name in its comment, which may be empty. */
export type DigestList = ReadonlyMap<string, string>

/**
 * One digest per line. `#` starts a comment. Throws for a file that may have come with the project, or that is not a
 * list of digests.
 */
export function preTrusted(file: string, projectDir: string): DigestList {
  const path = callerPath(file)
  if (projectsAround(projectDir).some((folder) => isWithin(path, folder))) {
    throw new Error(
      `the list of digests ${quoted(path)} is inside the project, which must not trust itself; put it elsewhere`,
    )
  }
  return digestsIn(textIn(path), path)
}

/** The project and those around it, because a repository brings everything inside it. */
function projectsAround(projectDir: string): readonly string[] {
  return [projectDir, ...foldersAround([resolve(projectDir)], [userHome()]).filter(isMarked)]
}

function textIn(path: string): string {
  try {
    const read = readPlain(realOf(path), MOST_BYTES)
    if ('text' in read) return read.text
    if (read.problem === 'is empty') return ''
    throw new Error(`it ${read.problem}`)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT')
      throw new Error(`cannot find the list of digests ${quoted(path)}`, { cause: error })
    throw new Error(`the list of digests ${quoted(path)} cannot be read: ${textOf(error)}`, { cause: error })
  }
}

function digestsIn(text: string, path: string): DigestList {
  const digests = new Map<string, string>()
  for (const [i, line] of text.split('\n').entries()) {
    const [before = '', ...comment] = line.split('#')
    const digest = before.trim().toLowerCase()
    if (digest === '') continue
    if (!isDigest(digest)) {
      throw new Error(
        `${path}:${i + 1} is not a SHA-256 digest in hexadecimal: ${quoted(digest.slice(0, 80))}`,
      )
    }
    digests.set(digest, comment.join('#').trim())
  }
  return digests
}
