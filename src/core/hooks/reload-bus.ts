// The reload bus: tells subscribers that a registry changed, and counts the changes.

import type { DiagnosticSink } from '../base/errors.js'
import { textOf } from '../base/errors.js'

/** Gets the version after the change. */
export type Subscriber = (version: number) => void

export class ReloadBus {
  #version = 0
  readonly #subscribers = new Map<Subscriber, AbortSignal | undefined>()

  /** Changes since the beginning. */
  get version(): number {
    return this.#version
  }

  /** Subscribing twice is subscribing once. The subscriber lives until it is unsubscribed or its signal is aborted. */
  subscribe(subscriber: Subscriber, signal?: AbortSignal): () => void {
    this.#subscribers.set(subscriber, signal)
    return () => void this.#subscribers.delete(subscriber)
  }

  /** Tells everyone alive; dead subscribers and those that throw are removed. */
  notify(diagnostics: DiagnosticSink): void {
    this.#version++
    for (const [subscriber, signal] of [...this.#subscribers]) {
      if (signal?.aborted) this.#subscribers.delete(subscriber)
      else if (this.#subscribers.has(subscriber)) this.#tell(subscriber, diagnostics)
    }
  }

  #tell(subscriber: Subscriber, diagnostics: DiagnosticSink): void {
    try {
      subscriber(this.#version)
    } catch (error) {
      this.#subscribers.delete(subscriber)
      diagnostics.push({
        code: 'subscriber-failed',
        text: `a subscriber threw and was removed: ${textOf(error)}`,
      })
    }
  }
}
