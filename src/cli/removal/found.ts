// Everything that Carabiner keeps on this machine: entries in settings of agents, data, state.

import { existsSync, lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { namesIn } from '../../files/folder.js'
import { dataHome, HOME_FOLDERS, stateHome } from '../../files/homes.js'
import { looseCall } from '../../hosts/own-command.js'
import { writtenPlaces } from '../../hosts/registrations.js'
import { type HostPlace, type Plan, planRemove } from '../../hosts/setup.js'
import { allSetups, type KnownSetup } from '../../hosts/setups.js'
import { serviceFolder } from '../../service/socket/running-services.js'
import { agentCommands } from '../doctor/agent-files.js'
import { placeOf, shortPath } from '../print/lines.js'
import type { Commands } from '../setup/choice.js'
import { filesBehindProxy, type McpPlan } from '../setup/mcp.js'
import { leftRules } from '../setup/preset.js'
import { projectOf } from '../sources.js'

/** A file of an agent with entries of ours. */
export interface Settings extends KnownSetup {
  readonly place: HostPlace
  readonly plan: Plan
  /** All commands in it. */
  readonly commands: Commands
}

/** One of our folders, with the names in it that are ours. */
export interface Kept {
  readonly kind: 'data' | 'state'
  readonly folder: string
  readonly names: readonly string[]
  readonly files: number
}

export interface Found {
  readonly settings: readonly Settings[]
  /** Files whose MCP servers are behind our proxy, and would not start without it. */
  readonly mcp: readonly McpPlan[]
  readonly kept: readonly Kept[]
  /** The folder of the service, which is removed without a backup: it holds only sockets and locks. */
  readonly service: string | undefined
  /** What stays although it names Carabiner or lies in its folders. */
  readonly left: readonly string[]
}

export function isEmpty({ settings, mcp, kept, service }: Found): boolean {
  return settings.length + mcp.length + kept.length === 0 && service === undefined
}

/** `keepsState`: only what setup wrote. */
export async function findAll(keepsState: boolean): Promise<Found> {
  const setups = await allSetups()
  const found = setups.flatMap(({ host, setup }) => {
    return writtenPlaces({ host, setup }).flatMap((place) => {
      const plan = planRemove(place)
      const commands = place.form.commands(plan.file.text ?? '')
      return plan.changes ? [{ host, setup, place, plan, commands }] : []
    })
  })
  // Two agents may read one file.
  const settings = [...new Map([...found].reverse().map((one) => [one.place.path, one])).values()].reverse()
  const homes = [
    { kind: 'data', folder: dataHome() },
    { kind: 'state', folder: stateHome() },
  ] as const
  const behindProxy = filesBehindProxy(new Map(settings.map(({ plan }) => [plan.file.real, plan.after])))
  return {
    settings,
    mcp: behindProxy.plans,
    kept: keepsState ? [] : homes.flatMap(({ kind, folder }) => keptIn(kind, folder)),
    service: !keepsState && existsSync(serviceFolder()) ? serviceFolder() : undefined,
    left: [
      ...(await byHand(settings)),
      ...behindProxy.left,
      ...[leftRules() ?? []].flat(),
      ...(keepsState ? [] : homes.flatMap(({ kind, folder }) => strangers(kind, folder))),
    ],
  }
}

function keptIn(kind: Kept['kind'], folder: string): readonly Kept[] {
  const names = HOME_FOLDERS[kind].filter((name) => name !== SERVICE && existsSync(join(folder, name)))
  if (names.length === 0) return []
  const files = names.reduce((sum, name) => sum + filesIn(join(folder, name)), 0)
  return [{ kind, folder, names, files }]
}

const SERVICE = 'service' satisfies (typeof HOME_FOLDERS)['state'][number]

function filesIn(folder: string): number {
  if (!lstatSync(folder).isDirectory()) return 1 // somebody put a file or a link there
  return readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => !one.isDirectory())
    .length
}

function strangers(kind: Kept['kind'], folder: string): readonly string[] {
  const own: readonly string[] = [...HOME_FOLDERS[kind], ...(kind === 'data' ? ['state'] : [])]
  return namesIn(folder)
    .filter((name) => !own.includes(name))
    .map((name) => `${shortPath(join(folder, name))} is not Carabiner's`)
}

/** Commands in settings files that setup did not write. */
async function byHand(settings: readonly Settings[]): Promise<readonly string[]> {
  const { commands } = await agentCommands(projectOf({ project: undefined }))
  const done = new Set(settings.map(({ place }) => place.path))
  const own = commands.filter(({ command, file }) => looseCall(command) !== undefined && !done.has(file))
  return [...new Map(own.map((one) => [one.file, one])).values()].map(
    (one) => `${placeOf(one)} runs Carabiner, but setup on this machine did not write it`,
  )
}
