// Audit entries as OpenTelemetry exporters send them: a span for each event and each hook that ran, and a log record for
// each entry. Ids follow from the entry, so that an entry that is sent twice is the same span twice.

import { digest } from '../../core/base/digest.js'
import type { AuditRecord } from '../../core/session/audit-record.js'
import type { StoredEntry } from '../audit-log.js'
import { isFire, isUnguarded, toneOf, verdictOf } from './entry-words.js'
import {
  type Attributes,
  attributesOfEvent,
  attributesOfHook,
  HOOK_SPAN,
  hasRun,
  present,
} from './span-attributes.js'

/** Who sends. Exporters group what they send by this object. */
export interface Origin {
  readonly resource: { readonly attributes: Attributes }
  readonly instrumentationScope: { readonly name: string; readonly version: string }
}

/** Seconds and nanoseconds since 1970. */
type HrTime = readonly [number, number]

interface SpanContext {
  readonly traceId: string
  readonly spanId: string
  readonly traceFlags: number
}

/** A finished span, as exporters of the SDK accept it. */
export interface FinishedSpan extends Origin {
  readonly name: string
  readonly kind: number
  spanContext(): SpanContext
  readonly parentSpanContext?: SpanContext
  readonly startTime: HrTime
  readonly endTime: HrTime
  readonly duration: HrTime
  readonly ended: true
  readonly status: { readonly code: number; readonly message?: string }
  readonly attributes: Attributes
  readonly links: readonly never[]
  readonly events: readonly never[]
  readonly droppedAttributesCount: 0
  readonly droppedEventsCount: 0
  readonly droppedLinksCount: 0
}

/** A log record, as exporters of the SDK accept it. */
export interface FinishedLog extends Origin {
  readonly hrTime: HrTime
  readonly hrTimeObserved: HrTime
  readonly spanContext?: SpanContext
  readonly severityNumber: number
  readonly severityText: string
  readonly eventName: string
  readonly body: string
  readonly attributes: Attributes
  readonly droppedAttributesCount: 0
}

/** Numbers that the specification of OpenTelemetry fixes. */
const INTERNAL = 0
const SAMPLED = 1
const [UNSET, ERROR] = [0, 2]
const SEVERITY = { info: [9, 'INFO'], warn: [13, 'WARN'], error: [17, 'ERROR'] } as const

export function spansOf(entry: StoredEntry, origin: Origin): readonly FinishedSpan[] {
  if (!isFire(entry)) return []
  const context = contextOf(entry)
  const began = Date.parse(entry.time) - entry.ms
  const event = span(origin, context, {
    name: `handle_event ${entry.event}`,
    from: began,
    ms: entry.ms,
    attributes: { ...attributesOfEvent(entry), ...numberOf(entry) },
  })
  const hooks = entry.hooks.filter(hasRun).map((hook, index) => {
    const spanId = digest([entry.hash, index]).slice(0, SPAN_ID)
    const isFailed = hook.status === 'failed'
    return span(
      origin,
      { ...context, spanId },
      {
        name: HOOK_SPAN,
        parentSpanContext: context,
        from: began + (hook.at ?? 0),
        ms: hook.ms,
        attributes: attributesOfHook(entry, hook),
        ...(isFailed && { failed: hook.detail ?? '' }),
      },
    )
  })
  return [event, ...hooks]
}

export function logOf(entry: StoredEntry, origin: Origin): FinishedLog {
  const [severityNumber, severityText] = SEVERITY[severityOf(entry)]
  const time = hrTime(Date.parse(entry.time))
  const own = isFire(entry) ? attributesOfEvent(entry) : plainFields(entry)
  return {
    ...origin,
    hrTime: time,
    hrTimeObserved: time,
    ...(isFire(entry) && { spanContext: contextOf(entry) }),
    severityNumber,
    severityText,
    eventName: `carabiner.${entry.kind}`,
    body: sentenceOf(entry),
    attributes: { ...own, ...numberOf(entry) },
    droppedAttributesCount: 0,
  }
}

// ---- spans ----------------------------------------------------------------------------------------------------

const TRACE_ID = 32
const SPAN_ID = 16

/** One trace for each turn; a session without turns is one trace. */
function contextOf({ session, turn, hash }: AuditRecord & { readonly hash: string }): SpanContext {
  const traceId = digest([session, turn ?? null]).slice(0, TRACE_ID)
  return { traceId, spanId: hash.slice(0, SPAN_ID), traceFlags: SAMPLED }
}

interface SpanParts {
  readonly name: string
  readonly parentSpanContext?: SpanContext
  /** Milliseconds since 1970. */
  readonly from: number
  readonly ms: number
  readonly attributes: Attributes
  readonly failed?: string
}

function span(origin: Origin, context: SpanContext, { from, ms, failed, ...parts }: SpanParts): FinishedSpan {
  return {
    ...origin,
    ...parts,
    kind: INTERNAL,
    spanContext: () => context,
    startTime: hrTime(from),
    endTime: hrTime(from + ms),
    duration: hrTime(ms),
    ended: true,
    status: failed === undefined ? { code: UNSET } : { code: ERROR, message: failed },
    links: [],
    events: [],
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  }
}

function hrTime(ms: number): HrTime {
  const seconds = Math.floor(ms / 1000)
  return [seconds, Math.round((ms - seconds * 1000) * 1e6)]
}

// ---- log records ----------------------------------------------------------------------------------------------

function severityOf(entry: StoredEntry): keyof typeof SEVERITY {
  if (isUnguarded(entry) || entry.kind === 'gap') return 'error'
  return toneOf(entry) === 'plain' ? 'info' : 'warn'
}

function sentenceOf(entry: StoredEntry): string {
  if (!isFire(entry)) return entry.kind
  const what = entry.tool === undefined ? entry.event : `${entry.event} ${entry.tool}`
  const why = entry.reason === undefined ? '' : ` (${entry.reason})`
  return `${what}: ${verdictOf(entry)}${why}`
}

/** Where to find it in the log. */
function numberOf({ seq, hash }: StoredEntry): Attributes {
  return { 'carabiner.entry.number': seq, 'carabiner.entry.hash': hash }
}

function plainFields({ kind, time, seq, prev, hash, ...fields }: StoredEntry): Attributes {
  const named = Object.entries(fields).map(([name, value]) => {
    const isPlain = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    return [CONVENTIONAL[name] ?? `carabiner.${name}`, isPlain ? value : undefined] as const
  })
  return present(Object.fromEntries(named))
}

const CONVENTIONAL: Readonly<Record<string, string>> = {
  session: 'gen_ai.conversation.id',
  tool: 'gen_ai.tool.name',
}
