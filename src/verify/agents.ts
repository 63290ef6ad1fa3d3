// The agents that can be proven here: those whose program is in PATH.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isProgram, searchPath } from '../files/search-path.js'
import type { HostProof } from '../hosts/host-proof.js'
import { HOSTS, type KnownHost } from '../hosts/hosts.js'
import { partsOf } from '../hosts/late-parts.js'
import type { Enclosure } from './enclosure.js'

export interface Agent {
  readonly host: KnownHost
  readonly proof: HostProof
  /** The path of its program. Undefined if there is none. */
  readonly program: string | undefined
}

/** The hosts that have a proof, sorted by name. */
export const PROOF_HOSTS: readonly KnownHost[] = HOSTS.filter((host) => partsOf(host).proof !== undefined)

export function agentsOf(hosts: readonly KnownHost[]): Promise<readonly Agent[]> {
  return Promise.all(
    hosts.map(async (host) => {
      const load = partsOf(host).proof
      if (!load) throw new Error(`${host.name} has no proof`)
      const { proof } = await load()
      return startedIn(host, proof) ?? { host, proof, program: undefined }
    }),
  )
}

/** The first program in PATH that can be started for it. */
function startedIn(host: KnownHost, proof: HostProof): Agent | undefined {
  const ways = [proof, ...(proof.otherwise ? [proof.otherwise] : [])]
  return searchPath([])
    .folders.flatMap((folder) =>
      ways.map((way) => ({ host, proof: way, program: join(folder, way.program) })),
    )
    .find(({ program }) => isProgram(program))
}

/** Agents whose versions share the name of a program: without those that are another version than the one there is. */
export function fittingAgents(agents: readonly Agent[], around: Enclosure): readonly Agent[] {
  const isSame = (a: Agent) => (b: Agent) => b.program === a.program
  const shared = agents.filter((agent) => agents.filter(isSame(agent)).length > 1)
  const fitting = shared.filter(({ proof, program = '' }) => fits(proof, versionOf(program, around)))
  return agents.filter(
    (agent) => !shared.includes(agent) || fitting.includes(agent) || !fitting.some(isSame(agent)),
  )
}

export function fits({ versions }: HostProof, version: string | undefined): boolean {
  return versions === undefined || (version?.startsWith(versions) ?? false)
}

const VERSION_MS = 60_000

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
