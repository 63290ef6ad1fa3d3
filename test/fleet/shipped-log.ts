// An audit log whose entries are written on a machine, shipped, and read back from the database of its fleet.

import { setTimeout as pause } from 'node:timers/promises'
import { databaseSource } from '../../src/fleet/checkpoint/source.js'
import { verifyFleet } from '../../src/fleet/checkpoint/verify.js'
import { type FleetQuery, searchRecords } from '../../src/fleet/database/audit-query.js'
import type { Database } from '../../src/fleet/database/connection.js'
import { clientOf } from '../../src/fleet/machine/joining.js'
import { headsOf, logId } from '../../src/fleet/machine/log-folders.js'
import type { Member } from '../../src/fleet/machine/membership.js'
import { ship } from '../../src/fleet/machine/shipper.js'
import { FileAuditLog } from '../../src/store/audit/file-audit.js'
import type {
  AuditLog,
  FollowOptions,
  Link,
  Problem,
  ReadOptions,
  StoredEntry,
  Verification,
  VerifyOptions,
  Writable,
} from '../../src/store/audit-log.js'

export interface ShippedLogOptions {
  readonly member: Member
  /** As an auditor sees it. */
  readonly database: Database
  readonly rootKey: Buffer
  readonly projectDir: string
  readonly dataDir: string
}

const OWN_KINDS = ['gap', 'recovered', 'pruned']
const EVERYTHING = 1_000_000

export class ShippedLog {
  readonly local: FileAuditLog
  readonly #options: ShippedLogOptions

  constructor(options: ShippedLogOptions) {
    this.#options = options
    const { projectDir, dataDir } = options
    this.local = new FileAuditLog({ projectDir, dataDir })
  }

  async append(entries: readonly Writable[]): Promise<void> {
    this.local.append(entries)
    const { member, dataDir } = this.#options
    const client = clientOf(member)
    try {
      const { breaks } = await ship({ client, machine: member.machine, dataDir })
      if (breaks.length > 0) throw new Error(`the history broke: ${JSON.stringify(breaks)}`)
    } finally {
      client.close()
    }
  }

  /** The newest first, as `carabiner fleet audit` finds them. */
  async search(query: Omit<FleetQuery, 'limit' | 'machine'> = {}): Promise<readonly StoredEntry[]> {
    const { database, member } = this.#options
    const found = await searchRecords(database, { ...query, machine: member.name, limit: EVERYTHING })
    return found.map(({ entry }) => entry)
  }

  async *entries({ newestFirst = false, filter, limit = Infinity }: ReadOptions = {}) {
    const found = await this.search()
    const inOrder = newestFirst ? found : found.toReversed()
    yield* inOrder.filter((entry) => filter?.(entry) ?? true).slice(0, limit)
  }

  async *follow({ filter, after, signal, everyMs = 200 }: FollowOptions = {}) {
    let last = after ?? (await this.search())[0]?.seq ?? 0
    while (!signal?.aborted) {
      for await (const entry of this.entries()) {
        if (entry.seq <= last) continue
        last = entry.seq
        if (filter?.(entry) ?? true) yield entry
      }
      await pause(everyMs, undefined, signal && { signal }).catch(() => undefined)
    }
  }

  async verify({ expect, onLine, signal }: VerifyOptions = {}): Promise<Verification> {
    signal?.throwIfAborted()
    const { database, rootKey } = this.#options
    const { records, problems: found } = await database.snapshot((client) =>
      verifyFleet(databaseSource(client), { rootKey }),
    )
    const problems: Problem[] = found.map((what) => ({ file: this.local.place, line: 0, what }))
    const entries = (await this.search()).toReversed()
    for (const _ of entries) onLine?.()
    if (expect && !entries.some(({ seq, hash }) => seq === expect.seq && hash === expect.hash))
      problems.push({ seq: expect.seq, file: this.local.place, line: 0, what: 'it is not the expected one' })
    const [first, last] = [entries[0], entries.at(-1)].map((entry) => entry && linkOf(entry))
    return {
      ...{ ok: problems.length === 0 && records > 0, records, first, last, problems },
      ...{ problemCount: problems.length, head: await this.#head() },
      notes: entries.flatMap(({ kind }) => (OWN_KINDS.includes(kind) ? [kind] : [])),
    }
  }

  /** What the gateway tells the machine. */
  async #head(): Promise<Link | undefined> {
    const { member, dataDir } = this.#options
    const client = clientOf(member)
    try {
      const head = (await headsOf(client, dataDir)).get(logId(this.local.place))
      return head && linkOf(head)
    } finally {
      client.close()
    }
  }
}

/** For the contract, which wants a log at once: opening is left to the first call. */
export function openedLater(place: string, open: () => Promise<ShippedLog>): AuditLog {
  return {
    place,
    append: async (entries) => (await open()).append(entries),
    isEmpty: async () => (await (await open()).search()).length === 0,
    async *entries(options) {
      yield* (await open()).entries(options)
    },
    async *follow(options) {
      yield* (await open()).follow(options)
    },
    verify: async (options) => (await open()).verify(options),
  }
}

function linkOf({ seq, hash }: Link): Link {
  return { seq, hash }
}
