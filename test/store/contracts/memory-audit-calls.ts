// Calls in memory, with answers that come later: the contract asks for no files.

import type { JudgedCall } from '../../../src/core/session/audit-record.js'
import { keptLine } from '../../../src/store/audit-calls/kept-call.js'
import type { AuditCalls, KeptCall } from '../../../src/store/audit-calls.js'

export class MemoryAuditCalls implements AuditCalls {
  readonly place = 'memory'
  readonly #lines: string[] = []

  async append(calls: readonly JudgedCall[]): Promise<void> {
    for (const call of calls) this.#lines.push(keptLine(call))
  }

  async *calls({ limit = Infinity }: { readonly limit?: number } = {}): AsyncGenerator<KeptCall> {
    for (const line of this.#lines.toReversed().slice(0, limit)) yield JSON.parse(line)
  }

  async find(ids: ReadonlySet<string>): Promise<ReadonlyMap<string, KeptCall>> {
    const found = new Map<string, KeptCall>()
    for await (const call of this.calls()) if (ids.has(call.id)) found.set(call.id, call)
    return found
  }
}
