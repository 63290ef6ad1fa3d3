// Ctrl-C and other signals while hooks run: aborts the fire, and ends the program after its processes.

import { forCallerOfNow } from '../core/base/caller.js'
import { Refusal } from './refusal.js'

/** Exit codes as a shell reports them. */
const SIGNALS = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const

type SignalName = keyof typeof SIGNALS

/** The signals of this process, or those that its caller got instead. */
export class Interruption {
  readonly #controller = new AbortController()
  readonly #stopListening: () => void

  /** `caller` is aborted with the name of the signal as its reason. */
  constructor(caller?: AbortSignal) {
    this.#stopListening = caller ? this.#listenTo(caller) : this.#listenToProcess()
  }

  #listenTo(caller: AbortSignal): () => void {
    const forCaller = forCallerOfNow()
    const listener = () => forCaller(() => this.#controller.abort(interruptedBy(caller)))
    if (caller.aborted) listener()
    caller.addEventListener('abort', listener)
    return () => caller.removeEventListener('abort', listener)
  }

  #listenToProcess(): () => void {
    const names = Object.keys(SIGNALS) as SignalName[]
    const listeners = names.map((name) => [name, () => this.#interrupt(name)] as const)
    for (const [name, listener] of listeners) process.on(name, listener)
    return () => {
      for (const [name, listener] of listeners) process.off(name, listener)
    }
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
    this.#stopListening()
    if (!told) this.#controller.signal.throwIfAborted()
  }
}

/** How a caller was interrupted. A caller that is gone without a signal counts as hung up. */
function interruptedBy({ reason }: AbortSignal): Refusal {
  return interrupted(Object.hasOwn(SIGNALS, String(reason)) ? (reason as SignalName) : 'SIGHUP')
}

function interrupted(name: SignalName): Refusal {
  return new Refusal('ABORTED', `Interrupted by ${name}; every hook process is gone`, {
    exit: SIGNALS[name],
  })
}
