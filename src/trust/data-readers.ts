// Programs that take files for data and run nothing of them: a file that only they name is no script.

import { dirname } from 'node:path'
import type { SimpleCommand } from '../shell/simple-command.js'
import { wrapperOf } from '../shell/wrappers.js'

/** Programs of the system lie there. */
export const SYSTEM = ['/bin', '/sbin', '/usr/bin', '/usr/sbin', '/usr/local/bin', '/opt/homebrew/bin']

/** What is not in here may run what it is given. awk and sed are not: their programs can start others. */
const READERS = new Set(
  `[ base64 basename cat cksum cmp column comm cut diff dirname du echo egrep expand fgrep file fmt fold grep head
  hexdump jq join ls md5 md5sum nl od paste printf readlink realpath rev sha1sum sha256sum shasum sort stat strings tac
  tail test tr uniq wc`.split(/\s+/),
)

/** With such a word a reader runs something after all, writes a file, or sets a variable. */
const EXCEPTIONS: Readonly<Record<string, RegExp>> = {
  jq: /^-\w*[fL]|^--(?:from-file|library-path)/,
  printf: /^-v/,
  sort: /^--[co]|^-\w*o/,
  uniq: /^[^-]/,
}

/** They write to the files that they name, and run none. */
const WRITERS = new Set(['tee', 'touch', 'mkdir', 'rm', 'rmdir', 'truncate'])

/** What the shell does itself, and which runs no text. */
const SILENT = new Set(
  ': break cd continue exit export false local popd pushd pwd read return set shift true wait'.split(' '),
)

/** Wrappers give a name another meaning, or run what nobody wrote here. */
const REDEFINING = new Set(['alias', 'hash', 'eval', 'trap', 'complete', 'compgen', 'mapfile', 'readarray'])

const SHELL_NAMES = String.raw`(?:ba|da|z|k|a|mk|ya|rba|c|tc)?sh|fish|\.|source`

export const SHELLS = new RegExp(`^(?:${SHELL_NAMES})$`)

/** Their first operand is a program, however it is called. */
export const INTERPRETERS = new RegExp(
  String.raw`^(?:${SHELL_NAMES}|node|nodejs|bun|deno|tsx|ts-node|python[\d.]*|perl|ruby|php|pwsh|lua[\d.]*|tclsh|Rscript)$`,
)

type Call = Pick<SimpleCommand, 'program' | 'name' | 'words'>

/** Whether the files among its words are data. */
export function isReader({ program, name, words }: Call): boolean {
  if (!isOfSystem(program) || !READERS.has(name)) return false
  const exception = EXCEPTIONS[name]
  return !exception || !words.slice(1).some((word) => exception.test(word))
}

/** Whether the files among its words are what it writes, or removes. */
export function isWriter({ program, name }: Call): boolean {
  return isOfSystem(program) && WRITERS.has(name)
}

/** What another command writes comes out of there: `cat x | python3 /dev/stdin`. */
const NO_FILE = /^\/+(?:dev|proc|sys)(?:\/|$)/

/** Whether it runs one file and nothing that another command writes for it. */
export function isRunner({ program, name, words }: Call): boolean {
  if (!isOfSystem(program)) return program.includes('/')
  const [, first = '-'] = words
  return INTERPRETERS.test(name) && !first.startsWith('-') && !NO_FILE.test(first)
}

/** Whether nothing that other commands read can become a program by it. Commands in it are judged by themselves. */
export function isHarmless(command: Call): boolean {
  const { name, words } = command
  if (isReader(command) || isWriter(command) || isRunner(command)) return true
  // `read PATH` makes every name another program.
  if (SILENT.has(name)) return !words.includes('PATH')
  return isOfSystem(command.program) && wrapperOf(name) !== undefined && !REDEFINING.has(name)
}

/** By its bare name, or in a folder of the system: not `./cat`. */
function isOfSystem(program: string): boolean {
  return !program.includes('/') || SYSTEM.includes(dirname(program))
}
