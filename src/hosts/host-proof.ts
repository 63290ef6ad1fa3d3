// How an agent is started against a model of ours, in a fresh home: what `carabiner verify` needs to know of it.

import type { Data } from '../core/base/json.js'

/** A way around hooks in agents that go on when a hook takes too long. */
export const LATE_ANSWER =
  'a call runs if the agent gets no answer within its limit; Carabiner answers earlier, unless the machine stalls'

export interface HostProof {
  /** The name of its program. */
  readonly program: string
  /** What a version that this is for begins with. Default: all. */
  readonly versions?: string
  /** Files that lead it to the model, by their paths below the home. Setup finds them there. */
  readonly files?: (place: ProofPlace) => Readonly<Record<string, string>>
  /** Variables that lead it to the model, and keep it from the network. */
  readonly env?: (place: ProofPlace) => Readonly<Record<string, string>>
  /** Its arguments: one prompt, nobody to ask, every tool allowed. */
  readonly arguments: (prompt: string, place: ProofPlace) => readonly string[]
  /** The port of the model, if the agent cannot be told. */
  readonly port?: number
  /** Its tools, as its model calls them. */
  readonly calls: ProofCalls
  /** Seconds that a run may take. */
  readonly limit: number
  /** A refused call ends the run, so the model is never told why. */
  readonly endsOnRefusal?: true
  /** Of the context that several commands give for one event, the model is told only one. */
  readonly keepsOneContext?: true
  /** After a refused call the program waits for a person, and must be ended. */
  readonly waitsOnRefusal?: true
  /** What is started, and a sentence about it, if it is not the program that people use. */
  readonly part?: { readonly title: string; readonly note: string }
  /** What to start where there is no such program. */
  readonly otherwise?: HostProof
  /** Ways around hooks that are known. They are shown with every proof. */
  readonly bypasses?: readonly string[]
}

export interface ProofPlace {
  readonly home: string
  readonly project: string
  /** The address of the model, without a path. */
  readonly url: string
  /** The name of the model. */
  readonly model: string
}

export interface ProofCalls {
  readonly shell: (command: string, place: ProofPlace) => ProofCall
  /** The path is absolute. */
  readonly write: (path: string, text: string, place: ProofPlace) => ProofCall
  readonly subagent?: (prompt: string, place: ProofPlace) => ProofCall
  /** The call of a subagent returns at once, and the agent would end before it. */
  readonly subagentGoesOn?: true
}

export interface ProofCall {
  readonly name: string
  /** Where the name is found, for protocols that group tools. */
  readonly namespace?: string
  /** A text for tools that take one instead of an object. */
  readonly input: Data | string
}
