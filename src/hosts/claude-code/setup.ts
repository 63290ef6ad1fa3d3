// Claude Code: hooks in settings.json, in groups by event.

import { ENGINE_EVENTS } from '../entries.js'
import type { Entry, HostSetup } from '../host-setup.js'
import { jsonForm } from '../json-form.js'
import { type HostPlace, projectPlaces, userPlaces } from '../setup.js'

const EVENTS = Object.fromEntries(ENGINE_EVENTS.map((event) => [event, event]))

const claudeSettings = jsonForm({ events: EVENTS, item: groupOf })

export interface Group {
  readonly matcher?: string
  readonly hooks: readonly [Omit<Entry, 'event' | 'matcher'> & { readonly type: 'command' }]
}

export function groupOf({ matcher, command, timeout, onFailure }: Entry): Group {
  return {
    ...(matcher !== undefined && { matcher }),
    hooks: [
      {
        type: 'command',
        command,
        ...(timeout !== undefined && { timeout }),
        ...(onFailure !== undefined && { onFailure }),
      },
    ],
  }
}

const FILE = { name: 'settings.json', form: claudeSettings }

export const setup: HostSetup = {
  standing: 'proven',
  programs: ['claude'],
  folder: '.claude',
  variable: 'CLAUDE_CONFIG_DIR',
  files: [FILE],
  project: { folder: '.claude', files: [FILE] },
  events: EVENTS,
}

export function userSettings(): HostPlace {
  return userPlaces(setup)[0] as HostPlace
}

export function projectSettings(projectDir: string): HostPlace {
  return projectPlaces(setup, projectDir)?.[0] as HostPlace
}
