// What to type if there are no hooks yet, or if no agent asks them.

import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { shellQuoted } from '../../effects/shell/shell-quoted.js'
import { userHome } from '../../files/homes.js'
import { type Choice, choicesOf, PACK_TABLE } from '../../hosts/entries.js'
import { filesOf, isGone, looseCall, ownCommand } from '../../hosts/own-command.js'
import { type PackName, packName } from '../../hosts/pack-names.js'
import { agentFiles, askingName, registrationsIn } from '../../hosts/registrations.js'
import { type AgentCommand, agentCommands, commandsIn } from '../doctor/agent-files.js'
import { fromHere, grouped, shortPath } from '../print/lines.js'
import { typed } from '../print/next-command.js'
import { proxiedServers } from '../setup/proxied-servers.js'
import { projectOf, type Sources, sourcesOf } from '../sources.js'

export interface FirstStep {
  /** `plugin`, `above` and `migrate`: hooks that are there already. `new`: a first hook. */
  readonly kind: 'plugin' | 'above' | 'migrate' | 'new'
  readonly line: string
}

/** Points to hooks elsewhere, or else says how to make one. */
export async function firstSteps(sources: Sources): Promise<readonly FirstStep[]> {
  const project = projectOf(sources)
  // The commands below take no other option of the sources.
  const here = sourcesOf(sources.project)
  const isPlugin = PLUGIN_FILES.some((file) => existsSync(join(project, file)))
  const above = projectAbove(project)
  const elsewhere: FirstStep[] = []
  if (isPlugin) {
    const list = typed(['list', '--plugin', fromHere(project)], sources)
    elsewhere.push({ kind: 'plugin', line: `${list}   # this folder is a plugin` })
  }
  if (above !== undefined) {
    const list = typed(['list', '--project', fromHere(above)], { ...sources, project: undefined })
    elsewhere.push({ kind: 'above', line: `${list}   # ${shortPath(above)} has .amplifier` })
  }
  const theirs = (await claudeHooks(project)).find(({ command }) => !looseCall(command))
  const migrate =
    theirs && `${typed(['migrate'], here)}   # ${shortPath(theirs.file)} has hooks of Claude Code`
  const first = `${typed(['new', ...FIRST], here)}   # a first hook, with its tests`
  return [
    ...(migrate === undefined ? [] : [{ kind: 'migrate', line: migrate } as const]),
    ...(elsewhere.length > 0 ? elsewhere : [{ kind: 'new', line: first } as const]),
  ]
}

const PLUGIN_FILES = ['.claude-plugin/plugin.json', 'hooks/hooks.json', 'hooks.json']
/** What `carabiner new` is given for a first hook. */
export const FIRST = ['my-guard', '--matcher', 'Bash']

/** Says that Claude Code's own settings of the project have hooks for an event, and that Carabiner does not run them. */
export async function notCarried(event: string, sources: Sources): Promise<string | undefined> {
  const theirs = (await claudeHooks(projectOf(sources))).filter(
    (one) => one.event === event && !looseCall(one.command),
  )
  const [first] = theirs
  if (!first) return undefined
  const how = typed(['migrate'], sourcesOf(sources.project))
  return `${fromHere(first.file)} has ${theirs.length} that Carabiner does not run: ${how}`
}

async function claudeHooks(project: string): Promise<readonly AgentCommand[]> {
  const folder = join(project, '.claude')
  const { commands } = await agentCommands(project)
  return commands.filter(({ file }) => dirname(file) === folder)
}

/** A project further up, above the repository or owned by another user. */
function projectAbove(project: string): string | undefined {
  const home = resolve(userHome())
  for (let folder = dirname(project); ; folder = dirname(folder)) {
    if (folder !== home && existsSync(join(folder, '.amplifier'))) return folder
    if (folder === dirname(folder)) return undefined
  }
}

/** Empty if an agent asks these hooks already, or needs nothing else. */
export async function setupStep(project: string, hasHooks: boolean): Promise<readonly string[]> {
  const { engine, pack } = await registeredIn(project)
  const isProxy = proxiedServers(project).length > 0
  if (isProxy && !hasHooks) return [FIRST_FOR_MCP]
  if (engine || isProxy || (pack && !hasHooks)) return []
  if (!hasHooks) return ['carabiner setup   # finds your agents, and guards them']
  return [`${ASK}   # no agent runs these hooks yet; then yours do`]
}

const ASK = 'carabiner setup --engine'
const FIRST_FOR_MCP =
  "carabiner new my-guard --dir ~/.amplifier/hooks --matcher 'mcp__.*'   # no hook hears your MCP servers yet"

