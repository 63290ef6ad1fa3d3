// The settings.json of Claude Code: the user's, and that of a project.

import { type HostPlace, projectPlaces, userPlaces } from '../setup.js'
import { setup } from './setup.js'

export function userSettings(): HostPlace {
  return userPlaces(setup)[0] as HostPlace
}

export function projectSettings(projectDir: string): HostPlace {
  return projectPlaces(setup, projectDir)?.[0] as HostPlace
}
