// A program that was written as a hook of another agent, as the only hook of an event: `fire --as AGENT --run COMMAND`.

import { join } from 'node:path'
import { formatOfPath, type HookDocument } from '../../config/hook-document.js'
import { loadDocuments } from '../../config/load.js'
import { DEFAULT_MERGED, mergeSettings } from '../../config/merged-settings.js'
import { Notes } from '../../config/notes.js'
import { quoted } from '../../core/base/text.js'
import type { Hook } from '../../core/hooks/hook.js'
import type { Embedder } from '../../core/session/embedder.js'
import { Engine } from '../../core/session/engine.js'
import { JsonText } from '../../files/json-text.js'
import { Hooks } from '../../hooks.js'
import { type AgentHook, fileOf } from '../../hosts/hook-files/agent-hook.js'
import type { AgentSystem } from '../../hosts/hook-files/agent-system.js'
import { formatNamed, OWN_FORMATS } from '../../hosts/hook-files/own-formats.js'
import { HandedOn } from '../../runners/command/handed-on.js'
import { Programs } from '../../runners/command/programs.js'
import { keeperFor } from '../../runners/keeper.js'
import { kindOf } from '../../runners/kinds.js'
import { usage } from '../refusal.js'

/** As the command line has it. */
export interface CarriedHook {
  readonly run: string
  /** `AGENT:EVENT`, with that agent's own name of the event. */
  readonly writtenFor: string
  /** A pattern for the text of a shell command. The program runs only for commands that it fits. */
  readonly when?: string | undefined
  readonly failClosed: boolean
}

interface Source {
  readonly agent: AgentSystem
  readonly event: string
}

/** Throws if it names no event of a known agent: its program would never run. */
export async function checkedCarried(given: {
  readonly run: string | undefined
  readonly for: string | undefined
  readonly when: string | undefined
  readonly 'fail-closed': boolean
}): Promise<CarriedHook | undefined> {
  const { run, for: writtenFor, when, 'fail-closed': failClosed } = given
  if (run === undefined) {
    const other = writtenFor !== undefined ? 'for' : when !== undefined ? 'when' : undefined
    if (other !== undefined || failClosed) throw usage(`--${other ?? 'fail-closed'} needs --run COMMAND`)
    return undefined
  }
  if (writtenFor === undefined) throw usage('--run needs --for AGENT:EVENT')
  const carried = { run, writtenFor, when, failClosed }
  await sourceOf(carried)
  return carried
}

async function sourceOf({ writtenFor }: CarriedHook): Promise<Source> {
  const [name = '', event = ''] = writtenFor.split(/:(.*)/s)
  const agent = await formatNamed(name)
  if (!agent) throw usage(`There is no agent ${quoted(name)}`, '--for takes AGENT:EVENT.')
  if (agent.events[event]?.to) return { agent, event }
  throw usage(`${agent.title} has no event ${quoted(event)} that corresponds to one here`)
}

/** The program as the only hook. What runs was named on the command line, so nothing needs trust. */
export async function openCarried(
  carried: CarriedHook,
  projectDir: string,
  embedder: Embedder,
): Promise<Hooks> {
  const notes = new Notes()
  const merge = mergeSettings([], {}, false, notes)
  const specs = await loadDocuments([await documentOf(carried, projectDir)], { projectDir }, { merge })
  const { store } = embedder
  const shared = {
    programs: new Programs(),
    handedOn: new HandedOn(store?.folderOf?.bind(store)),
    settings: () => DEFAULT_MERGED,
    models: () => ({ embedder: undefined, settings: null }),
    keeper: keeperFor('carried'),
  }
  const engine = new Engine(embedder, DEFAULT_MERGED, undefined)
  const surroundings = { report: engine.note.bind(engine) }
  const hooks: Hook[] = []
  for (const spec of specs) {
    const runner = await kindOf(spec).load(shared)
    hooks.push(...runner.hooks(spec, surroundings, () => undefined))
  }
  engine.configured.replace(hooks)
  return new Hooks(engine, shared, DEFAULT_MERGED)
}

/** The file that the agent itself would have for it. */
async function documentOf(carried: CarriedHook, projectDir: string): Promise<HookDocument> {
  const { agent, event } = await sourceOf(carried)
  const { run, when, failClosed } = carried
  const isOver = agent.events[event]?.over === 'command'
  const hook: AgentHook = {
    event,
    type: 'command',
    command: run,
    // Its caller sets the limit.
    timeout: LONGEST,
    ...(when !== undefined && (isOver ? { matcher: when } : { commandPattern: when })),
    ...(failClosed && { failsClosed: true as const }),
    more: failClosed ? { onFailure: 'block' } : {},
    strange: [],
  }
  const keys = [...(agent.keys ?? []), 'onFailure']
  const isForeign = !OWN_FORMATS.includes(agent)
  const value = { ...(isForeign && { agent: agent.name }), ...fileOf({ ...agent, keys }, [hook]) }
  const file = { path: join(projectDir, agent.file), json: new JsonText(JSON.stringify(value)), value }
  const place = { projectDir, hooksDir: projectDir }
  const owner = { scope: 'named', source: agent.name, realm: 'settings', place } as const
  return { owner, role: 'explicit', file, at: null, format: formatOfPath(file.path) }
}

/** Seconds. */
const LONGEST = 600
