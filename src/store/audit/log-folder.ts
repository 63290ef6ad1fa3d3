// The folder of a project's log: where it is, whether only this user can write there, and advice when it fails.

import { lstatSync, type Stats } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { digest } from '../../core/base/digest.js'
import { textOf } from '../../core/base/errors.js'
import { makePrivate } from '../../files/folder.js'
import { dataHome } from '../../files/homes.js'
import { lstatIfThere } from '../../files/if-there.js'
import { adviceOn } from '../../files/versioned-file.js'
import { isInProject } from '../../files/within.js'

/** Throws if it would be inside the project, which could then change its own audit log. */
export function auditFolder(projectDir: string, dataDir: string = dataHome()): string {
  const project = resolve(projectDir)
  const data = resolve(dataDir)
  if (isInProject(data, project)) {
    throw new Error(
      `the audit log cannot be kept in ${JSON.stringify(data)}, which lies in the project ${JSON.stringify(project)}: the project could change it; set CARABINER_HOME to a folder outside it (CARABINER_HOME, XDG_DATA_HOME and HOME decide where it is)`,
    )
  }
  return join(data, 'audit', digest(project).slice(0, 32))
}

/** Creates the folder if it is missing. The folder around it is also ours, and must not be a link to somewhere else. */
export function checkFolder(folder: string): Stats {
  const around = dirname(folder)
  if (lstatIfThere(around)?.isSymbolicLink())
    throw new Error(`${around} is a link; remove it to start a new log there`)
  return checkOwnFolder(folder)
}

export function checkOwnFolder(folder: string): Stats {
  let stats = lstatIfThere(folder)
  if (!stats) {
    makePrivate(folder)
    stats = lstatSync(folder)
  }
  if (!stats.isDirectory()) {
    const what = stats.isSymbolicLink() ? 'a link' : 'not a folder'
    throw new Error(`${folder} is ${what}; remove it to start a new log there`)
  }
  checkOwner(folder, stats)
  return stats
}

/** It must be this user's regular file with a single name: writing to it must not change another file. */
export function checkFile(path: string, stats: Stats): void {
  if (!stats.isFile()) throw new Error(`${path} is not a regular file; move it away`)
  if (stats.nlink !== 1)
    throw new Error(`${path} is ${stats.nlink === 0 ? 'gone' : 'a link to another file'}; move it away`)
  checkOwner(path, stats)
}

/** Whether it is the same file or folder, with the same owner and mode. Then it need not be checked again. */
export function isUnchanged(now: Stats, before: Stats): boolean {
  return IDENTITY.every((field) => now[field] === before[field])
}

const IDENTITY = ['ino', 'dev', 'uid', 'mode'] as const

function checkOwner(path: string, { uid, mode }: Stats): void {
  const me = process.geteuid?.()
  if (me === undefined) return
  if (uid !== me)
    throw new Error(
      `${path} belongs to user ${uid}, not to the current user (${me}); remove it, or set CARABINER_HOME`,
    )
  if ((mode & 0o022) !== 0) throw new Error(`others may write to ${path}; chmod go-w it if you trust it`)
}

/** An error that says what happened, where, and what to do. */
export function withAdvice(folder: string, error: unknown): Error {
  const { code } = error as NodeJS.ErrnoException
  const todo = ADVICE[code ?? ''] ?? adviceOn(code, 'written')
  const text = `the audit log in ${folder} cannot be written: ${textOf(error)}${todo && `; ${todo}`}`
  return Object.assign(new Error(text, { cause: error }), code !== undefined && { code })
}

const LINKED = 'remove the link that is in place of a file'
const ELSEWHERE =
  'set CARABINER_HOME to a folder on a file system that has links, where this user may append to files'

/** Advice for errors that only appending can cause. */
const ADVICE: Readonly<Record<string, string>> = {
  ELOOP: LINKED,
  EMLINK: LINKED,
  EPERM: ELSEWHERE,
  ENOTSUP: ELSEWHERE,
  EOPNOTSUPP: ELSEWHERE,
  ENOSYS: ELSEWHERE,
}
