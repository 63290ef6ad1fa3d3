// The audit of a project, as the command line keeps it: opened when there is something to write, if the settings say so.

import type { MergedSettings } from '../../config/merged-settings.js'
import { textOf } from '../../core/base/errors.js'
import { AuditLog } from '../../store/audit/audit-log.js'
import type { Entry } from '../../store/audit/entry.js'
import { auditFolder } from '../../store/audit/log-folder.js'
import { Refusal } from '../refusal.js'

export class ProjectAudit {
  readonly #projectDir: string
  readonly #settings: () => MergedSettings
  #log: AuditLog | undefined

  constructor(projectDir: string, settings: () => MergedSettings) {
    this.#projectDir = projectDir
    this.#settings = settings
  }

  /** Throws where it could not be written, or where it must be and is switched off. */
  write(entry: Entry): void {
    const { audit, audit_on_failure } = this.#settings()
    if (audit !== 'off') {
      this.#log ??= new AuditLog({ projectDir: this.#projectDir, fsync: audit === 'fsync' })
      this.#log.append([entry])
    } else if (audit_on_failure === 'block') throw new Error('the settings say "audit": "off"')
  }
}

/** A folder in the project holds no audit: anybody could have written it. */
export function auditFolderOf(projectDir: string): string {
  try {
    return auditFolder(projectDir)
  } catch (error) {
    throw new Refusal('NO_AUDIT', textOf(error))
  }
}
