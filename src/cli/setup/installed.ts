// The agents on this machine that setup knows.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { userHome } from '../../files/homes.js'
import { isProgram, searchPath } from '../../files/search-path.js'
import { allSetups, type KnownSetup } from '../../hosts/setups.js'
import { projectOf } from '../sources.js'

/** Those whose program is in PATH, or whose settings are there. */
export async function installedAgents(): Promise<readonly KnownSetup[]> {
  const { folders } = searchPath([projectOf({ project: undefined })])
  const isInPath = (program: string) => folders.some((folder) => isProgram(join(folder, program)))
  const all = await allSetups()
  // Some share a folder, which then says nothing.
  const isShared = (folder: string) => all.filter(({ setup }) => setup.folder === folder).length > 1
  return all.filter(({ setup: { programs, folder, files } }) => {
    if (files.length === 0) return false
    return programs.some(isInPath) || (!isShared(folder) && existsSync(join(userHome(), folder)))
  })
}
