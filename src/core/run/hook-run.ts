// One run of one hook: its context, and the effect of its failure.

import { type Diagnostic, type DiagnosticSink, HookError, isHookError, textOf } from '../base/errors.js'
import { isObject } from '../base/json.js'
import { withoutSecrets } from '../base/secrets.js'
import { plainText } from '../base/text.js'
import { isAction, isClosing } from '../events/actions.js'
import type { EventKind } from '../events/events.js'
import { CONTINUE, deny, type HookResult } from '../events/result.js'
import type { Count } from '../hooks/count.js'
import { canRefuse, isGate } from '../hooks/gate.js'
import {
  closesOnFailure,
  type Hook,
  type HookContext,
  type HookEvent,
  type Printed,
  type SessionInfo,
} from '../hooks/hook.js'
import { kindRow } from '../hooks/kinds.js'
import type { Outcome } from '../hooks/outcome.js'

/** The things that all hooks of one event share. */
export interface CallSite {
  readonly event: HookEvent
  readonly outcome: Outcome | undefined
  readonly count: Count | undefined
  readonly diagnostics: DiagnosticSink
  /** Whether a failure of this hook counts as a deny. */
  closes(hook: Hook): boolean
}

/** What a hook did with its context. */
interface Used {
  controller?: AbortController
  output?: Printed
  lastWord?: HookResult
  listeners?: readonly (() => void)[]
  aborted?: { readonly reason: unknown }
  askAtDeadline?: (() => Promise<boolean>) | undefined
}

/** Most hooks never use their context, so there is little to create until one does. */
export class HookCall implements HookContext, DiagnosticSink {
  readonly #hook: Hook
  readonly #site: CallSite
  #used: Used | undefined

  constructor(hook: Hook, site: CallSite) {
    this.#hook = hook
    this.#site = site
  }

  get session(): SessionInfo | undefined {
    return this.#site.event.session
  }

  get outcome(): Outcome | undefined {
    return this.#site.outcome
  }

  get count(): Count | undefined {
    return this.#site.count
  }

  #use(): Used {
    this.#used ??= {}
    return this.#used
  }

  get signal(): AbortSignal {
    const used = this.#use()
    used.controller ??= new AbortController()
    if (used.aborted) used.controller.abort(used.aborted.reason)
    return used.controller.signal
  }

  get onAbort() {
    return (listener: () => void) => {
      const used = this.#use()
      if (used.aborted) listener()
      else used.listeners = [...(used.listeners ?? []), listener]
    }
  }

  get onFailure() {
    return this.#site.closes(this.#hook) ? 'block' : 'continue'
  }

  get note() {
    return (d: Diagnostic) => {
      if (typeof d?.text !== 'string') throw new HookError('ANSWER_INVALID', 'note() takes { code, text }')
      this.push(d)
    }
  }

  get printed() {
    return (output: Printed) => {
      this.#use().output = output
    }
  }

  get lastWord() {
    return (result: HookResult) => {
      this.#use().lastWord = result
    }
  }

  get atDeadline() {
    return (ask: () => Promise<boolean>) => {
      this.#use().askAtDeadline = ask
    }
  }

  /** Asks once. */
  askAtDeadline(): Promise<boolean> | undefined {
    const ask = this.#used?.askAtDeadline
    if (ask) this.#use().askAtDeadline = undefined
    return ask?.()
  }

  /** The deny, ask or abort among the hook's answers so far, including a late one. Changes no longer count. */
  closingWord(late?: unknown): HookResult | undefined {
    const word = late ?? this.#used?.lastWord
    if (!isObject(word) || !isAction(word.action) || !isClosing(word.action)) return undefined
    const { data: _, ...rest } = word as unknown as HookResult
    return rest
  }

  /** The hook's output so far. */
  get output(): Printed | undefined {
    return this.#used?.output
  }

  push(d: Diagnostic): void {
    const { name } = this.#hook
    const { text, todo } = d
    this.#site.diagnostics.push({
      ...d,
      text: withoutSecrets(plainText(`${name}: ${text}`)),
      hook: name,
      ...(todo !== undefined && { todo: withoutSecrets(plainText(String(todo))) }),
    })
  }

  abort(reason: unknown): void {
    const used = this.#use()
    used.aborted = { reason }
    used.controller?.abort(reason)
    for (const listener of used.listeners ?? []) listener()
  }
}

// ---- failure