/** A sentence and its fix, if so many hooks are ready and an agent runs only the standard pack. */
export async function notAsked(
  project: string,
  ready: number,
): Promise<{ readonly text: string; readonly fix: string } | undefined> {
  const { engine, pack } = await registeredIn(project)
  if (ready === 0 || engine || !pack) return undefined
  const those =
    ready === 1 ? '1 hook is ready, but no agent runs it' : `${ready} hooks are ready, but no agent runs them`
  return { text: `${those}: your agent is set up with the standard pack only`, fix: ASK }
}

/** A hook of the standard pack in an agent's settings. The agent runs it itself: `fire` and `explain` do not ask it. */
export interface PackHook {
  /** As setup calls it. */
  readonly name: Choice
  /** As `carabiner hook` calls it. */
  readonly hook: PackName
  readonly event: string
  readonly agent: string
  readonly file: string
  readonly line: number
}

/** Without those whose program is gone, and without those that something keeps the agent from running. */
export async function packHooks(project: string): Promise<readonly PackHook[]> {
  const files = await agentFiles(project)
  const stuck = new Set(
    registrationsIn(files, project)
      .filter(({ problems }) => problems.some(({ severity }) => severity === 'broken'))
      .flatMap((one) => one.files.map(({ path }) => path)),
  )
  return files
    .filter(({ path }) => !stuck.has(path))
    .flatMap((found) =>
      commandsIn(found).flatMap(({ command, event, file, line }) => {
        const own = ownCommand({ command })
        if (own?.call !== 'hook' || filesOf(own).some(isGone)) return []
        const row = PACK_TABLE.find((one) => one.hook === packName(own.name))
        const agent = askingName(found)
        return row ? [{ name: row.choice, hook: row.hook, event: event ?? row.event, agent, file, line }] : []
      }),
    )
}

/** Hooks of the standard pack, and the agents that run exactly these. */
export interface PackRun {
  readonly agents: readonly string[]
  readonly hooks: readonly Choice[]
}

export function packRuns(hooks: readonly PackHook[]): readonly PackRun[] {
  const byAgent = [...grouped(hooks, ({ agent }) => agent)].map(([agent, ones]) => ({
    agent,
    hooks: choicesOf(ones.map(({ hook }) => hook)),
  }))
  return [...grouped(byAgent, (one) => one.hooks.join()).values()].map((ones) => ({
    agents: ones.map(({ agent }) => agent),
    hooks: ones[0]?.hooks ?? [],
  }))
}

/** `Codex and pi run the guard`. */
export function packRunText({ agents, hooks }: PackRun): string {
  const what = hooks.length === 1 && hooks[0] === 'guard' ? 'the guard' : listed(hooks)
  return `${listed(agents)} ${agents.length === 1 ? 'runs' : 'run'} ${what}`
}

function listed(names: readonly string[]): string {
  const last = names.at(-1) ?? ''
  return names.length < 2 ? last : `${names.slice(0, -1).join(', ')} and ${last}`
}

/** Says that agents also ask standard hooks about an event. Undefined if they do not. */
export function alsoAsked(hooks: readonly PackHook[], event: string): string | undefined {
  const [first] = hooks.filter((one) => one.event === event)
  if (!first) return undefined
  const name = first.name === 'guard' ? 'the guard' : `${first.name} of the standard pack`
  return `${first.agent} also asks ${name}, which is not asked here. Ask it: carabiner hook ${first.hook}`
}

/** Says that the agents that ask those hooks do not ask the hooks here. Undefined if one does, or none asks anything. */
export async function notAskedHere(hooks: readonly PackHook[], project: string): Promise<string | undefined> {
  const agents = [...new Set(hooks.map(({ agent }) => agent))]
  if (agents.length === 0 || (await registeredIn(project)).engine) return undefined
  return `${listed(agents)} ${agents.length === 1 ? 'does' : 'do'} not ask your own hooks and rules yet: ${ASK}`
}

/** The command that asks those hooks about a payload. */
export function askingThem(hooks: readonly PackHook[], event: string, payload: object): readonly string[] {
  const names = new Set(hooks.filter((one) => one.event === event).map(({ hook }) => hook))
  return [...names].map((hook) => `echo ${shellQuoted(JSON.stringify(payload))} | carabiner hook ${hook}`)
}

/** What of Carabiner agents have in their settings, whether it can run or not. */
interface Registered {
  /** The hooks of projects. */
  readonly engine: boolean
  /** Hooks of the standard pack, by the names that setup has for them. Undefined if there are none. */
  readonly pack: readonly Choice[] | undefined
}

export async function registeredIn(project: string): Promise<Registered> {
  const { commands } = await agentCommands(project)
  const own = commands.filter(({ command }) => looseCall(command))
  const engine = own.some(({ command }) => looseCall(command) === 'fire')
  const pack = own.flatMap((one) => {
    const found = ownCommand(one)
    return found?.call === 'hook' ? [found.name] : []
  })
  const isNone = own.length === 0 || (engine && pack.length === 0)
  return { engine, pack: isNone ? undefined : choicesOf(pack) }
}
