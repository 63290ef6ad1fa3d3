// Records of trust in memory: as long as the process lives.

import {
  copyKeyOf,
  keyOf,
  type TrustRecord,
  type TrustRecords,
  type Where,
} from '../../../src/store/trust-records.js'

export class MemoryTrustRecords implements TrustRecords {
  readonly #records = new Map<string, TrustRecord>()

  /** No project, and nobody else, can write to this memory. */
  checkOutside(): void {}
  checkPrivate(): void {}

  load(where: Where): TrustRecord | undefined {
    return this.#records.get(keyOf(where))
  }

  write(where: Where, record: TrustRecord): void {
    this.#records.set(keyOf(where), structuredClone(record))
  }

  addNext(where: Where, next: TrustRecord): void {
    const record = this.load(where)
    if (record) this.write(where, { ...record, next })
  }

  promote(where: Where, next: TrustRecord): void {
    const record = this.load(where)
    if (record?.next?.digest === next.digest) this.write(where, { ...next, former: copyKeyOf(record) })
  }

  refresh(where: Where, before: TrustRecord, now: TrustRecord): void {
    const record = this.load(where)
    if (record?.digest === before.digest && record.at === before.at)
      this.write(where, { ...now, ...(record.next && { next: record.next }) })
  }

  remove(where: Where): TrustRecord | undefined {
    const record = this.load(where)
    this.#records.delete(keyOf(where))
    return record
  }

  ofProject(projectDir: string): readonly TrustRecord[] {
    const records = this.all().filter((record) => record.projectDir === projectDir)
    return [...records].sort((a, b) => (a.path < b.path ? -1 : 1))
  }

  all(): readonly TrustRecord[] {
    return [...this.#records.values()]
  }
}
