// What can be completed for each command, derived from its table of options and positionals.

import { knownEvents } from '../../core/events/events.js'
import { HOST_NAMES } from '../../hosts/hosts.js'
import { PACK_NAMES } from '../../hosts/pack-names.js'
import { DIRECTIONS } from '../../plugins/migrate/route.js'
import type { Command, Option } from '../command.js'
import { KNOWN_TOOLS } from '../doctor/matchers.js'
import { SCHEMA_NAMES } from '../schema/schemas.js'
import { LANGUAGES } from '../templates/plugin.js'
import { type NameKind, SHELLS } from './names.js'

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

const ANY: Kind = { type: 'any' }
const PLUGINS: Kind = { type: 'names', of: 'plugins' }
const words = (list: readonly string[]): Kind => ({ type: 'words', words: list })

/** By the label that the help shows for the value. */
const BY_LABEL: Readonly<Record<string, () => Kind>> = {
  DIR: () => ({ type: 'folder' }),
  FILE: () => ({ type: 'file' }),
  EVENT: () => words(knownEvents().map(({ name }) => name)),
}

/** Completions that the label does not imply, by command and option, or by command and position. */
export const KNOWN: Readonly<Record<string, Kind>> = {
  'fire --as': words(HOST_NAMES),
  'explain --tool': words(KNOWN_TOOLS),
  'new --lang': words(Object.keys(LANGUAGES)),
  'migrate --to': words(DIRECTIONS),
  'migrate 1': { type: 'folder' },
  'install 1': { type: 'file' },
  'trust 1': PLUGINS,
  'untrust 1': PLUGINS,
  'enable 1': PLUGINS,
  'disable 1': PLUGINS,
  'uninstall 1': PLUGINS,
  'update 1': PLUGINS,
  'test 1': { type: 'file' },
  'hook 1': words(PACK_NAMES),
  'setup 1': words(['claude-code']),
  'approvals 1': words(['list', 'show', 'allow', 'deny', 'grants', 'revoke']),
  'audit 1': words(['tail', 'show', 'verify']),
  'catalog 1': words(['list', 'add', 'search', 'remove', 'update']),
  'catalog 2': { type: 'file' },
  'schema 1': words(SCHEMA_NAMES),
  'completion 1': words(SHELLS),
}

export function completable({ name, summary, options, positionals }: Command): Completable {
  return {
    name,
    summary,
    options: Object.entries(options)
      .filter(([, { hidden }]) => !hidden)
      .map(([option, entry]) => optionOf(name, option, entry)),
    positionals: positionals.map((label, i) => kindOf(`${name} ${i + 1}`, label)),
    isOpen: positionals.at(-1)?.includes('…') === true,
  }
}

function optionOf(command: string, name: string, { type, short, value, help }: Option): CompletableOption {
  const kind = type === 'boolean' ? undefined : kindOf(`${command} --${name}`, value ?? '')
  return { name, short, help, value: kind }
}

function kindOf(place: string, label: string): Kind {
  const known = Object.hasOwn(KNOWN, place) ? KNOWN[place] : undefined
  const plain = label.replace(/[[\]…]/g, '')
  return known ?? (Object.hasOwn(BY_LABEL, plain) ? BY_LABEL[plain]?.() : undefined) ?? ANY
}
