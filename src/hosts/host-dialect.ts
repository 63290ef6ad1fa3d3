// An agent that starts hooks, as far as it differs from Claude Code: how its payloads look, and what it understands.

import type { Data, Json } from '../core/base/json.js'
import type { HostAnswer, HostEvent, HostVerdict } from './host-answer.js'

export interface HostDialect<Name extends string = string> {
  readonly name: Name
  /** For people. */
  readonly title: string
  /** Whether a payload is this agent's. `event` is what it calls the event, without case and separators. */
  readonly sends: (payload: Data, event: string) => boolean
  /** Its own names of events, without case and separators; those that the catalogue knows need no entry. */
  readonly events?: Readonly<Record<string, string>>
  /** Fields under Claude Code's names, where they are not merely spelt otherwise. They go before those of the payload. */
  readonly read?: (payload: Data, event: string) => Data
  /** Seconds until it gives up on a hook: in general, and by canonical event. */
  readonly patience: number
  readonly patienceWith?: Readonly<Record<string, number>>
  readonly encode: (event: HostEvent, verdict: HostVerdict) => HostAnswer
}

/** A transcript lies below the agent's own folder. */
export function keepsIn(payload: Data, folder: string): boolean {
  const path = payload.transcript_path ?? payload.transcriptPath
  return typeof path === 'string' && path.replaceAll('\\', '/').includes(`/${folder}/`)
}

/** A time in words, as JSON.stringify writes it. */
export function isIsoTime(value: Json | undefined): boolean {
  return typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value)
}

/** Only those that are there. */
export function fieldsOf(fields: Readonly<Record<string, Json | undefined>>): Data {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Data
}

/** The first of a list. */
export function firstOf(list: Json | undefined): Json | undefined {
  return Array.isArray(list) ? list[0] : undefined
}
