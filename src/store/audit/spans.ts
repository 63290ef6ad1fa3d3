// Audit records as OpenTelemetry spans, if the embedder has a tracer: one span for each hook that ran.

import { textOf } from '../../core/base/errors.js'
import type { AuditRecord, AuditSink } from '../../core/session/audit-record.js'
import { attributesOfHook, HOOK_SPAN, hasRun } from './span-attributes.js'

/** The part of @opentelemetry/api that we use. The embedder provides the package, which may be missing. */
interface OpenTelemetry {
  readonly trace: { getTracer(name: string): Tracer }
  readonly ROOT_CONTEXT: unknown
  readonly SpanStatusCode: { readonly ERROR: number }
}

interface Tracer {
  startSpan(name: string, options: object, parent: unknown): Span
}

interface Span {
  setStatus(status: { readonly code: number; readonly message?: string }): unknown
  end(time: number): void
}

/** Typed as any string, so that neither the compiler nor a bundler looks for the package. */
const PACKAGE: string = '@opentelemetry/api'
const REGISTRY = Symbol.for('opentelemetry.js.api.1')

/** The global that OpenTelemetry leaves when an embedder has set it up. */
interface Registry {
  readonly trace?: unknown
  readonly context?: { active?(): unknown }
}

function registry(): Registry | undefined {
  const found = (globalThis as { readonly [REGISTRY]?: Registry })[REGISTRY]
  return found?.trace ? found : undefined
}

function hasTracer(): boolean {
  try {
    return registry() !== undefined
  } catch {
    return false // something else is there
  }
}

/** Adds spans to the sink if OpenTelemetry is already set up. */
export function withSpans(sink: AuditSink | undefined): AuditSink | undefined {
  if (!hasTracer()) return sink
  const spans = spansSink()
  if (!sink) return spans
  return (record) => {
    void spans(record)
    return sink(record)
  }
}

/** Never throws and never waits. Without a tracer it does nothing. */
export function spansSink(): AuditSink {
  let loading: Promise<OpenTelemetry | undefined> | undefined
  let api: OpenTelemetry | undefined
  return (record) => {
    try {
      const found = registry()
      if (!found || !record.hooks.some(hasRun)) return
      // Taken now, because the active context will have changed by the time the package is loaded.
      const parent = found.context?.active?.()
      if (api) {
        makeSpans(api, record, parent)
        return
      }
      loading ??= load()
      void loading.then((loaded) => {
        api = loaded
        if (loaded) makeSpans(loaded, record, parent)
      })
    } catch (error) {
      warn(error)
    }
  }
}

async function load(): Promise<OpenTelemetry | undefined> {
  try {
    return (await import(PACKAGE)) as OpenTelemetry
  } catch (error) {
    warn(error)
    return undefined
  }
}

let warned = false

/** Only once: the next record would fail the same way. */
function warn(error: unknown): void {
  if (warned) return
  warned = true
  process.emitWarning(`hooks are not traced: ${textOf(error)}`, { code: 'CARABINER_SPANS' })
}

function makeSpans(api: OpenTelemetry, record: AuditRecord, parent: unknown): void {
  try {
    const tracer = api.trace.getTracer('carabiner')
    // The record is created at the end of the event.
    const began = Date.parse(record.time) - record.ms
    for (const hook of record.hooks.filter(hasRun)) {
      const startTime = began + (hook.at ?? 0)
      const options = { startTime, attributes: attributesOfHook(record, hook) }
      const span = tracer.startSpan(HOOK_SPAN, options, parent ?? api.ROOT_CONTEXT)
      if (hook.status === 'failed')
        span.setStatus({ code: api.SpanStatusCode.ERROR, message: hook.detail ?? '' })
      span.end(startTime + hook.ms)
    }
  } catch (error) {
    warn(error)
  }
}
