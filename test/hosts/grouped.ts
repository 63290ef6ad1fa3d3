// Entries with the group that Claude Code's settings have for each.

import { groupOf } from '../../src/hosts/claude-code/setup.js'
import * as entries from '../../src/hosts/entries.js'
import type { Entry } from '../../src/hosts/host-setup.js'

export interface GroupedEntry extends Entry {
  readonly group: ReturnType<typeof groupOf>
}

const grouped = (list: readonly Entry[]): readonly GroupedEntry[] =>
  list.map((entry) => ({ ...entry, group: groupOf(entry) }))

export const packEntries = (...given: Parameters<typeof entries.packEntries>): readonly GroupedEntry[] =>
  grouped(entries.packEntries(...given))

export const engineEntries = (...given: Parameters<typeof entries.engineEntries>): readonly GroupedEntry[] =>
  grouped(entries.engineEntries(...given))
