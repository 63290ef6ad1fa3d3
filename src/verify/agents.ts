// The agents that can be proven here: those whose program is in PATH.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isProgram, searchPath } from '../files/search-path.js'
import type { HostProof } from '../hosts/host-proof.js'
import { HOSTS, type KnownHost } from '../hosts/hosts.js'
import type { Enclosure } from './enclosure.js'

export interface Agent {
  readonly host: KnownHost
  readonly proof: HostProof
  /** The path of its program. Undefined if there is none. */
  readonly program: string | undefined
}

/** The hosts that have a proof, sorted by name. */
export const PROOF_HOSTS: readonly KnownHost[] = HOSTS.filter(({ proof }) => proof !== undefined)

export function agentsOf(hosts: readonly KnownHost[]): Promise<readonly Agent[]> {
  return Promise.all(
    hosts.map(async (host) => {
      if (!host.proof) throw new Error(`${host.name} has no proof`)
      const { proof } = await host.proof()
      return { host, proof, program: programNamed(proof.program) }
    }),
  )
}

function programNamed(name: string): string | undefined {
  return searchPath([])
    .folders.map((folder) => join(folder, name))
    .find(isProgram)
}

const VERSION_MS = 30_000

/**
 * Undefined if the program does not say. It gets a home of its own and no network, because some agents write to their
 * home, or update themselves, at every start.
 */
export function versionOf(program: string, around: Enclosure): string | undefined {
  const home = mkdtempSync(join(tmpdir(), 'carabiner-version-'))
  try {
    const [first = '', ...args] = around.around([program, '--version'])
    const { stdout } = spawnSync(first, args, {
      env: { PATH: process.env.PATH, HOME: home, ...around.env },
      encoding: 'utf8',
      timeout: VERSION_MS,
      killSignal: 'SIGKILL',
    })
    return /\d+\.\d+\.\d+[\w.-]*(?<!\.)/.exec(stdout ?? '')?.[0]
  } finally {
    rmSync(home, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** Another one means another program, most likely after an update. Undefined if it is gone. */
export function programStamp(program: string): string | undefined {
  try {
    const path = realpathSync(program)
    const { size, mtimeMs } = statSync(path)
    return `${path} ${size} ${Math.round(mtimeMs)}`
  } catch {
    return undefined
  }
}
