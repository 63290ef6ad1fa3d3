// The one place that makes stores: sessions, approvals, the audit log and the records of trust, all in files.

import { resolve } from 'node:path'
import { dataHome } from '../files/homes.js'
import type { FileApprovalsOptions } from './approvals/file-approvals.js'
import type { Approvals } from './approvals.js'
import { FileAuditLog, type FileAuditOptions } from './audit/file-audit.js'
import type { AuditLog } from './audit-log.js'
import { FileStore, type FileStoreOptions } from './sessions/file-store.js'
import type { Sessions } from './sessions.js'
import { FileTrustRecords } from './trust/file-trust-records.js'
import type { TrustRecords } from './trust-records.js'

export interface FileStoresOptions
  extends Partial<FileStoreOptions>,
    Pick<FileAuditOptions, 'fsync'>,
    Pick<FileApprovalsOptions, 'openFor'> {}

export interface Stores {
  readonly sessions: Sessions
  readonly audit: AuditLog
  readonly trust: TrustRecords
  /** Asynchronous, because it is loaded when first asked for: most events end without a question. */
  approvals(): Promise<Approvals>
}

/**
 * Makes each store when it is first used. Sessions and the audit log belong to `projectDir`, and throw then if their
 * folder lies inside it. Approvals and trust are the user's.
 */
export function fileStores(options: FileStoresOptions = {}): Stores {
  const { fsync, openFor, projectDir, stateDir, dataDir, onTrouble } = options
  const data = dataDir === undefined ? {} : { dataDir }
  const shared = { ...data, ...(stateDir !== undefined && { stateDir }), ...(onTrouble && { onTrouble }) }
  const project = () => ({ projectDir: projectDir as string }) // a missing one is reported by the store
  let sessions: Sessions | undefined
  let audit: AuditLog | undefined
  let trust: TrustRecords | undefined
  let approvals: Promise<Approvals> | undefined
  return {
    get sessions() {
      sessions ??= new FileStore({ ...project(), ...shared })
      return sessions
    },
    get audit() {
      audit ??= new FileAuditLog({ ...project(), ...data, ...(fsync !== undefined && { fsync }) })
      return audit
    },
    get trust() {
      trust ??= new FileTrustRecords(resolve(dataDir ?? dataHome()))
      return trust
    },
    approvals() {
      approvals ??= import('./approvals/file-approvals.js').then(({ fileApprovals }) =>
        fileApprovals({ ...shared, ...(openFor !== undefined && { openFor }) }),
      )
      return approvals
    },
  }
}
