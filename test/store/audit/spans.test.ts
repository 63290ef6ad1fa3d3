// Spans as the real OpenTelemetry SDK sees them, and what happens where there is none.

import { createHooks, deny, memoryAudit } from 'carabiner'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { AuditedHook, AuditRecord } from '../../../src/core/session/audit-record.js'
import { spansSink, withSpans } from '../../../src/store/audit/spans.js'

/** As much of the packages as is used here. They are optional, and may not be installed. */
interface Api {
  readonly trace: {
    setGlobalTracerProvider(provider: object): boolean
    disable(): void
    setSpan(context: unknown, span: object): unknown
    getTracer(name: string): {
      startSpan(name: string): { spanContext(): { spanId: string; traceId: string }; end(): void }
    }
  }
  readonly context: {
    setGlobalContextManager(manager: object): boolean
    disable(): void
    with(context: unknown, run: () => void): void
  }
  readonly ROOT_CONTEXT: unknown
}

interface SeenSpan {
  readonly name: string
  readonly startTime: readonly [number, number]
  readonly endTime: readonly [number, number]
  readonly attributes: object
  readonly status: { readonly code: number; readonly message?: string }
  readonly parentSpanContext?: { readonly spanId: string }
}

interface Sdk {
  readonly InMemorySpanExporter: new () => { getFinishedSpans(): readonly SeenSpan[] }
  readonly SimpleSpanProcessor: new (exporter: object) => object
  readonly BasicTracerProvider: new (options: { readonly spanProcessors: readonly object[] }) => object
}

async function installed<T>(name: string): Promise<T | undefined> {
  try {
    return (await import(name)) as T
  } catch {
    return undefined
  }
}

const api = await installed<Api>('@opentelemetry/api')
const sdk = await installed<Sdk>('@opentelemetry/sdk-trace-base')
const both = api && sdk ? { api, sdk } : undefined

function hook(more: Partial<AuditedHook> = {}): AuditedHook {
  return {
    name: 'guard',
    kind: 'command',
    source: 'project',
    status: 'ran',
    ms: 20,
    at: 5,
    action: 'deny',
    ...more,
  }
}

function record(hooks: readonly AuditedHook[]): AuditRecord {
  return {
    kind: 'fire',
    time: '2026-01-31T12:00:00.100Z',
    session: 's1',
    event: 'PreToolUse',
    tool: 'Bash',
    digest: 'd',
    action: 'deny',
    hooks,
    injections: [],
    diagnostics: [],
    ms: 100,
  }
}

afterEach(() => {
  api?.trace.disable()
  api?.context.disable()
})

/** What a host does that wants spans. */
function host({ api, sdk }: { readonly api: Api; readonly sdk: Sdk }) {
  const exporter = new sdk.InMemorySpanExporter()
  const processor = new sdk.SimpleSpanProcessor(exporter)
  api.trace.setGlobalTracerProvider(new sdk.BasicTracerProvider({ spanProcessors: [processor] }))
  let active = api.ROOT_CONTEXT
  api.context.setGlobalContextManager({
    active: () => active,
    with: (context: unknown, run: () => void) => {
      const before = active
      active = context
      run()
      active = before
    },
    bind: (_: unknown, target: unknown) => target,
    enable: () => undefined,
    disable: () => undefined,
  })
  const spans = () => exporter.getFinishedSpans().filter(({ name }) => name === 'execute_hook')
  return { spans, of: (name: string) => spans().find((one) => named(one) === name) }
}

const named = ({ attributes }: SeenSpan) => (attributes as Record<string, unknown>)['carabiner.hook.name']
const ms = ([seconds, nanos]: readonly [number, number]) => seconds * 1000 + nanos / 1e6

