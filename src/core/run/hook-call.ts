// One run of one hook, as the hook sees it.

import { type Diagnostic, type DiagnosticSink, HookError } from '../base/errors.js'
import { withoutSecrets } from '../base/secrets.js'
import { plainText } from '../base/text.js'
import type { Hook, HookContext, HookEvent, Printed, SessionInfo } from '../hooks/hook.js'
import type { Outcome } from '../hooks/outcome.js'

/** What all hooks of one event share. */
export interface Occasion {
  readonly event: HookEvent
  readonly outcome: Outcome | undefined
  readonly diagnostics: DiagnosticSink
}

/** The signal is made when first asked for: most hooks never do. */
export class HookCall implements HookContext, DiagnosticSink {
  readonly #hook: Hook
  readonly #occasion: Occasion
  #controller: AbortController | undefined
  #output: Printed | undefined
  #listeners: readonly (() => void)[] | undefined
  #aborted: { readonly reason: unknown } | undefined

  constructor(hook: Hook, occasion: Occasion) {
    this.#hook = hook
    this.#occasion = occasion
  }

  get session(): SessionInfo | undefined {
    return this.#occasion.event.session
  }

  get outcome(): Outcome | undefined {
    return this.#occasion.outcome
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#aborted) this.#controller.abort(this.#aborted.reason)
    return this.#controller.signal
  }

  get onAbort() {
    return (listener: () => void) => {
      if (this.#aborted) listener()
      else this.#listeners = this.#listeners ? [...this.#listeners, listener] : [listener]
    }
  }

  get note() {
    return (d: Diagnostic) => {
      if (typeof d?.text !== 'string') throw new HookError('ANSWER_INVALID', 'note() takes { code, text }')
      this.push(d)
    }
  }

  get printed() {
    return (output: Printed) => {
      this.#output = output
    }
  }

  /** What the hook printed so far. */
  get output(): Printed | undefined {
    return this.#output
  }

  push(d: Diagnostic): void {
    this.#occasion.diagnostics.push({
      ...d,
      text: withoutSecrets(plainText(`${this.#hook.name}: ${d.text}`)),
    })
  }

  abort(reason: unknown): void {
    this.#aborted = { reason }
    this.#controller?.abort(reason)
    for (const listener of this.#listeners ?? []) listener()
  }
}
