// One run of one hook, as the hook sees it.

import type { Diagnostic, DiagnosticSink } from './errors.js'
import type { Hook, HookContext, HookEvent } from './hook.js'
import type { Outcome } from './outcome.js'
import { plainText } from './text.js'

/** The signal is made when first asked for: most hooks never do. */
export class HookCall implements HookContext, DiagnosticSink {
  readonly outcome: Outcome | undefined
  readonly #hook: Hook
  readonly #event: HookEvent
  readonly #diagnostics: Diagnostic[]
  #controller: AbortController | undefined
  #aborted: { readonly reason: unknown } | undefined

  constructor(hook: Hook, event: HookEvent, outcome: Outcome | undefined, diagnostics: Diagnostic[]) {
    this.outcome = outcome
    this.#hook = hook
    this.#event = event
    this.#diagnostics = diagnostics
  }

  get session() {
    return this.#event.session
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#aborted) this.#controller.abort(this.#aborted.reason)
    return this.#controller.signal
  }

  get note() {
    return (d: Diagnostic) => this.push(d)
  }

  push(d: Diagnostic): void {
    this.#diagnostics.push({ ...d, text: plainText(`${this.#hook.name}: ${d.text}`) })
  }

  abort(reason: unknown): void {
    this.#aborted = { reason }
    this.#controller?.abort(reason)
  }
}
