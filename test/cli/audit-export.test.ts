// The audit log as a collector of OpenTelemetry receives it, from the real exporters.

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { attribute, Collector, type LogSeen, type SpanSeen } from './collector.js'
import { Project, withProgram } from './program.js'

withProgram()

let project: Project
let collector: Collector
beforeEach(async () => {
  project = new Project()
  collector = new Collector()
  await collector.start()
  project.file('../home/.amplifier/hooks/hooks.json', {
    hooks: {
      PreToolUse: [
        { matcher: 'Bash', hooks: [{ type: 'command', command: '! grep -q forbidden || exit 2' }] },
      ],
    },
  })
})
afterEach(async () => {
  await collector.stop()
  project.remove()
})

async function fire(command: string): Promise<void> {
  const input = { session_id: 's1', tool_name: 'Bash', tool_input: { command } }
  await project.call(['fire', 'PreToolUse'], { input })
}

function send(...args: readonly string[]) {
  return project.call(['audit', 'export', '--to', collector.url, ...args])
}

describe('audit export', () => {
  it('sends a span for each event and each hook, and a log record for each entry', async () => {
    await fire('forbidden')
    const { code, stdout, stderr } = await send()
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toBe(`1 entry sent to ${collector.url}\n`)

    const [event, hook] = collector.spans as [SpanSeen, SpanSeen]
    expect(collector.spans.map(({ name }) => name)).toEqual(['handle_event PreToolUse', 'execute_hook'])
    expect(hook.parentSpanId).toBe(event.spanId)
    expect(hook.traceId).toBe(event.traceId)
    expect(attribute(event, 'gen_ai.conversation.id')).toBe('s1')
    expect(attribute(event, 'carabiner.decision')).toBe('deny')
    expect(attribute(hook, 'carabiner.hook.action')).toBe('deny')
    expect(BigInt(hook.startTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(event.startTimeUnixNano))
    expect(BigInt(hook.endTimeUnixNano)).toBeGreaterThan(BigInt(hook.startTimeUnixNano))

    const [log] = collector.logs as [LogSeen]
    expect(collector.logs).toHaveLength(1)
    expect([log.severityText, log.eventName]).toEqual(['WARN', 'carabiner.fire'])
    expect(log.body.stringValue).toMatch(/^PreToolUse Bash: deny \(/)
    expect([log.traceId, log.spanId]).toEqual([event.traceId, event.spanId])
    expect(attribute(log, 'carabiner.entry.number')).toBe(1)
    expect(collector.resources.flat().map(({ key }) => key)).toContain('service.name')
  })

  it('sends only what was not sent yet, for each collector', async () => {
    await fire('one')
    await send()
    await fire('two')
    const { stdout } = await send('--json')
    expect(JSON.parse(stdout)).toMatchObject({ sent: 1, collector: collector.url })
    expect(collector.logs.map((log) => attribute(log, 'carabiner.entry.number'))).toEqual([1, 2])
    expect(JSON.parse((await send('--json')).stdout)).toMatchObject({ sent: 0 })

    const other = new Collector()
    await other.start()
    await project.call(['audit', 'export', '--to', other.url])
    await other.stop()
    expect(other.logs).toHaveLength(2)
    expect(other.spans.map(({ spanId }) => spanId)).toEqual(collector.spans.map(({ spanId }) => spanId))
  })

  it('sends everything in batches', async () => {
    const { fileAuditLog } = await import('../../src/store/file-stores.js')
    const log = fileAuditLog({
      projectDir: project.folder,
      dataDir: join(project.home, '.local/share/carabiner'),
    })
    const entries = Array.from({ length: 501 }, (_, index) => ({
      kind: 'bypass',
      time: new Date(1_700_000_000_000 + index).toISOString(),
      event: 'Stop',
      action: 'continue',
    }))
    await log.append(entries)
    expect(JSON.parse((await send('--json')).stdout)).toMatchObject({ sent: 501 })
    expect(new Set(collector.logs.map((one) => attribute(one, 'carabiner.entry.number'))).size).toBe(501)
    expect(collector.spans).toEqual([])
    expect(collector.logs[0]).toMatchObject({ eventName: 'carabiner.bypass', severityText: 'WARN' })
  })

  it('says that a collector refused, and sends the same entries the next time', async () => {
    await fire('one')
    collector.status = 400
    const refused = await send()
    expect(refused.code).not.toBe(0)
    expect(refused.stderr).toContain(`The collector at ${collector.url} did not take the entries`)
    collector.status = 200
    expect((await send()).stdout).toBe(`1 entry sent to ${collector.url}\n`)
  })

  it('sends a log that replaced another one from its start, and says so', async () => {
    await fire('one')
    await fire('two')
    await send()
    for (const kept of ['share/carabiner', 'state/carabiner/audit'])
      rmSync(join(project.home, '.local', kept), { recursive: true })
    await fire('three')
    const { stdout, stderr } = await send()
    expect(stderr).toContain('the log is not the one that was sent before')
    expect(stdout).toBe(`1 entry sent to ${collector.url}\n`)
  })

  it('refuses an address that is none', async () => {
    const { code, stderr } = await project.call(['audit', 'export', '--to', 'localhost:4318'])
    expect(code).toBe(64)
    expect(stderr).toContain('--to must be the address of a collector')
  })
})
