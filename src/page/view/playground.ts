// What the screen Playground shows.

import type { Details } from './row.js'

/** What the editor has to know about an event. */
export interface EventHelpView {
  readonly when: string
  /** What a deny does. */
  readonly deny: string
  /** Whether it is about a call of a tool. */
  readonly hasTool: boolean
  readonly fields: readonly {
    readonly name: string
    readonly type: string
    readonly isRequired: boolean
    /** Values that agents send. */
    readonly values: readonly string[]
  }[]
  /** Tools with an example of their own. */
  readonly tools: readonly string[]
  /** A payload to begin with, as JSON. */
  readonly example: string
}

export interface PayloadProblemView {
  /** Counted from 1. */
  readonly line: number
  readonly text: string
}

export interface PlayedView {
  readonly details: Details
  /** What the copy of the project lacks, and what differs there. */
  readonly notes: readonly string[]
}
