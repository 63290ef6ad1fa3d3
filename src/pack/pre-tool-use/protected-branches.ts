// The branches that settings protect, by name and by pattern: `main`, `release/*`.

import { fits, piecesOf } from '../../effects/shell/patterns.js'

export class ProtectedBranches {
  readonly #patterns: readonly string[]

  constructor(patterns: readonly string[]) {
    this.#patterns = patterns
  }

  get any(): string | undefined {
    return this.#patterns[0]
  }

  has(branch: string): boolean {
    return this.#patterns.some((pattern) => pattern === branch || fits(piecesOf(pattern), branch))
  }
}
