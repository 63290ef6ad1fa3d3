// The migrations of the database, in order. A migration that was released is never changed: add another one.

import { sql as machines } from './migrations/0001-machines.js'
import { sql as audit } from './migrations/0002-audit.js'
import { sql as checkpoints } from './migrations/0003-checkpoints.js'
import { sql as breaks } from './migrations/0004-breaks.js'
import { sql as people } from './migrations/0005-people.js'
import { sql as approvals } from './migrations/0006-approvals.js'
import { sql as listing } from './migrations/0007-listing.js'
import { sql as page } from './migrations/0008-page.js'
import { sql as policy } from './migrations/0009-policy.js'
import { sql as reports } from './migrations/0010-reports.js'
import { sql as counters } from './migrations/0011-counters.js'
import { sql as rejected } from './migrations/0012-rejected.js'
import { sql as telling } from './migrations/0013-telling.js'
import { sql as userReports } from './migrations/0014-user-reports.js'
import { sql as nothingLost } from './migrations/0015-nothing-lost.js'
import { sql as shadows } from './migrations/0016-shadows.js'
import { sql as searches } from './migrations/0017-searches.js'
import { sql as columns } from './migrations/0018-columns.js'

export interface Migration {
  readonly version: number
  readonly name: string
  readonly sql: string
}

export const MIGRATIONS: readonly Migration[] = [
  { version: 1, name: 'machines', sql: machines },
  { version: 2, name: 'audit', sql: audit },
  { version: 3, name: 'checkpoints', sql: checkpoints },
  { version: 4, name: 'breaks', sql: breaks },
  { version: 5, name: 'people', sql: people },
  { version: 6, name: 'approvals', sql: approvals },
  { version: 7, name: 'listing', sql: listing },
  { version: 8, name: 'page', sql: page },
  { version: 9, name: 'policy', sql: policy },
  { version: 10, name: 'reports', sql: reports },
  { version: 11, name: 'counters', sql: counters },
  { version: 12, name: 'rejected', sql: rejected },
  { version: 13, name: 'telling', sql: telling },
  { version: 14, name: 'user-reports', sql: userReports },
  { version: 15, name: 'nothing-lost', sql: nothingLost },
  { version: 16, name: 'shadows', sql: shadows },
  { version: 17, name: 'searches', sql: searches },
  { version: 18, name: 'columns', sql: columns },
]
