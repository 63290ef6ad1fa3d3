// What a proof of `carabiner verify` depends on, and whether the last one is still good.

import { readFileSync } from 'node:fs'
import { digest } from '../core/base/digest.js'
import type { Json } from '../core/base/json.js'
import { ifThere } from '../files/if-there.js'
import type { ListedHook } from '../hooks.js'
import { hostNamed, type KnownHost } from '../hosts/hosts.js'
import { partsOf } from '../hosts/late-parts.js'
import { writtenPlaces } from '../hosts/registrations.js'
import { setupOf } from '../hosts/setups.js'
import { agentsOf, programStamp } from '../verify/agents.js'
import {
  type Circumstances,
  changesSince,
  count,
  isProven,
  keptProofs,
  type ProofRecord,
} from '../verify/proof-record.js'
import { version } from './version.js'

/** `hooks`: those that Carabiner runs here; only the user's count, because a proof is not about a project. */
export async function circumstancesOf(
  host: KnownHost,
  program: string,
  hooks: readonly ListedHook[],
): Promise<Circumstances> {
  const own = hooks.filter(({ scope }) => scope === 'user')
  return {
    program: programStamp(program) ?? '',
    configuration: await configurationOf(host),
    hooks: digest(own.map(({ id, hash, content, state }) => [id, hash ?? '', content ?? '', state])),
    carabiner: version,
  }
}

/** The commands that the agent would run, in the user's files and in projects that setup wrote to. */
async function configurationOf(host: KnownHost): Promise<string> {
  if (!partsOf(host).setup) return ''
  const found = writtenPlaces({ host, setup: await setupOf(host) }).map(({ path, form }): Json => {
    const text = textOf(path)
    return text === undefined ? null : form.commands(text).map(({ event = '', command }) => [event, command])
  })
  return digest(found)
}

function textOf(path: string): string | undefined {
  try {
    return ifThere(() => readFileSync(path, 'utf8'))
  } catch {
    return undefined
  }
}

/** The last proof of an agent, in a few words. */
export interface ProofState {
  readonly host: string
  readonly title: string
  readonly version?: string
  readonly at: string
  readonly ok: boolean
  /** Only a command and a file were looked at. */
  readonly quick: boolean
  readonly held: number
  /** What changed since. Empty if the proof is still good. */
  readonly stale: readonly string[]
}

/** Sorted by host. */
export function proofStates(hooks: readonly ListedHook[]): Promise<readonly ProofState[]> {
  return Promise.all(keptProofs().map((record) => stateOf(record, hooks)))
}

async function stateOf(record: ProofRecord, hooks: readonly ListedHook[]): Promise<ProofState> {
  const { host: name, title, at, facts } = record
  const host = hostNamed(name)
  const [agent] = host && partsOf(host).proof ? await agentsOf([host]) : []
  const stale =
    agent?.program === undefined
      ? ['the agent is no longer in PATH']
      : changesSince(record.circumstances, await circumstancesOf(agent.host, agent.program, hooks))
  return {
    host: name,
    title,
    ...(record.version !== undefined && { version: record.version }),
    at: new Date(at).toISOString(),
    ok: isProven(facts),
    quick: record.quick === true,
    held: count(facts, 'held'),
    stale,
  }
}
