// The agents on this machine that setup knows, and those that have hooks of ours.

import { existsSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { namesIn } from '../../files/folder.js'
import { isProgram, searchPath } from '../../files/search-path.js'
import { writtenPlaces } from '../../hosts/registrations.js'
import { type HostPlace, planRemove, userFolder, userPlaces } from '../../hosts/setup.js'
import { SetupProblem } from '../../hosts/setup-problem.js'
import { allSetups, type KnownSetup } from '../../hosts/setups.js'
import { projectOf } from '../sources.js'
import { placesInProject } from './register.js'

/** Those whose program is in PATH, or whose settings are there. */
export async function installedAgents(): Promise<readonly KnownSetup[]> {
  const { folders } = searchPath([projectOf({ project: undefined })])
  const isInPath = (program: string) => folders.some((folder) => isProgram(join(folder, program)))
  const all = await allSetups()
  // Some share a folder: only files of ours in it tell which of them is there.
  const isShared = (folder: string) => all.filter(({ setup }) => userFolder(setup) === folder).length > 1
  const isRunnable = ({ setup }: KnownSetup) => setup.programs.some(isInPath)
  return withoutSharers(
    all.filter((known) => {
      if (known.setup.files.length === 0) return false
      const folder = userFolder(known.setup)
      return isRunnable(known) || (isShared(folder) ? hasOurs(known) : isThere(folder, all))
    }),
    isRunnable,
  )
}

/** Whether there is a folder that is not only there for another agent, as ~/.gemini is for Antigravity. */
function isThere(folder: string, all: readonly KnownSetup[]): boolean {
  if (!existsSync(folder)) return false
  const others = all.map(({ setup }) => relative(folder, userFolder(setup)).split(sep)[0])
  const names = namesIn(folder)
  return names.length === 0 || names.some((name) => !others.includes(name))
}

/**
 * Those with hooks of ours, installed or not: in the user's files, or in projects that setup has a record of. `isHere`: only
 * in the project here.
 */
export async function registeredAgents(isHere: boolean): Promise<readonly KnownSetup[]> {
  const all = await allSetups()
  if (isHere) return all.filter((known) => placesInProject(known).some(isOursIn))
  return withoutSharers(all.filter(hasOurs), () => false)
}

/** A file of ours that two agents read does not show which of them is there. */
function withoutSharers(
  agents: readonly KnownSetup[],
  isSure: (known: KnownSetup) => boolean,
): readonly KnownSetup[] {
  const sureFirst = [...agents].sort((a, b) => Number(isSure(b)) - Number(isSure(a)))
  const first = new Map([...sureFirst].reverse().map((known) => [filesOf(known), known]))
  return agents.filter((known) => isSure(known) || first.get(filesOf(known)) === known)
}

function filesOf({ host, setup }: KnownSetup): string {
  const places = userPlaces(setup)
  return places.length === 0 ? host.name : places.map(({ path }) => path).join('\0')
}

function hasOurs(known: KnownSetup): boolean {
  return writtenPlaces(known).some(isOursIn)
}

function isOursIn(place: HostPlace): boolean {
  try {
    return planRemove(place).changes
  } catch (error) {
    // Removing them says what is wrong with the file.
    if (error instanceof SetupProblem) return true
    throw error
  }
}
