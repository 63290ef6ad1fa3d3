// Collects the problems of a rules file.

import { nearest } from '../core/base/text.js'
import type { JsonPath } from '../files/json-text.js'

/** Something that is wrong in a file, and where. */
export interface RulesProblem {
  readonly text: string
  readonly at: JsonPath
  readonly todo?: string
  /** Without what is wrong here, calls could pass that the author wanted to stop. */
  readonly closes: boolean
  /** The diagnostic, if it is another one than usual. */
  readonly code?: 'rule-uncounted'
}

export class RulesProblems {
  readonly #all: RulesProblem[] = []

  get all(): readonly RulesProblem[] {
    return this.#all
  }

  /** Closes the file. */
  wrong(text: string, at: JsonPath, todo?: string): undefined {
    this.#all.push({ text, at, ...(todo !== undefined && { todo }), closes: true })
  }

  note(text: string, at: JsonPath, todo: string, code?: RulesProblem['code']): void {
    this.#all.push({ text, at, todo, closes: false, ...(code && { code }) })
  }
}

export function slip(value: unknown, known: Iterable<string>): string | undefined {
  const meant = typeof value === 'string' ? nearest(value, known) : undefined
  return meant === undefined ? undefined : `Did you mean "${meant}"?`
}
