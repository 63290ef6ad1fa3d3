// What a call of a program runs beside itself.

import { commandsBehind, type Options } from './command-options.js'
import type { ShellWord } from './shell-word.js'

export interface Inner {
  readonly commands?: readonly (readonly ShellWord[])[] | undefined
  readonly scripts?: readonly ShellWord[] | undefined
  /** It reads a script from its standard input. */
  readonly readsInput?: boolean
  /** It runs something that cannot be named. */
  readonly unseen?: boolean
}

/** What a program runs, by its arguments. */
export type Wrapper = (args: readonly ShellWord[]) => Inner

/** A program in front of a command. */
export function before(options: Options): Wrapper {
  return (args) => {
    const commands = commandsBehind(args, options)
    return commands ? { commands } : UNSEEN
  }
}

export const UNSEEN: Inner = { unseen: true }
