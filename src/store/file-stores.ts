// The one place that makes stores: sessions, approvals, the audit log and trust records, all in files.

import { FileAuditLog, type FileAuditOptions } from './audit/file-audit.js'
import type { AuditLog } from './audit-log.js'

export interface FileStoresOptions extends Pick<FileAuditOptions, 'projectDir' | 'dataDir' | 'fsync'> {}

export interface Stores {
  readonly audit: AuditLog
}

/** Each store is made when it is first used, and throws then if its folder lies in the project. */
export function fileStores({ projectDir, dataDir, fsync }: FileStoresOptions): Stores {
  let audit: AuditLog | undefined
  return {
    get audit() {
      audit ??= new FileAuditLog({
        projectDir,
        ...(dataDir !== undefined && { dataDir }),
        ...(fsync !== undefined && { fsync }),
      })
      return audit
    },
  }
}
