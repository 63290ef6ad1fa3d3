// What can be completed for each command, derived from its table of options and positionals.

import { knownEvents } from '../../core/events/events.js'
import { allOptions, type Command, type Completion, type Option } from '../command.js'
import type { NameKind } from './names.js'

/** Fixed words, names looked up as the user types, paths, or anything. */
export type Kind =
  | { readonly type: 'words'; readonly words: readonly string[] }
  | { readonly type: 'names'; readonly of: NameKind }
  | { readonly type: 'file' | 'folder' | 'any' }

export interface CompletableOption {
  readonly name: string
  readonly short: string | undefined
  readonly help: string
  /** Undefined for a flag. */
  readonly value: Kind | undefined
}

export interface Completable {
  /** Empty for the bare `carabiner`. */
  readonly name: string
  readonly summary: string
  readonly options: readonly CompletableOption[]
  readonly positionals: readonly Kind[]
  /** The last positional may repeat. */
  readonly isOpen: boolean
}

const words = (list: readonly string[]): Kind => ({ type: 'words', words: list })

/** By the label that the help shows for the value. */
const BY_LABEL: Readonly<Record<string, () => Kind>> = {
  DIR: () => ({ type: 'folder' }),
  FILE: () => ({ type: 'file' }),
  EVENT: () => words(knownEvents().map(({ name }) => name)),
}

export function completable(command: Command): Completable {
  const { name, summary, positionals, completes = [] } = command
  return {
    name,
    summary,
    options: Object.entries(allOptions(command))
      .filter(([, { hidden }]) => !hidden)
      .map(([option, entry]) => optionOf(option, entry)),
    positionals: positionals.map((label, i) => kindOf(completes[i], label)),
    isOpen: positionals.at(-1)?.includes('…') === true,
  }
}

function optionOf(name: string, { type, short, value = '', completes, help }: Option): CompletableOption {
  return { name, short, help, value: type === 'boolean' ? undefined : kindOf(completes, value) }
}

function kindOf(completes: Completion | undefined, label: string): Kind {
  if (completes === 'plugins' || completes === 'pages') return { type: 'names', of: completes }
  if (completes === 'file' || completes === 'folder') return { type: completes }
  if (completes !== undefined) return words(completes)
  const plain = label.replace(/[[\]…]/g, '')
  return (Object.hasOwn(BY_LABEL, plain) && BY_LABEL[plain]?.()) || { type: 'any' }
}
