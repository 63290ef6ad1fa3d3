// How far each chain of a fleet was sent to a collector. It is kept by whoever sends: an auditor can only read the database.

import { join } from 'node:path'
import { count, fieldsOf, optional, type Reader, text } from '../../../files/fields.js'
import { VersionedFile } from '../../../files/versioned-file.js'

/** The last record that the collector has. Without a hash, it is one before the first that it should get. */
export interface Position {
  readonly seq: number
  readonly hash?: string
}

/** What was decided when the first record was sent. */
interface Beginning {
  /** ISO-8601. */
  readonly since?: string
}

type Shard = Readonly<Record<string, Position>>

const WHAT = 'the note of what was sent to the collector'

/** Chains are noted together, so that a file stays small however many there are. */
const SHARD = 256

const position: Reader<Position> = (value, where) => {
  const { seq, hash } = fieldsOf(value, where)
  return { seq: count(seq, `${where}.seq`), ...optional('hash', hash, text, where) }
}

const shard: Reader<Shard> = (value, where) =>
  Object.fromEntries(
    Object.entries(fieldsOf(value, where)).map(([chain, one]) => [chain, position(one, `${where}.${chain}`)]),
  )

export class SentPositions {
  readonly folder: string
  readonly #beginning: VersionedFile<Beginning | undefined>

  constructor(folder: string) {
    this.folder = folder
    this.#beginning = new VersionedFile<Beginning | undefined>({
      ...{ folder, what: WHAT, fresh: undefined, damaged: () => undefined },
      check: (value) => optional('since', fieldsOf(value, 'the note').since, text, 'the note'),
    })
  }

  /** Undefined until something was noted. */
  beginning(): Beginning | undefined {
    return this.#beginning.load()
  }

  begin(beginning: Beginning): void {
    this.#beginning.update((found) => found ?? beginning)
  }

  /** Of those chains that have one. */
  of(chains: readonly string[]): ReadonlyMap<string, Position> {
    const noted = [...byShard(chains.map((chain) => [chain, undefined] as const)).keys()].flatMap((number) =>
      Object.entries(this.#shard(number).load()),
    )
    return new Map(noted)
  }

  note(positions: ReadonlyMap<string, Position>): void {
    for (const [number, news] of byShard([...positions]))
      this.#shard(number).update((found) => ({ ...found, ...Object.fromEntries(news) }))
  }

  #shard(number: number): VersionedFile<Shard> {
    return new VersionedFile<Shard>({
      ...{ folder: join(this.folder, `chains-${number}`), what: WHAT, fresh: {} },
      check: (value) => shard(value, 'the note'),
      // Those are sent again: ids follow from the entries, so the collector sees the same spans.
      damaged: () => ({}),
    })
  }
}

function byShard<T>(all: readonly (readonly [string, T])[]): Map<number, (readonly [string, T])[]> {
  const shards = new Map<number, (readonly [string, T])[]>()
  for (const one of all) {
    const number = Math.floor(Number(one[0]) / SHARD)
    const found = shards.get(number)
    if (found) found.push(one)
    else shards.set(number, [one])
  }
  return shards
}
