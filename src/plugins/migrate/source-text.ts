// The text of a file without some of its hooks. What they alone kept there goes with them: groups, events, `hooks`.

import { type JsonPath, JsonText, type Spot } from '../../config/json-text.js'
import { type Edit, edited, removed } from '../../hosts/json-edit.js'
import { SetupProblem } from '../../hosts/setup-problem.js'

const MARK = '\uFEFF'

/** `handlers`: where those stand that are to go. */
export function withoutHandlers(text: string, handlers: readonly JsonPath[], path: string): string {
  const json = new JsonText(text)
  const [double] = json.doubleKeys()
  if (double) {
    throw new SetupProblem(
      `${path}:${double.line} ${JSON.stringify(double.key)} is there twice, and taking out one would bring back the other`,
      'Keep one first.',
    )
  }
  const gone = new Gone(json)
  for (const at of handlers) gone.takeHandler(at)
  const after = edited(json.text, gone.edits())
  return text.startsWith(MARK) ? MARK + after : after
}

class Gone {
  readonly #json: JsonText
  readonly #spots = new Set<Spot>()
  /** Of what is gone: in what it stands, and where that stands. */
  readonly #parents = new Map<Spot, readonly [container: Spot, at: JsonPath]>()

  constructor(json: JsonText) {
    this.#json = json
  }

  /** With its group, where it was the last one there. */
  takeHandler(at: JsonPath): void {
    const list = this.#mark(at)
    if (this.#isEmptied(list)) this.#take(at?.parent?.parent ?? null)
  }

  #take(at: JsonPath): void {
    const container = this.#mark(at)
    if (at?.parent && this.#isEmptied(container)) this.#take(at.parent)
  }

  /** Answers in what it stands. */
  #mark(at: JsonPath): Spot {
    const spot = this.#json.spotOf(at)
    const container = at && this.#json.spotOf(at.parent)
    if (!at || !spot || !container) throw new Error('a hook of the file stands nowhere in its text')
    this.#spots.add(spot)
    this.#parents.set(spot, [container, at.parent])
    return container
  }

  /** Not of what is inside something that is gone itself. */
  edits(): readonly Edit[] {
    const containers = new Map<Spot, Set<Spot>>()
    for (const [spot, [container, at]] of this.#parents) {
      if (this.#isInsideGone(at)) continue
      const children = containers.get(container) ?? new Set()
      containers.set(container, children.add(spot))
    }
    return [...containers].flatMap(([container, children]) => removed(this.#json.text, container, children))
  }

  #isEmptied({ inside }: Spot): boolean {
    return [...(inside?.values() ?? [])].every((child) => this.#spots.has(child))
  }

  #isInsideGone(at: JsonPath): boolean {
    for (let one = at; one !== null; one = one.parent) {
      const spot = this.#json.spotOf(one)
      if (spot && this.#spots.has(spot)) return true
    }
    return false
  }
}
