// The last proof of each agent, kept so that people see how old it is, and what has changed since.

import { join } from 'node:path'
import { type Data, isObject } from '../core/base/json.js'
import { readableNames } from '../files/folder.js'
import { checkFormat, FIRST_FORMAT } from '../files/format.js'
import { dataHome } from '../files/homes.js'
import { VersionedFile } from '../files/versioned-file.js'
import type { Fact, FactState } from './facts.js'

export interface ProofRecord {
  readonly host: string
  readonly title: string
  /** The agent's. */
  readonly version?: string
  /** Milliseconds since 1970. */
  readonly at: number
  readonly quick: boolean
  readonly network: string
  readonly facts: readonly Fact[]
  readonly bypasses: readonly string[]
  /** What was started, if it is not the program that people use. */
  readonly note?: string
  readonly circumstances: Circumstances
}

/** What the proof depends on. If one of them changes, it is stale. */
export interface Circumstances {
  /** The agent's program. */
  readonly program: string
  /** Digest of the hooks that the agent has registered. */
  readonly configuration: string
  /** Digest of the user's hooks in Carabiner. */
  readonly hooks: string
  /** Our own version. */
  readonly carabiner: string
}

const CHANGES: Readonly<Record<keyof Circumstances, string>> = {
  program: 'the agent was updated',
  configuration: "the agent's own hook settings changed",
  hooks: 'your hooks changed',
  carabiner: 'Carabiner was updated',
}

/** What changed since the proof. Empty if it is still good. */
export function changesSince(before: Circumstances, now: Circumstances): readonly string[] {
  const names = Object.keys(CHANGES) as (keyof Circumstances)[]
  return names.filter((name) => before[name] !== now[name]).map((name) => CHANGES[name])
}

export function count(facts: readonly Fact[], state: FactState): number {
  return facts.filter((fact) => fact.state === state).length
}

/** Whether everything that was promised was seen. */
export function isProven(facts: readonly Fact[]): boolean {
  return facts.length > 0 && facts.every(({ state }) => state === 'held' || state === 'cannot')
}

function folder(): string {
  return join(dataHome(), 'proofs')
}

function fileOf(host: string): VersionedFile<Data | null> {
  return new VersionedFile<Data | null>({
    folder: join(folder(), host),
    what: `the last proof of ${host}`,
    fresh: null,
    check: checked,
    damaged: () => null,
  })
}

function checked(value: unknown): Data | null {
  if (value === null) return null
  if (!isObject(value)) throw new Error('is not a proof')
  checkFormat((value as Data).format)
  return value as Data
}

/** A quick proof that held does not replace a full one that still holds: it shows less. */
export function keepProof(record: ProofRecord): void {
  const before = record.quick && isProven(record.facts) ? readFile(record.host) : undefined
  const isStillGood =
    before !== undefined &&
    !before.quick &&
    isProven(before.facts) &&
    changesSince(before.circumstances, record.circumstances).length === 0
  if (isStillGood) return
  fileOf(record.host).replace({ format: FIRST_FORMAT, ...(record as unknown as Data) })
}

/** Sorted by host. Leaves out what cannot be read: a lost proof is made again. */
export function keptProofs(): readonly ProofRecord[] {
  return readableNames(folder())
    .flatMap((host) => readFile(host) ?? [])
    .sort((a, b) => (a.host < b.host ? -1 : 1))
}

function readFile(host: string): ProofRecord | undefined {
  try {
    const data = fileOf(host).read()
    return data && isRecord(data) ? (data as unknown as ProofRecord) : undefined
  } catch {
    return undefined
  }
}

function isRecord({ host, title, at, facts, circumstances }: Data): boolean {
  const isText = (value: unknown) => typeof value === 'string'
  return (
    isText(host) &&
    isText(title) &&
    typeof at === 'number' &&
    Array.isArray(facts) &&
    facts.every((fact) => isObject(fact) && isText(fact.name) && isText(fact.state) && isText(fact.text)) &&
    isObject(circumstances)
  )
}
