// Why a program did not start, in words: the system reports ENOENT for four different mistakes.

import { accessSync, closeSync, constants, openSync, readSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'
import { HookError, textOf } from '../../core/base/errors.js'
import { isFolder } from '../../files/folder.js'

interface Attempt {
  readonly file: string
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

/** Turns what spawn threw or reported into HOOK_NOT_STARTED. */
export function notStarted(attempt: Attempt, error: unknown): HookError {
  const why = reason(attempt, error)
  return new HookError('HOOK_NOT_STARTED', `Could not start ${JSON.stringify(attempt.file)}: ${why}`, {
    cause: error,
  })
}

/** HOOK_NOT_STARTED for a placeholder for plugins or skills in a hook that belongs to none. */
export function noSuchPlaceholder(name: string): HookError {
  return new HookError(
    'HOOK_NOT_STARTED',
    `Could not start: it uses \${${name}}, which only hooks of a ${name.includes('SKILL') ? 'skill' : 'plugin'} have`,
    { hint: `Use \${CLAUDE_PROJECT_DIR} or \${AMPLIFIER_HOOKS_DIR}, or make it a plugin.` },
  )
}

function reason(attempt: Attempt, error: unknown): string {
  const code = (error as NodeJS.ErrnoException | null)?.code ?? ''
  return REASONS[code]?.(attempt) ?? textOf(error)
}

const REASONS: Readonly<Record<string, (attempt: Attempt) => string>> = {
  ENOENT: missing,
  ENOTDIR: (attempt) => folderFault(attempt) ?? 'a part of its path is not a folder',
  EACCES: (attempt) => folderFault(attempt) ?? forbidden(attempt),
  EPERM: () => 'the system does not permit it',
  ENOEXEC: () => 'it is neither a program for this system nor a script with a first line such as #!/bin/sh',
  E2BIG: () => 'its arguments and its environment are larger than the system accepts',
  ETXTBSY: () => 'the file is being written',
  ELOOP: () => 'its path contains a loop of links',
  ENAMETOOLONG: () => 'its path is too long',
  EMFILE: () => 'this process has too many open files',
  ENFILE: () => 'the system has too many open files',
  EAGAIN: () => 'the system allows no more processes',
  ENOMEM: () => 'the system has no memory for another process',
  ERR_INVALID_ARG_VALUE: () =>
    'its command is empty, or its command, an argument or a variable contains a NUL character',
}

function missing(attempt: Attempt): string {
  const wrongFolder = folderFault(attempt)
  if (wrongFolder) return wrongFolder
  const path = locate(attempt)
  if (path !== undefined) return interpreterFault(path)
  return attempt.file.includes('/') ? 'there is no such file' : 'there is no such program on the PATH'
}

function forbidden(attempt: Attempt): string {
  const path = locate(attempt)
  if (path !== undefined && isFolder(path)) return 'it is a folder'
  return 'it is not executable (chmod +x)'
}

function folderFault({ cwd }: Attempt): string | undefined {
  const shown = JSON.stringify(cwd)
  if (!exists(cwd)) return `its working directory ${shown} does not exist`
  if (!isFolder(cwd)) return `its working directory ${shown} is not a folder`
  if (!exists(cwd, constants.X_OK)) return `you have no permission to enter its working directory ${shown}`
  return undefined
}

/** The file exists, so the program that its first line names is missing. */
function interpreterFault(path: string): string {
  const [, interpreter] = /^#![ \t]*([^ \t\n]+)/.exec(beginning(path)) ?? []
  if (interpreter === undefined) return 'the file exists, but a program or library that it needs is missing'
  const asked = `its first line asks for ${JSON.stringify(interpreter)}, which does not exist`
  return interpreter.endsWith('\r') ? `${asked}: the file has Windows line endings (CRLF)` : asked
}

/** The file that the system found, if any. */
function locate({ file, cwd, env }: Attempt): string | undefined {
  if (file.includes('/')) return found(resolve(cwd, file))
  const folders = (env.PATH ?? '').split(delimiter).filter((folder) => folder !== '')
  return folders.map((folder) => found(join(resolve(cwd, folder), file))).find((path) => path !== undefined)
}

function found(path: string): string | undefined {
  return exists(path) ? path : undefined
}

function exists(path: string, how = constants.F_OK): boolean {
  try {
    accessSync(path, how)
    return true
  } catch {
    return false
  }
}

function beginning(path: string): string {
  try {
    const fd = openSync(path, 'r')
    try {
      const bytes = Buffer.alloc(256)
      return bytes.toString('utf8', 0, readSync(fd, bytes))
    } finally {
      closeSync(fd)
    }
  } catch {
    return ''
  }
}
