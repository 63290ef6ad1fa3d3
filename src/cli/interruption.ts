// Ctrl-C and kin while hooks run: the fire is aborted, its processes are ended, and only then the program ends.

import { Refusal } from './refusal.js'

/** With the exit code that a shell gives to a program that ended by it. */
const SIGNALS = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const

type SignalName = keyof typeof SIGNALS

export class Interruption {
  readonly #controller = new AbortController()
  readonly #listeners: readonly (readonly [SignalName, () => void])[]

  constructor() {
    const names = Object.keys(SIGNALS) as SignalName[]
    this.#listeners = names.map((name) => [name, () => this.#interrupt(name)])
    for (const [name, listener] of this.#listeners) process.on(name, listener)
  }

  /** The first asks the hooks to end and waits; whoever insists does not have to. */
  #interrupt(name: SignalName): void {
    if (this.#controller.signal.aborted) process.exit(SIGNALS[name])
    this.#controller.abort(interrupted(name))
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** From here on signals end the program at once. Throws if one came, unless all that matters was told by then. */
  end(told: boolean): void {
    for (const [name, listener] of this.#listeners) process.off(name, listener)
    if (!told) this.#controller.signal.throwIfAborted()
  }
}

function interrupted(name: SignalName): Refusal {
  return new Refusal('ABORTED', `Interrupted by ${name}; every hook process is gone`, {
    exit: SIGNALS[name],
  })
}
