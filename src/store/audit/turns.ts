// Long work in turns: whatever else the process has to do comes in between.

import { setImmediate } from 'node:timers/promises'

const TURN_MS = 8

export class Turns {
  #end = performance.now() + TURN_MS

  /** Undefined while the turn lasts. Else resolves when everything that waited has had its turn. */
  next(): Promise<void> | undefined {
    return performance.now() < this.#end ? undefined : this.#wait()
  }

  async #wait(): Promise<void> {
    await setImmediate()
    this.#end = performance.now() + TURN_MS
  }
}
