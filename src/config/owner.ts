// Owners of hooks (the company, the user, the project, a named file or plugin), and the names and ids of their hooks.

import { plainText } from '../core/base/text.js'
import type { Place } from '../runners/hook-spec.js'

/**
 * Nobody on the machine can loosen what the `company` says. `named` needs trust like `project`, but a project's settings
 * do not apply to it.
 */
export type Scope = 'company' | 'user' | 'project' | 'named'

export interface Owner {
  readonly scope: Scope
  /** For people: a plugin's name, `company`, `fleet`, `user`, `project`, or the name of an explicit file. */
  readonly source: string
  readonly place: Place
  /** All its hooks and rules run in this mode, whatever they say. */
  readonly mode?: 'shadow'
  /** Identical hooks of one realm run once. All settings and root files share a realm; each plugin is one of its own. */
  readonly realm: string
}

const LONGEST_NAME = 80

/** Makes a third-party name safe for ids, paths and terminals. Undefined if nothing is left of it. */
export function cleanName(name: unknown): string | undefined {
  if (typeof name !== 'string') return undefined
  if (/^[\w@.-]{1,80}$/.test(name)) return name
  const clean = plainText(name.slice(0, 10 * LONGEST_NAME))
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, LONGEST_NAME)
  return clean === '' ? undefined : clean
}

// ---- names and ids of hooks -----------------------------------------------------------------------------------

/** The names given to one owner's hooks so far. */
interface Given {
  /** `~2` for the second owner with the same name. */
  readonly suffix: string
  readonly counts: Map<string, number>
}

export class Names {
  readonly #owners = new Map<Owner, Given>()
  readonly #sources = new Map<string, number>()
  readonly #ids = new Map<string, number>()
  /** The first id of each content. */
  readonly #contents = new Map<string, string>()

  /** `project:review-gate` */
  ofProcess(owner: Owner, key: string): string {
    return `${owner.source}:${key}${this.#givenTo(owner).suffix}`
  }

  #givenTo(owner: Owner): Given {
    let given = this.#owners.get(owner)
    if (!given) {
      given = { suffix: repeated(this.#sources, owner.source), counts: new Map() }
      this.#owners.set(owner, given)
    }
    return given
  }

  /** `bash-validator:PreToolUse#2` is that owner's second handler for the event. Handlers that were left out count too. */
  next(owner: Owner, event: string): string {
    const given = this.#givenTo(owner)
    const count = (given.counts.get(event) ?? 0) + 1
    given.counts.set(event, count)
    return `${owner.source}:${event}#${count}${given.suffix}`
  }

  /** Adds `~2`, `~3` if one owner repeats the same content for an event. */
  id({ scope, source }: Owner, event: string, content: string): string {
    const text = `${scope}:${source}:${event}:${content}`
    const first = this.#contents.get(content)
    if (first === undefined) {
      this.#contents.set(content, text)
      return text
    }
    // Counting costs more than remembering, and content hardly ever repeats.
    if (!this.#ids.has(first)) this.#ids.set(first, 1)
    return text + repeated(this.#ids, text)
  }
}

function repeated(counts: Map<string, number>, text: string): string {
  const count = (counts.get(text) ?? 0) + 1
  counts.set(text, count)
  return count === 1 ? '' : `~${count}`
}
