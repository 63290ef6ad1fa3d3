// Names and ids of configured hooks: readable, stable, each given once.

import type { Owner } from './owner.js'

/** What was given to the hooks of one owner so far. */
interface Given {
  /** `~2` for the second owner of the same name. */
  readonly suffix: string
  readonly counts: Map<string, number>
}

export class Names {
  readonly #owners = new Map<Owner, Given>()
  readonly #sources = new Map<string, number>()
  readonly #ids = new Map<string, number>()

  /** `bash-validator:PreToolUse#2`: the second handler of that event there, those that were left out counted too. */
  next(owner: Owner, event: string): string {
    let given = this.#owners.get(owner)
    if (!given) {
      given = { suffix: repeated(this.#sources, owner.source), counts: new Map() }
      this.#owners.set(owner, given)
    }
    const count = (given.counts.get(event) ?? 0) + 1
    given.counts.set(event, count)
    return `${owner.source}:${event}#${count}${given.suffix}`
  }

  /** The text, with `~2`, `~3` if it was given before. */
  id(text: string): string {
    return text + repeated(this.#ids, text)
  }
}

function repeated(counts: Map<string, number>, text: string): string {
  const count = (counts.get(text) ?? 0) + 1
  counts.set(text, count)
  return count === 1 ? '' : `~${count}`
}