describe('with the SDK', () => {
  it('one span for each hook that ran, when it ran', async ({ skip }) => {
    if (!both) return skip('@opentelemetry/sdk-trace-base is not installed')
    const { spans, of } = host(both)
    const failed = hook({
      name: 'broken',
      status: 'failed',
      why: 'HOOK_TIMEOUT' as never,
      detail: 'too slow',
      at: 30,
      ms: 60,
    })
    const others = [
      hook({ name: 'skipped', status: 'skipped' }),
      hook({ name: 'detached', status: 'detached' }),
    ]
    const sink = spansSink()
    expect(sink(record([hook(), failed, ...others]))).toBeUndefined()
    await expect.poll(() => spans().length).toBe(2)
    const start = Date.parse('2026-01-31T12:00:00.000Z')
    const [guard, broken] = [of('guard'), of('broken')]
    if (!guard || !broken) throw new Error('a span is missing')
    expect([ms(guard.startTime) - start, ms(guard.endTime) - start].map(Math.round)).toEqual([5, 25])
    expect([ms(broken.startTime) - start, ms(broken.endTime) - start].map(Math.round)).toEqual([30, 90])
    expect(guard.attributes).toEqual({
      'gen_ai.operation.name': 'execute_hook',
      'gen_ai.conversation.id': 's1',
      'gen_ai.tool.name': 'Bash',
      'carabiner.hook.name': 'guard',
      'carabiner.hook.kind': 'command',
      'carabiner.hook.source': 'project',
      'carabiner.hook.status': 'ran',
      'carabiner.hook.action': 'deny',
      'carabiner.hook.ms': 20,
      'carabiner.event': 'PreToolUse',
      'carabiner.decision': 'deny',
      'carabiner.call.digest': 'd',
    })
    expect(guard.status.code).toBe(0)
    expect(broken.status).toEqual({ code: 2, message: 'too slow' })
    expect(broken.attributes).toMatchObject({ 'error.type': 'HOOK_TIMEOUT' })
  })

  it('below what was active when the record was made, also the first time', async ({ skip }) => {
    if (!both) return skip('@opentelemetry/sdk-trace-base is not installed')
    const { spans, of } = host(both)
    const sink = spansSink()
    const parent = both.api.trace.getTracer('host').startSpan('execute_tool')
    const inside = both.api.trace.setSpan(both.api.ROOT_CONTEXT, parent)
    both.api.context.with(inside, () => void sink(record([hook({ name: 'first' })])))
    await expect.poll(() => spans().length).toBe(1)
    both.api.context.with(inside, () => void sink(record([hook({ name: 'second' })])))
    void sink(record([hook({ name: 'outside' })]))
    parent.end()
    const { spanId } = parent.spanContext()
    expect(of('first')?.parentSpanContext?.spanId).toBe(spanId)
    expect(of('second')?.parentSpanContext?.spanId).toBe(spanId)
    expect(of('outside')?.parentSpanContext).toBeUndefined()
  })

  it('of every hook that createHooks() runs, beside the sink of the host', async ({ skip }) => {
    if (!both) return skip('@opentelemetry/sdk-trace-base is not installed')
    const { spans } = host(both)
    const audit = memoryAudit()
    const hooks = await createHooks({ globals: false, audit })
    hooks.register('PreToolUse', () => deny('no'), { name: 'gate' })
    await hooks.session().fire('PreToolUse', { tool_name: 'Bash', tool_input: {} })
    await expect.poll(() => spans().map(({ name }) => name)).toEqual(['execute_hook'])
    expect(audit.records).toHaveLength(1)
  })

  it('a tracer that throws reaches nobody', async ({ skip }) => {
    if (!both) return skip('@opentelemetry/sdk-trace-base is not installed')
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
    let asked = 0
    const tracer = {
      startSpan: () => {
        asked++
        throw new Error('no spans today')
      },
    }
    both.api.trace.setGlobalTracerProvider({ getTracer: () => tracer })
    const sink = spansSink()
    void sink(record([hook()]))
    await expect.poll(() => asked).toBe(1)
    expect(() => sink(record([hook()]))).not.toThrow()
    expect(asked).toBe(2)
    expect(warned).toHaveBeenCalledTimes(1)
    warned.mockRestore()
  })
})

describe('without', () => {
  it('nothing happens, whatever is in the place of the registry', () => {
    const key = Symbol.for('opentelemetry.js.api.1')
    const world = globalThis as Record<symbol, unknown>
    const before = world[key]
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
    const throwing = new Proxy(
      {},
      {
        get: () => {
          throw new Error('hands off')
        },
      },
    )
    for (const registry of [undefined, null, {}, { version: '1' }, 'text', throwing]) {
      world[key] = registry
      expect(() => spansSink()(record([hook()]))).not.toThrow()
      const own = memoryAudit()
      expect(withSpans(own)).toBe(own)
    }
    world[key] = before
    warned.mockRestore()
  })
})
