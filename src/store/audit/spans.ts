// Records as OpenTelemetry spans, where the host has a tracer: one for each hook that ran.

import { textOf } from '../../core/base/errors.js'
import type { AuditedHook, AuditRecord, AuditSink } from '../../core/session/audit-record.js'

/** As much of @opentelemetry/api as is used: the package is the host's, and may not be there. */
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

/** A text, so that neither the compiler nor a bundler asks for the package. */
const PACKAGE: string = '@opentelemetry/api'
const REGISTRY = Symbol.for('opentelemetry.js.api.1')
const SPAN = 'execute_hook'

/** What a host that set up OpenTelemetry left for everybody. */
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
    return false // what is there is no registry
  }
}

/** The sink, and spans beside it where the host has set up OpenTelemetry by now. */
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
      // Now: when the package is loaded, the host is somewhere else.
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

/** Once: what goes wrong here goes wrong with every record. */
function warn(error: unknown): void {
  if (warned) return
  warned = true
  process.emitWarning(`hooks are not traced: ${textOf(error)}`, { code: 'CARABINER_SPANS' })
}

function hasRun({ status }: AuditedHook): boolean {
  return status === 'ran' || status === 'failed'
}

function makeSpans(api: OpenTelemetry, record: AuditRecord, parent: unknown): void {
  try {
    const tracer = api.trace.getTracer('carabiner')
    // The record is made when all is decided.
    const began = Date.parse(record.time) - record.ms
    for (const hook of record.hooks.filter(hasRun)) {
      const startTime = began + (hook.at ?? 0)
      const options = { startTime, attributes: attributesOf(record, hook) }
      const span = tracer.startSpan(SPAN, options, parent ?? api.ROOT_CONTEXT)
      if (hook.status === 'failed')
        span.setStatus({ code: api.SpanStatusCode.ERROR, message: hook.detail ?? '' })
      span.end(startTime + hook.ms)
    }
  } catch (error) {
    warn(error)
  }
}

/** Names of the GenAI conventions where there is one for it. */
function attributesOf(record: AuditRecord, hook: AuditedHook): object {
  const attributes = {
    'gen_ai.operation.name': SPAN,
    'gen_ai.conversation.id': record.session,
    'gen_ai.tool.name': record.tool,
    'gen_ai.agent.id': record.agent,
    'error.type': hook.status === 'failed' ? (hook.why ?? 'failed') : undefined,
    'carabiner.hook.name': hook.name,
    'carabiner.hook.kind': hook.kind,
    'carabiner.hook.source': hook.source,
    'carabiner.hook.hash': hook.hash,
    'carabiner.hook.status': hook.status,
    'carabiner.hook.action': hook.action,
    'carabiner.hook.ms': hook.ms,
    'carabiner.event': hook.event ?? record.event,
    'carabiner.decision': record.action,
    'carabiner.call.digest': record.digest,
    'carabiner.turn': record.turn,
  }
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined))
}
