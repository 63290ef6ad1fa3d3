// Every program that is read, by name. Add one as an entry with examples to a table of this folder.

import type { Program } from '../program.js'
import { BACKUP_PROGRAMS } from './backups.js'
import { CLOUD_PROGRAMS } from './clouds.js'
import { CLUSTER_PROGRAMS } from './clusters.js'
import { CODE_PROGRAMS } from './code.js'
import { CONNECTION_PROGRAMS } from './connections.js'
import { CONTAINER_PROGRAMS } from './containers.js'
import { DATABASE_PROGRAMS } from './database.js'
import { DATABASE_SERVICES } from './database-services.js'
import { DEPLOYMENTS } from './deployments.js'
import { FETCHED_CODE } from './fetched-code.js'
import { FILE_PROGRAMS } from './files.js'
import { FORGE_PROGRAMS } from './forges.js'
import { FORMATTING } from './formatters.js'
import { GIT_PROGRAMS } from './git.js'
import { MACHINE_PROGRAMS, ON_MACHINE } from './machine.js'
import { FILE_MAKERS } from './made-files.js'
import { NAMED_FILES } from './named-files.js'
import { OWN_PROGRAMS } from './own.js'
import { PACKAGE_MANAGERS } from './packages.js'
import { plainName } from './plain-name.js'
import { PLATFORM_PROGRAMS } from './platforms.js'
import { PUBLISHING } from './publishing.js'
import { READERS } from './readers.js'
import { REQUEST_PROGRAMS } from './requests.js'
import { SECRET_STORES, showingSecrets } from './secret-stores.js'
import { SENDERS } from './senders.js'
import { SIGN_INS } from './sign-ins.js'
import { SYSTEM_PROGRAMS } from './system.js'
import { WINDOWS_PROGRAMS } from './windows.js'

export const PROGRAMS: readonly Program[] = [
  ...FILE_PROGRAMS,
  ...FILE_MAKERS,
  ...READERS,
  ...GIT_PROGRAMS,
  ...REQUEST_PROGRAMS,
  ...CONNECTION_PROGRAMS,
  ...[...CLOUD_PROGRAMS, ...CLUSTER_PROGRAMS, ...PLATFORM_PROGRAMS, ...FORGE_PROGRAMS].map(showingSecrets),
  ...CONTAINER_PROGRAMS.map(showingSecrets),
  ...SECRET_STORES,
  ...SENDERS,
  ...DATABASE_PROGRAMS,
  ...DATABASE_SERVICES,
  ...SYSTEM_PROGRAMS,
  ...MACHINE_PROGRAMS,
  ...PACKAGE_MANAGERS,
  ...CODE_PROGRAMS,
  ...OWN_PROGRAMS,
  ...WINDOWS_PROGRAMS,
]

/** One thing that many programs do, besides what the tables above say about them. */
export const SHARED_DEEDS: readonly Program[] = [
  ...NAMED_FILES,
  ...FORMATTING,
  ...BACKUP_PROGRAMS,
  ...PUBLISHING,
  ...DEPLOYMENTS,
  ...SIGN_INS,
  ...FETCHED_CODE,
  ...ON_MACHINE,
]

const BY_NAME = new Map<string, readonly Program[]>()
for (const program of [...PROGRAMS, ...SHARED_DEEDS]) {
  for (const name of program.names) BY_NAME.set(name, [...(BY_NAME.get(name) ?? []), program])
}

/** Every entry about the program. Undefined if there is none. */
export function entriesOf(name: string): readonly Program[] | undefined {
  return BY_NAME.get(name) ?? BY_NAME.get(plainName(name))
}
