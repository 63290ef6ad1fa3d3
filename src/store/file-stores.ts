// Creates our stores in files. Embedders create theirs with fileApprovals() and fileAudit().

import { resolve } from 'node:path'
import { dataHome } from '../files/homes.js'
import type { FileApprovalsOptions } from './approvals/file-approvals.js'
import type { Approvals } from './approvals.js'
import { FileAuditLog, type FileAuditOptions } from './audit/file-audit.js'
import type { FileCallsOptions } from './audit-calls/file-calls.js'
import type { AuditCalls } from './audit-calls.js'
import type { AuditLog } from './audit-log.js'
import { FileStore, type FileStoreOptions } from './sessions/file-store.js'
import type { Sessions } from './sessions.js'
import { FileTrustRecords } from './trust/file-trust-records.js'
import type { TrustRecords } from './trust-records.js'

export interface Stores {
  readonly sessions: Sessions
  readonly audit: AuditLog
  readonly trust: TrustRecords
  /** Asynchronous, because it is loaded on first use: most events end without a question. */
  approvals(): Promise<Approvals>
}

export interface FileStoresOptions extends FileStoreOptions, Pick<FileAuditOptions, 'fsync'> {}

/**
 * Creates each store on first use. Sessions and the audit log belong to the project, and throw at that point if their
 * folder is inside it. Approvals and trust belong to the user.
 */
export function fileStores(options: FileStoresOptions): Stores {
  const { fsync, ...places } = options
  const { projectDir, stateDir, dataDir, onTrouble } = places
  const data = dataDir === undefined ? {} : { dataDir }
  let [sessions, audit, trust]: [Sessions?, AuditLog?, TrustRecords?] = []
  let approvals: Promise<Approvals> | undefined
  return {
    get sessions() {
      sessions ??= new FileStore(places)
      return sessions
    },
    get audit() {
      audit ??= fileAuditLog({ projectDir, ...data, ...(fsync !== undefined && { fsync }) })
      return audit
    },
    get trust() {
      trust ??= fileTrustRecords(dataDir)
      return trust
    },
    approvals() {
      approvals ??= approvalsIn({
        ...data,
        ...(stateDir !== undefined && { stateDir }),
        ...(onTrouble && { onTrouble }),
      })
      return approvals
    },
  }
}

// Single stores, for programs that start cold. A bundle includes only the stores that it names.

export function fileAuditLog(options: FileAuditOptions): AuditLog {
  return new FileAuditLog(options)
}

export function fileTrustRecords(dataDir: string = dataHome()): TrustRecords {
  return new FileTrustRecords(resolve(dataDir))
}

/** Loaded on first use: it is needed after the answer, if at all. */
export async function fileCalls(options: FileCallsOptions): Promise<AuditCalls> {
  const { FileCalls } = await import('./audit-calls/file-calls.js')
  return new FileCalls(options)
}

/** Units that a list of digests trusted here. They are expected as long as the list names them. */
export function fileListedRecords(dataDir: string = dataHome()): TrustRecords {
  return new FileTrustRecords(resolve(dataDir), 'listed')
}

export async function approvalsIn(options: FileApprovalsOptions): Promise<Approvals> {
  const { fileApprovals } = await import('./approvals/file-approvals.js')
  return fileApprovals(options)
}