/** Turns whatever a hook threw into a HookError. */
export function hookError(hook: Hook, thrown: unknown): HookError {
  if (isHookError(thrown)) return thrown
  const text = textOf(thrown)
  if (hook.kind !== 'function' && isOwnFile(thrown)) {
    const [first = ''] = text.split('\n', 1)
    return new HookError('INSTALL_BROKEN', `a file of Carabiner cannot be loaded: ${first}`, {
      cause: thrown,
    })
  }
  const mutated = /read only property|not extensible|Cannot (?:delete|redefine|add) property/.test(text)
  return new HookError('HOOK_FAILED', text, {
    cause: thrown,
    ...(mutated && { hint: `Event data is frozen; ${hook.name} must return modify({ … }) to change it.` }),
  })
}

/** Hooks of all kinds but functions are run by our own code, which loads no other files in this process. */
function isOwnFile(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false
  const { code } = thrown as NodeJS.ErrnoException
  if (code === 'MODULE_NOT_FOUND' || code === 'ERR_MODULE_NOT_FOUND') return true
  // A file that is only half there. Its name comes first, unlike with a text that is no JSON.
  return thrown instanceof SyntaxError && !/^\w*Error\b/.test(thrown.stack ?? 'Error')
}

/** The hook itself is not always the slow part. */
export function timeoutHint({ kind, cappedBy }: Hook): { readonly hint?: string } {
  const { slow } = kindRow(kind)
  if (cappedBy !== undefined) return { hint: `${cappedBy}, or make the hook faster.` }
  return slow === undefined ? {} : { hint: `${slow}, or give the hook a larger "timeout" (seconds).` }
}

/** A hook and the milliseconds that it took. */
export interface Spent {
  readonly name: string
  readonly ms: number
}

/** Advice for when the whole fire timed out: the slowest hook used most of the time. */
export function fireTimeoutHint(spent: readonly Spent[]): { readonly hint: string } {
  const slowest = spent.reduce<Spent>((most, one) => (one.ms > most.ms ? one : most), { name: '', ms: 0 })
  const more =
    'give the event more time: "timeout" of fire(), or of the command in the settings of your agent'
  if (slowest.ms === 0) return { hint: `You can ${more}.` }
  return { hint: `Make ${slowest.name} faster (it took ${seconds(slowest.ms)} s), or ${more}.` }
}

function seconds(ms: number): number {
  return Math.ceil(ms / 10) / 100
}

const NOT_ITS_FAULT: ReadonlySet<string> = new Set(['HOOK_INTERRUPTED', 'INSTALL_BROKEN'])

/** How a failure came about. */
export interface FailureRules {
  /** Closes every gate whose hook fails, whatever the hook says. */
  readonly failClosed: boolean
  /** The deadline of the whole fire has passed, not the hook's own. */
  readonly byFire?: boolean
  /** Refused stops are counted, so the agent may stop eventually. */
  readonly countsStops?: boolean | undefined
}

/**
 * The answer that a failure counts as. Stop-like events never block on failure, because an agent that cannot stop is no
 * safer. The exception is a gate that one of our limits cut short: it may keep the agent going once.
 */
export function answerOnFailure(
  kind: EventKind,
  hook: Hook,
  error: HookError,
  { failClosed, byFire = false, countsStops = false }: FailureRules,
): HookResult {
  const isLate = error.code === 'HOOK_TIMEOUT' && canRefuse(kind, hook)
  if (isLate && byFire && (kind.deny === 'block' || countsStops))
    return deny(`Hook ${hook.name} did not judge: ${error.message}. ${error.hint}`)
  if (isLate && !byFire && hook.cappedBy !== undefined)
    return deny(`Hook ${hook.name} was cut short: ${error.message}. ${error.hint}`)
  // The hook may have been about to deny, and something else is to blame.
  if (NOT_ITS_FAULT.has(error.code) && canRefuse(kind, hook) && (kind.deny === 'block' || countsStops))
    return deny(`Hook ${hook.name}: ${error.message}`)
  // A gate that differs from the one the user trusted must not open because of that.
  if (error.code === 'HOOK_NOT_TRUSTED' && isGate(kind, hook)) return deny(error.message)
  // Its exit code was a deny, whoever chose it.
  if (error.code === 'HOOK_BROKEN') return deny(`Hook ${hook.name} is broken, so it blocks: ${error.message}`)
  return closesOnFailure(kind, hook.onFailure, failClosed)
    ? deny(`hook crashed (fail-safe deny): ${hook.name}: ${error.message}`)
    : CONTINUE
}
