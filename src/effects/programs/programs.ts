// Every program that is read, by name. Add one as an entry with examples to a table of this folder.

import type { Program } from '../program.js'
import { remembered } from '../remembered.js'
import { CLOUD_PROGRAMS } from './cloud.js'
import { CODE_PROGRAMS } from './code.js'
import { CONTAINER_PROGRAMS } from './containers.js'
import { DATABASE_PROGRAMS } from './database.js'
import { DATABASE_SERVICES } from './database-services.js'
import { FILE_PROGRAMS } from './files.js'
import { GIT_PROGRAMS } from './git.js'
import { FILE_MAKERS } from './made-files.js'
import { withNamedFiles } from './named-files.js'
import { NETWORK_PROGRAMS } from './network.js'
import { OWN_PROGRAMS } from './own.js'
import { PUBLISHING_PROGRAMS, withPublishing } from './publishing.js'
import { READERS } from './readers.js'
import { SECRET_STORES, showingSecrets } from './secret-stores.js'
import { SENDERS } from './senders.js'
import { SYSTEM_PROGRAMS } from './system.js'
import { WINDOWS_PROGRAMS } from './windows.js'

export const PROGRAMS: readonly Program[] = [
  ...FILE_PROGRAMS,
  ...FILE_MAKERS,
  ...READERS,
  ...GIT_PROGRAMS,
  ...NETWORK_PROGRAMS,
  ...CLOUD_PROGRAMS.map(showingSecrets),
  ...CONTAINER_PROGRAMS.map(showingSecrets),
  ...SECRET_STORES,
  ...SENDERS,
  ...DATABASE_PROGRAMS,
  ...DATABASE_SERVICES,
  ...SYSTEM_PROGRAMS,
  ...PUBLISHING_PROGRAMS,
  ...CODE_PROGRAMS,
  ...OWN_PROGRAMS,
  ...WINDOWS_PROGRAMS,
]

const BY_NAME = new Map(
  PROGRAMS.flatMap((program) =>
    program.names.map((name) => [name, withNamedFiles(withPublishing(program, name), name)] as const),
  ),
)

export function programOf(name: string): Program | undefined {
  return BY_NAME.get(name) ?? BY_NAME.get(plainName(name))
}

/** `python3.12` is `python`, `mkfs.ext4` is `mkfs`, `gsed` is GNU's `sed`. */
const plainName = remembered((name) => {
  // PowerShell and cmd do not tell cases apart.
  if (/^[A-Za-z]+(?:-[A-Za-z]+)?$/.test(name) && name !== name.toLowerCase()) return name.toLowerCase()
  if (/^mkfs\.|^newfs_/.test(name)) return name.replace(/[._].*$/, '')
  if (/^(?:[gmn]awk|gsed)$/.test(name)) return name.slice(1)
  return name.replace(/(?<=^[a-zA-Z]+)-?\d[\d.]*$/, '')
})
