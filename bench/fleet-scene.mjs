// A fleet for benches: a PostgreSQL of its own, and the built program as its gateway.

import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { source } from '../scripts/source.mjs'

const { madeAuthority } = await source('../test/fleet/authority.ts')
const postgres = await source('../test/fleet/postgres.ts')
const { hasPostgres, Postgres } = postgres
export const { run } = postgres

/** One instance for all: each has keys of its own. */
export const { joined, madeFleet, ORG, opened, ROOT } = await source('../test/fleet/fleet-scene.ts')

export const PROGRAM = fileURLToPath(new URL('../dist/bin/carabiner.js', import.meta.url))

/**
 * Rows of a bench; none without a PostgreSQL.
 * `around`: the folder that the database is in. Default: in memory, where a commit costs nothing.
 * `tls`: the gateway has a certificate, of an authority for this bench.
 * @param {{ around?: string, tls?: boolean }} options
 * @param {(scene: { root: string, server: any, fleet: any, gateway: { url: string, pid: number, ca?: string } }) => Promise<object[]>} work
 */
export async function withFleet({ around, tls = false }, work) {
  if (!hasPostgres || process.env.CARABINER_TEST_PG !== undefined) {
    console.error('SKIPPED: the fleet, which is measured with a PostgreSQL of its own')
    return []
  }
  const root = mkdtempSync(join(tmpdir(), 'carabiner-bench-'))
  try {
    const server = await Postgres.start(around)
    try {
      const fleet = await madeFleet(server)
      const gateway = await served(fleet.gateway, tls ? certified(root) : {})
      try {
        return await work({ root, server, fleet, gateway })
      } finally {
        await gateway.end()
      }
    } finally {
      server.stop()
    }
  } finally {
    rmSync(root, { recursive: true })
  }
}

function certified(folder) {
  const { ca } = madeAuthority(folder)
  return { ca, words: ['--cert', join(folder, 'cert.pem'), '--cert-key', join(folder, 'key.pem')] }
}

async function served(database, { ca, words: more = [] }) {
  const words = [PROGRAM, 'fleet', 'serve', '--port', '0', '--org', ORG, ...more]
  const child = spawn(process.execPath, words, {
    env: { PATH: process.env.PATH, CARABINER_FLEET_DATABASE: database },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const end = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill()
    await ended
  }
  for await (const line of createInterface(child.stdout)) {
    const url = / listens on (\S+);/.exec(line)?.[1]
    if (url) return { url, pid: child.pid, end, ca }
  }
  throw new Error('the gateway did not start')
}

/** Microseconds that a process has computed; `withEnded`: and those of its children that have ended. */
export function cpuOf(pid, withEnded = false) {
  const [, rest = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')
  const ticks = rest.split(' ').slice(11, withEnded ? 15 : 13)
  return ticks.reduce((sum, one) => sum + Number(one), 0) * 10_000
}

/** The server and its backends. */
export function processesOf({ socketFolder }) {
  const [pid = ''] = readFileSync(join(socketFolder, 'data', 'postmaster.pid'), 'utf8').split('\n')
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
  return [pid, ...children]
}
