// What comes into a command on its standard input, as far as the command line says it: a script, for a shell.

import type { Redirection } from 'unbash'
import { bodyOf, isOpen, OPEN, type ShellWord, wordOf } from './shell-word.js'

/** A text, open where it is not known. Undefined: what the shell itself was given, or a file, which is not looked into. */
export type Input = ShellWord | undefined

/** From another command. */
export const PIPED: Input = { text: '', shape: OPEN, splits: false }

/** The last redirection of standard input counts. */
export function inputOf(redirects: readonly Redirection[], outer: Input): Input {
  let input = outer
  for (const redirect of redirects) if (isOfInput(redirect)) input = inputFrom(redirect)
  return input
}

function isOfInput({ descriptor, operator }: Redirection): boolean {
  if (!descriptor) return operator.startsWith('<')
  // `{x}<file` takes another number.
  return descriptor.type === 'FileDescriptor' && descriptor.value === 0
}

function inputFrom(redirect: Redirection): Input {
  if (redirect.type === 'HereDoc') return bodyOf(redirect)
  if (!redirect.target) return undefined
  const target = wordOf(redirect.target)
  if (redirect.type === 'HereString') return target
  // `<&3`: what was opened before.
  if (redirect.operator.endsWith('&')) return target.text === '-' ? undefined : PIPED
  return isOpen(target) || isDescriptor(target.text) ? PIPED : undefined
}

/** `/dev/stdin`, `/dev/fd/3`, `/dev/tcp/…`, from whichever folder: what reads it reads no file. */
export function isDescriptor(path: string): boolean {
  return /(?:^|\/)(?:stdin|\d+)$|\/(?:tcp|udp)\//.test(path)
}
