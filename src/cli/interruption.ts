// Ctrl-C and other signals while hooks run: aborts the fire, and ends the program after its processes.

import { Refusal } from './refusal.js'

/** Exit codes as a shell reports them. */
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

  /** The first signal ends the hooks and waits for them; a second one ends the program at once. */
  #interrupt(name: SignalName): void {
    if (this.#controller.signal.aborted) process.exit(SIGNALS[name])
    this.#controller.abort(interrupted(name))
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** From here on signals end the program at once. Throws if one came before everything was told. */
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
