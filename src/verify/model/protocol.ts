// What the mock model and its protocols share: a scripted turn, a request as far as it matters, and a reply.

import type { Data, Json } from '../../core/base/json.js'
import type { ProofCall } from '../../hosts/host-proof.js'

/** One answer of the model: a tool call, calls at once, or text that ends its turn. A stream sends the text in these deltas. */
export type Turn =
  | { readonly call: ProofCall }
  | { readonly calls: readonly ProofCall[] }
  | { readonly text: string; readonly deltas?: readonly string[] }

export function callsOf(turn: Turn): readonly ProofCall[] {
  return 'calls' in turn ? turn.calls : 'call' in turn ? [turn.call] : []
}

export function textOf(turn: Turn): string {
  return 'text' in turn ? turn.text : ''
}

export function deltasOf(turn: Turn): readonly string[] {
  return 'text' in turn ? (turn.deltas ?? [turn.text]) : []
}

/** A request of an agent. */
export interface Asked {
  readonly model: string
  readonly stream: boolean
  /** Texts of the user and results of tools are `in`, the model's own turns are `out`. In order. */
  readonly talk: readonly Said[]
  /** Whether the agent offers tools. Without them it only wants a title or a summary. */
  readonly hasTools: boolean
}

export interface Said {
  readonly by: 'user' | 'model'
  readonly text: string
}

/** The body of an HTTP response. A list is a stream of events. */
export type Reply = { readonly json: Json } | { readonly events: readonly StreamEvent[] }

export interface StreamEvent {
  /** The name of the event, for protocols that name them. */
  readonly name?: string
  readonly data: Json | '[DONE]'
}

export interface Protocol {
  readonly name: string
  /** Whether a request for this path is for the model. */
  readonly answers: (path: string) => boolean
  readonly read: (body: Data, path: string) => Asked
  /** `id` is unique in the process. */
  readonly reply: (turn: Turn, asked: Asked, id: string) => Reply
}

/** Every text in a value, however deep. */
export function textsIn(value: Json | undefined): string {
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return value.map(textsIn).join('\n')
  if (value !== null && typeof value === 'object') return Object.values(value).map(textsIn).join('\n')
  return ''
}

export function listOf(value: Json | undefined): readonly Data[] {
  return Array.isArray(value) ? (value as readonly Data[]) : []
}

/** The input of a call as protocols write it that carry JSON in a text. */
export function inputText({ input }: ProofCall): string {
  return typeof input === 'string' ? input : JSON.stringify(input)
}
