// A real PostgreSQL for tests: the server of this machine, started as an ordinary user, or the one that CARABINER_TEST_PG names.

import { execFileSync, spawnSync } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'

const ROOT = '/usr/lib/postgresql'
const BIN = existsSync(ROOT)
  ? readdirSync(ROOT)
      .sort((a, b) => Number(b) - Number(a))
      .map((version) => join(ROOT, version, 'bin'))
      .find((folder) => existsSync(join(folder, 'initdb')))
  : undefined
const GIVEN = process.env.CARABINER_TEST_PG

/** Whether there is a PostgreSQL to test with. */
export const hasPostgres = GIVEN !== undefined || BIN !== undefined
if (!hasPostgres)
  console.warn(
    'SKIPPED: tests of the fleet, which need PostgreSQL: install postgresql, or set CARABINER_TEST_PG',
  )

/** Whether the server is ours to kill and to reach, for these tests. One that somebody else runs is not. */
export function isOurServer(tests: string): boolean {
  if (hasPostgres && GIVEN !== undefined)
    console.warn(`SKIPPED: tests of ${tests}, which need a PostgreSQL of their own: unset CARABINER_TEST_PG`)
  return hasPostgres && GIVEN === undefined
}

/** The server refuses to run as root. */
const USER = process.getuid?.() === 0 ? 'nobody' : undefined

function asUser(program: string, args: readonly string[]): string {
  const [file, words] = USER
    ? ['setpriv', [`--reuid=${USER}`, '--regid=nogroup', '--clear-groups', program, ...args]]
    : [program, args]
  return execFileSync(file, words, { encoding: 'utf8', cwd: '/', stdio: ['ignore', 'pipe', 'pipe'] })
}

/** A server with its own folder. */
export class Postgres {
  readonly #folder: string | undefined
  readonly port: number
  #made = 0

  private constructor(folder: string | undefined, port: number) {
    this.#folder = folder
    this.port = port
  }

  /** `around`: the folder to keep its own in. Default: one in memory. */
  static async start(around = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()): Promise<Postgres> {
    if (GIVEN !== undefined) return new Postgres(undefined, 0)
    const folder = mkdtempSync(join(around, 'carabiner-pg-'))
    if (USER) chownSync(folder, Number(idOf('-u')), Number(idOf('-g')))
    asUser(join(BIN ?? '', 'initdb'), [
      '-D',
      join(folder, 'data'),
      '-U',
      'owner',
      '-A',
      'trust',
      '-E',
      'UTF8',
      '--no-sync',
    ])
    const server = new Postgres(folder, await freePort())
    const config = `listen_addresses='127.0.0.1'\nport=${server.port}\nunix_socket_directories='${folder}'\nmax_connections=200\n`
    writeFileSync(join(folder, 'data', 'postgresql.auto.conf'), config)
    server.up()
    return server
  }

  /** Starts it, also after `kill`. */
  up(): void {
    asUser(join(BIN ?? '', 'pg_ctl'), [
      '-D',
      this.#data,
      '-w',
      '-t',
      '60',
      '-l',
      join(this.#data, 'log'),
      'start',
    ])
  }

  /** The server and all its backends, with -9. */
  kill(): void {
    const [pid = ''] = readFileSync(join(this.#data, 'postmaster.pid'), 'utf8').split('\n')
    const children = spawnSync('ps', ['-o', 'pid=', '--ppid', pid], { encoding: 'utf8' }).stdout.split(/\s+/)
    for (const one of [pid, ...children]) if (one !== '') killHard(Number(one))
    // Nobody may have waited for it yet, and then its number still looks like a server.
    rmSync(join(this.#data, 'postmaster.pid'), { force: true })
    rmSync(join(this.#folder ?? '', `.s.PGSQL.${this.port}.lock`), { force: true })
  }

  stop(): void {
    if (!this.#folder) return
    try {
      asUser(join(BIN ?? '', 'pg_ctl'), ['-D', this.#data, '-m', 'immediate', '-w', 'stop'])
    } finally {
      rmSync(this.#folder, { recursive: true, force: true })
    }
  }

  /** Its socket is in here, for programs that have another network. */
  get socketFolder(): string {
    return this.#folder ?? ''
  }

  get #data(): string {
    return join(this.#folder ?? '', 'data')
  }

  /** The address of a new, empty database. Its owner is no superuser. */
  async database(): Promise<{ readonly owner: string; as(user: string): string }> {
    const name = `fleet_${process.pid}_${Date.now().toString(36)}_${this.#made++}`
    const admin = GIVEN ?? `postgres://owner@127.0.0.1:${this.port}/postgres`
    await run(admin, [`create database ${name}`])
    const as = (user: string) => {
      const url = new URL(admin)
      url.pathname = `/${name}`
      url.username = user
      return url.href
    }
    return { owner: as(new URL(admin).username), as }
  }
}

/** Runs statements as whoever the address names. Returns the rows of the last one. */
export async function run(
  url: string,
  statements: readonly string[],
): Promise<readonly Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    let rows: readonly Record<string, unknown>[] = []
    for (const statement of statements) ({ rows } = await client.query(statement))
    return rows
  } finally {
    await client.end()
  }
}

function idOf(which: '-u' | '-g'): string {
  return execFileSync('id', [which, USER ?? ''], { encoding: 'utf8' }).trim()
}

function killHard(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().on('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}
