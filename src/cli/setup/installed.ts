// The agents on this machine that setup knows.

import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isProgram, searchPath } from '../../files/search-path.js'
import { userPlaces } from '../../hosts/setup.js'
import { allSetups, type KnownSetup } from '../../hosts/setups.js'
import { projectOf } from '../sources.js'

/** Those whose program is in PATH, or whose settings are there. */
export async function installedAgents(): Promise<readonly KnownSetup[]> {
  const { folders } = searchPath([projectOf({ project: undefined })])
  const isInPath = (program: string) => folders.some((folder) => isProgram(join(folder, program)))
  return (await allSetups()).filter(
    ({ setup }) =>
      setup.programs.some(isInPath) || userPlaces(setup).some(({ path }) => existsSync(dirname(path))),
  )
}
