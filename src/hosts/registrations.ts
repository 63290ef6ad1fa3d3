// What agents have in their files on this machine: every file that setup can write for any of them, and the commands in it.

import { join } from 'node:path'
import { canonicalEvent } from '../core/events/events.js'
import { isOurs } from './entries.js'
import { hostText, problemsOf } from './host-problems.js'
import type { Form, FormCommand, HostProblem, HostSetup } from './host-setup.js'
import { looseCall, type OwnCommand, ownCommand } from './own-command.js'
import { type HostPlace, placeOf, userPlaces } from './setup.js'
import { recordedFiles } from './setup-record.js'
import { allSetups, type KnownSetup, sharerOf } from './setups.js'

/** A file of an agent that exists, read as untrusted text. */
export interface AgentFile extends KnownSetup {
  readonly path: string
  /** It is the project's, not the user's. */
  readonly isProject: boolean
  readonly form: Form
  readonly text: string
  /** Ours and others. Empty if the text cannot be read. */
  readonly commands: readonly FormCommand[]
}

/** The files of all agents, for the user and for a project. */
export async function agentFiles(project: string): Promise<readonly AgentFile[]> {
  const found = new Map<string, AgentFile>()
  for (const known of await allSetups()) {
    for (const { path, form, isProject } of placesOf(known.setup, project)) {
      const text = found.has(path) ? undefined : hostText(path)
      if (text !== undefined)
        found.set(path, { ...known, path, form, isProject, text, commands: form.commands(text) })
    }
  }
  return [...found.values()]
}

type Place = Pick<AgentFile, 'path' | 'form' | 'isProject'>

function placesOf(setup: HostSetup, project: string): readonly Place[] {
  // Agents may read files in a project where setup does not write any.
  const { folder, files } = setup.project ?? setup
  return [
    ...userPlaces(setup).map(({ path, form }) => ({ path, form, isProject: false })),
    ...[
      ...files.map(({ name, form }) => ({ path: join(project, folder, name), form })),
      ...(setup.alsoReads?.(project) ?? []),
    ].map((place) => ({ ...place, isProject: true })),
  ]
}

/** The user's files of an agent, and those of projects that setup has a record of. */
export function writtenPlaces({ setup }: KnownSetup): readonly HostPlace[] {
  const recorded = recordedFiles().flatMap((path) => placeOf(setup, path) ?? [])
  return [...new Map([...userPlaces(setup), ...recorded].map((place) => [place.path, place])).values()]
}

/** One of our commands in a file of an agent. */
export interface Registered extends OwnCommand {
  readonly command: string
  /** The host's own name of the event, if it is known. */
  readonly event: string | undefined
}

export function ownIn(commands: readonly FormCommand[]): readonly Registered[] {
  return commands.flatMap(({ command, event }) => {
    const own = isOurs({ command }) ? ownCommand({ command }) : undefined
    return own ? [{ ...own, command, event }] : []
  })
}

/** `Codex`; `Amazon Q (with --agent carabiner)`; or `Copilot CLI (and VS Code)`. */
export function askingName(known: KnownSetup): string {
  const sharer = sharerOf(known)
  const more = known.setup.onlyIf ?? (sharer && `and ${sharer}`)
  return more === undefined ? known.host.title : `${known.host.title} (${more})`
}

/** Our name for the event of a command. */
export function eventOf({ events }: HostSetup, { event }: FormCommand): string | undefined {
  if (event === undefined || Object.hasOwn(events, event)) return event
  const found = Object.entries(events).find(([, names]) => [names].flat().includes(event))
  return found?.[0] ?? canonicalEvent(event)
}

/** An agent with commands of ours in the user's files, or in those of the project. */
export interface Registration extends KnownSetup {
  readonly isProject: boolean
  /** Those with commands of ours. */
  readonly files: readonly AgentFile[]
  /** What keeps the agent from running them, and what else there is to know. */
  readonly problems: readonly HostProblem[]
}

/** Also one that somebody wrote by hand. */
function isCallOfOurs({ command }: FormCommand): boolean {
  return isOurs({ command }) || looseCall(command) !== undefined
}

export function registrationsIn(all: readonly AgentFile[], project: string): readonly Registration[] {
  return [false, true].flatMap((isProject) => {
    const here = all.filter((file) => file.isProject === isProject)
    return [...new Set(here.map(({ host }) => host))].flatMap((host): readonly Registration[] => {
      const files = here.filter((file) => file.host === host && file.commands.some(isCallOfOurs))
      const [first] = files
      if (!first) return []
      const problems = problemsOf(first.setup, { project, isProject })
      return [{ host, setup: first.setup, isProject, files, problems }]
    })
  })
}
