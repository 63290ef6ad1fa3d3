// A record that a search found, as people see it. Whoever has the key of a machine could send any line.

import { shapeOf } from '../../core/base/json.js'
import type { StoredEntry } from '../../store/audit-log.js'
import { entryIn, knownOf, type Listing, UNREADABLE } from '../listing.js'

export interface FoundRecord extends Omit<Listing, 'at'> {
  readonly seq: string
  readonly hash: string
  readonly time: Date
  /** Bytes of its line. */
  readonly size: number
  /** Null if it is too long. */
  readonly line: string | null
}

/** What these fields hold is text in every record of the product. */
const TEXTS: readonly string[] = ['time', 'kind', 'event', 'tool', 'session', 'action', 'decision']
/** The product writes flatter lines. Programs that print very deep ones run out of stack. */
const DEEPEST = 100

/** As far as it can be shown. */
export function shownOf(record: FoundRecord): StoredEntry {
  return entryOf(record) ?? unreadable(record)
}

/** Undefined if the line cannot be read. */
function entryOf({ line, seq, hash, time }: FoundRecord): StoredEntry | undefined {
  const read = line === null || isTooDeep(line) ? undefined : entryIn(line)
  if (!read) return undefined
  const isPlain = ([name, value]: [string, unknown]) => typeof value === 'string' || !TEXTS.includes(name)
  const fields = Object.fromEntries(Object.entries(read).filter(isPlain))
  // The line could say a second time, and otherwise, which record it is.
  const own = { seq: Number(seq), hash }
  return { kind: UNREADABLE, time: time.toISOString(), ...fields, ...own } as unknown as StoredEntry
}

/** What stands for a record whose line cannot be read. Its number and hash lead to it in an export. */
function unreadable(record: FoundRecord): StoredEntry {
  const { line, seq, hash, time, size } = record
  const why =
    line === null
      ? `is too long to show: ${Math.ceil(size / 1024)} KiB`
      : isTooDeep(line)
        ? 'is nested too deeply to show'
        : 'is not JSON'
  return {
    ...{ seq: Number(seq), hash, time: time.toISOString(), ...knownOf(record) },
    reason: `record ${seq} ${why}, with the hash ${hash}`,
  } as unknown as StoredEntry
}

function isTooDeep(line: string): boolean {
  return shapeOf(line, DEEPEST).isTooDeep
}
