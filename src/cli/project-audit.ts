// The audit of a project, as the command line writes and reads it.

import type { MergedSettings } from '../config/merged-settings.js'
import { textOf } from '../core/base/errors.js'
import type { MaybePromise } from '../core/base/promise.js'
import type { AuditLog, Entry } from '../store/audit-log.js'
import { fileAuditLog } from '../store/file-stores.js'
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
  write(entry: Entry): MaybePromise<void> {
    const { audit, audit_on_failure } = this.#settings()
    if (audit !== 'off') {
      this.#log ??= fileAuditLog({ projectDir: this.#projectDir, fsync: audit === 'fsync' })
      return this.#log.append([entry])
    }
    if (audit_on_failure === 'block') throw new Error('the settings say "audit": "off"')
  }
}

/** A log inside the project is refused: the project could have written it. */
export function auditOf(projectDir: string): AuditLog {
  try {
    return fileAuditLog({ projectDir })
  } catch (error) {
    throw new Refusal('NO_AUDIT', textOf(error))
  }
}
