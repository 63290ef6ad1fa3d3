// Connections to the database of a fleet. The package pg is loaded here, and only when one is opened.

import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import type { Pool, PoolClient, QueryResultRow } from 'pg'
import { textOf } from '../../core/base/errors.js'

/** This program and the database do not go together as they are. */
export class Unready extends Error {
  override readonly name = 'Unready'
  /** What to do. */
  readonly hint: string

  constructor(message: string, hint: string, options?: ErrorOptions) {
    super(message, options)
    this.hint = hint
  }
}

export type Client = Pick<PoolClient, 'query'>

export interface DatabaseOptions {
  /** `postgres://USER:PASSWORD@HOST/NAME`, as libpq understands it. */
  readonly url: string
  /** The organisation: nobody sees rows of another one. */
  readonly org: string
  /** The most connections. Default 4. */
  readonly connections?: number
  readonly onLost?: (error: Error) => void
}

export interface ListenOptions {
  readonly signal: AbortSignal
  /** Called with the reason when no notification arrives, and without one when they arrive again. */
  readonly onChange?: (error: unknown) => void
}

/** Before a lost connection is made again. */
const AGAIN_MS = 500
/** A notification to oneself. */
const PROBE = 'probe'
/** How long it may be on its way. */
const PROBE_MS = 10_000
const UNHEARD =
  'PostgreSQL takes LISTEN, but a notification did not arrive; a pooler in front of it must pool sessions, not transactions'

/** Of prepared statements, by their text. */
const names = new Map<string, string>()

/** The database, seen by one organisation. */
export class Database {
  readonly #pool: Pool

  constructor(pool: Pool) {
    this.#pool = pool
  }

  async rows<R extends QueryResultRow>(sql: string, values: readonly unknown[] = []): Promise<readonly R[]> {
    const { rows } = await this.#pool.query<R>(sql, [...values])
    return rows
  }

  /** The same, for what is asked all the time: each connection parses it once. `sql` must be one of few. */
  async prepared<R extends QueryResultRow>(
    sql: string,
    values: readonly unknown[] = [],
  ): Promise<readonly R[]> {
    const name = names.get(sql) ?? `carabiner_${names.size}`
    names.set(sql, name)
    const { rows } = await this.#pool.query<R>({ name, text: sql, values: [...values] })
    return rows
  }

  /** In one transaction that sees one state of the database from its beginning to its end. */
  async snapshot<T>(work: (database: Client) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect()
    // The next query fails too. Without a listener, a connection that is lost between two of them would end the process.
    const ignore = () => {}
    client.on('error', ignore)
    try {
      await client.query('begin isolation level repeatable read')
      const made = await work(client)
      await client.query('commit')
      client.off('error', ignore)
      client.release()
      return made
    } catch (error) {
      client.release(true)
      throw error
    }
  }

  /**
   * Calls `heard` for each notification until the signal is aborted, on a connection of its own. A lost connection is made
   * again, and then `heard` is called without anything: something may have been missed. `onChange` is told once why no
   * notification arrives, and nothing when they arrive again.
   */
  async listen(
    channel: string,
    heard: (payload: string | undefined) => void,
    { signal, onChange = () => {} }: ListenOptions,
  ): Promise<void> {
    let isDeaf = false
    const arrives = () => {
      if (isDeaf) onChange(undefined)
      isDeaf = false
    }
    while (!signal.aborted) {
      try {
        await this.#listenOnce(channel, { heard, arrives }, signal)
      } catch (error) {
        // Whoever waits looks at the rows when their time is up.
        if (!isDeaf && !signal.aborted) onChange(error)
        isDeaf = true
      }
      if (!signal.aborted) await setTimeout(AGAIN_MS, undefined, { signal }).catch(() => {})
    }
  }

  /** Until the connection is lost, which it gives back: four that stay out would be all there are. */
  async #listenOnce(
    channel: string,
    { heard, arrives }: { heard: (payload: string | undefined) => void; arrives: () => void },
    signal: AbortSignal,
  ): Promise<void> {
    const client = await this.#pool.connect()
    let end = () => {}
    let fail = (_: Error) => {}
    const lost = new Promise<void>((resolve, reject) => {
      end = resolve
      fail = reject
    })
    const probe = `${PROBE} ${randomUUID()}`
    let isProven = false
    let timer: NodeJS.Timeout | undefined
    try {
      client.on('error', end)
      client.on('end', end)
      signal.addEventListener('abort', end, { once: true })
      if (signal.aborted) return
      client.on('notification', ({ payload = '' }) => {
        if (payload === probe) {
          isProven = true
          clearTimeout(timer)
          arrives()
        } else if (!payload.startsWith(PROBE)) heard(payload)
      })
      await client.query(`listen ${channel}`)
      heard(undefined)
      // A pooler that pools transactions takes LISTEN, and loses what is heard. So this one is sent on another connection.
      this.#pool.query('select pg_notify($1, $2)', [channel, probe]).then(
        () => {
          if (!isProven) timer = globalThis.setTimeout(() => fail(new Error(UNHEARD)), PROBE_MS).unref()
        },
        // All other connections are busy, or the database is away: then this one is lost, too.
        () => {},
      )
      await lost
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      client.release(true)
    }
  }

  async close(): Promise<void> {
    await this.#pool.end()
  }
}

const CONNECT_MS = 10_000
/** A query that takes longer waits for something that does not come. */
const STATEMENT_MS = 60_000
/** The server ends a long query itself. A server that is gone without a word does not. */
const SILENCE_MS = STATEMENT_MS + CONNECT_MS

/** Connects on first use. Each connection enters the organisation before anything else. */
export async function openDatabase({
  url,
  org,
  connections = 4,
  onLost = () => {},
}: DatabaseOptions): Promise<Database> {
  const { Pool } = await postgres()
  const pool = new Pool({
    connectionString: url,
    max: connections,
    connectionTimeoutMillis: CONNECT_MS,
    statement_timeout: STATEMENT_MS,
    query_timeout: SILENCE_MS,
    ...{ keepAlive: true, keepAliveInitialDelayMillis: CONNECT_MS },
    application_name: 'carabiner fleet',
    onConnect: async (client) => {
      await client.query('select fleet.enter($1)', [org])
    },
  })
  // Without a listener, a connection that is lost while nobody uses it would end the process.
  pool.on('error', onLost)
  return new Database(pool)
}

/** Whether PostgreSQL refuses a value itself: it would do so again. Its codes of this kind begin with 22. */
export function isDataException(error: unknown): boolean {
  return /^22[0-9A-Z]{3}$/.test(String((error as { readonly code?: unknown } | null)?.code))
}

/** One connection without an organisation, for the owner of the tables. */
export async function withOwner<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const { Client } = await postgres()
  const client = new Client({ connectionString: url, connectionTimeoutMillis: CONNECT_MS })
  client.on('error', () => {})
  await client.connect()
  try {
    return await work(client as unknown as Client)
  } finally {
    await client.end()
  }
}

async function postgres(): Promise<Pick<typeof import('pg'), 'Client' | 'Pool'>> {
  try {
    const module = await import('pg')
    // Bundled, the package is required, and its names are not on the module itself.
    return module.default ?? module
  } catch (error) {
    throw new Unready(
      `the package pg is missing (${textOf(error)})`,
      'Install it where Carabiner is installed: npm install -g pg.',
      { cause: error },
    )
  }
}
