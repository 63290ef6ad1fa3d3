// The audit of a project, as the command line writes and reads it.

import { setTimeout } from 'node:timers/promises'
import type { MergedSettings } from '../config/merged-settings.js'
import { textOf } from '../core/base/errors.js'
import type { MaybePromise } from '../core/base/promise.js'
import type { JudgedCall } from '../core/session/audit-record.js'
import type { AuditLog, Entry } from '../store/audit-log.js'
import { fileAuditLog, fileCalls } from '../store/file-stores.js'
import { Refusal } from './refusal.js'

/** Opens the log when there is something to write, if the settings allow it. */
export class ProjectAudit {
  readonly #projectDir: string
  readonly #settings: () => MergedSettings
  #log: AuditLog | undefined

  constructor(projectDir: string, settings: () => MergedSettings) {
    this.#projectDir = projectDir
    this.#settings = settings
  }

  /** Throws (or rejects) if it cannot be written, or if it is required but switched off. */
  write(...entries: readonly Entry[]): MaybePromise<void> {
    const { audit, audit_on_failure } = this.#settings()
    if (audit !== 'off') {
      this.#log ??= fileAuditLog({ projectDir: this.#projectDir, fsync: audit === 'fsync' })
      return this.#log.append(entries)
    }
    if (audit_on_failure === 'block') throw new Error('the settings say "audit": "off"')
  }
}

/** Keeps the calls that gates judged until the answer is out; then they are written. */
export class ProjectCalls {
  readonly #projectDir: string
  readonly #settings: () => MergedSettings
  readonly #waiting: JudgedCall[] = []

  constructor(projectDir: string, settings: () => MergedSettings) {
    this.#projectDir = projectDir
    this.#settings = settings
  }

  keep(call: JudgedCall): void {
    if (this.#settings().audit !== 'off') this.#waiting.push(call)
  }

  /** Answers what went wrong: a call that is not kept changes no decision. */
  async write(): Promise<string | undefined> {
    if (this.#waiting.length === 0) return undefined
    try {
      const calls = await fileCalls({ projectDir: this.#projectDir })
      await calls.append(this.#waiting.splice(0))
      return undefined
    } catch (error) {
      return `${textOf(error)}; carabiner audit shows this event without its call`
    }
  }
}

/** Records that no decision depends on are written together, this much later. */
const TOGETHER_MS = 200

/** The audit of a program that stays. A decision is on record before it is told; events that no hook heard may wait. */
export class ResidentAudit {
  readonly #audit: ProjectAudit
  readonly #calls: ProjectCalls
  readonly #settings: () => MergedSettings
  readonly #log: (text: string) => void
  readonly #waiting: (() => Entry)[] = []
  #later: Promise<void> | undefined

  constructor(projectDir: string, settings: () => MergedSettings, log: (text: string) => void) {
    this.#audit = new ProjectAudit(projectDir, settings)
    this.#calls = new ProjectCalls(projectDir, settings)
    this.#settings = settings
    this.#log = log
  }

  keep(call: JudgedCall): void {
    this.#calls.keep(call)
  }

  /** Throws (or rejects) like ProjectAudit. If records that may wait are lost, the log says so. */
  write(entry: Entry): MaybePromise<void> {
    this.#waiting.push(() => entry)
    if (isDecision(entry) || this.#settings().audit_on_failure === 'block') return this.#writeWaiting()
    this.#soon()
    return undefined
  }

  /** Writes an entry that no decision depends on, and makes it then. */
  later(make: () => Entry): void {
    if (this.#settings().audit === 'off') return
    this.#waiting.push(make)
    this.#soon()
  }

  #soon(): void {
    this.#later ??= setTimeout(TOGETHER_MS)
      .then(() => this.#writeWaiting())
      .catch((error: unknown) => this.#log(textOf(error)))
  }

  async end(): Promise<void> {
    try {
      await this.#writeWaiting()
    } catch (error) {
      this.#log(textOf(error))
    }
    await this.#writeCalls()
  }

  #writeWaiting(): MaybePromise<void> {
    this.#later = undefined
    void this.#writeCalls()
    const entries = this.#waiting.splice(0).map((make) => make())
    return entries.length === 0 ? undefined : this.#audit.write(...entries)
  }

  async #writeCalls(): Promise<void> {
    const lost = await this.#calls.write()
    if (lost !== undefined) this.#log(lost)
  }
}

/** False if no hook heard the event: those that there are look for other tools or other calls. */
function isDecision(entry: Entry): boolean {
  if (!('hooks' in entry) || entry.action !== 'continue' || entry.unguarded) return true
  return entry.hooks.some(({ status, why }) => status !== 'skipped' || (why !== 'matcher' && why !== 'if'))
}

/** A log inside the project is refused: the project could have written it. */
export function auditOf(projectDir: string): AuditLog {
  try {
    return fileAuditLog({ projectDir })
  } catch (error) {
    throw new Refusal('NO_AUDIT', textOf(error))
  }
}
