// Fires one event through the hooks of a project, in a session that may outlast this process.

import { type Diagnostic, isHookError, textOf } from '../../core/base/errors.js'
import type { Data } from '../../core/base/json.js'
import { onAbort } from '../../core/base/promise.js'
import { nearMissOf, resolveEvent } from '../../core/events/events.js'
import type { Outcome } from '../../core/hooks/outcome.js'
import type { Plan } from '../../core/run/plan.js'
import type { Embedder } from '../../core/session/embedder.js'
import type { SessionOptions } from '../../core/session/session.js'
import { MemoryStore } from '../../core/session/session-store.js'
import { isSkillEvent } from '../../core/session/skills.js'
import type { Approver } from '../../core/verdict/approval.js'
import { foldersAround, homesOf, isPath } from '../../files/project-folders.js'
import type { HostCall } from '../../hosts/host.js'
import { fileStores, type Stores } from '../../store/file-stores.js'
import type { Sessions } from '../../store/sessions.js'
import { Interruption } from '../interruption.js'
import { ProjectAudit, ProjectCalls } from '../project-audit.js'
import { Refusal } from '../refusal.js'
import { noticesOf, type OpenHooks, openHooks, projectOf, type Sources } from '../sources.js'
import { type Asking, approverOf } from './ask-person.js'
import { examplePayload, nearEvent, type Payload } from './payload.js'

export interface FiredInProject {
  readonly outcome: Outcome
  readonly notices: readonly Diagnostic[]
  readonly ms: number
}

interface HostPatience {
  readonly seconds: number
  /** On the clock of performance.now(). */
  readonly startedAt: number
}

export interface Firing extends Asking {
  readonly event: string
  /** The agent that asks, if it is known. */
  readonly agent?: string | undefined
  readonly payload: Payload
  /** What a call of an agent's tool does. All of it has to pass. Default: the payload, under the tool's own name. */
  readonly calls?: readonly HostCall[] | undefined
  /** What hooks inject waits for the next event of the session that can carry it. */
  readonly contextLater?: boolean | undefined
  /** The event is the caller's own, although its name looks like that of a known one. */
  readonly custom?: boolean
  readonly sources: Sources
  /** The only hooks to ask. Default: those of the sources. */
  readonly open?: ((embedder: Embedder, project: string) => Promise<OpenHooks>) | undefined
  /** Seconds after which hooks that are not done have failed. */
  readonly timeout?: number | undefined
  /** Nothing is decided if the hooks are not done by then. */
  readonly until?: HostPatience
  /** The caller's, in place of the signals of the process. */
  readonly signal?: AbortSignal | undefined
  /** Called as soon as there is a verdict. */
  readonly told: (fired: FiredInProject) => Promise<void>
  /** Called with what came to light after that. */
  readonly toldLater: (notices: readonly Diagnostic[]) => Promise<void>
}

export async function fireInProject(given: Firing): Promise<FiredInProject> {
  const { event, until } = given
  const sources = workingIn(given.payload.cwd, given.sources)
  const firing = { ...given, sources }
  const interruption = new Interruption(given.signal)
  const project = projectOf(sources)
  const options = sessionOf(firing, project)
  const troubles: Diagnostic[] = []
  const onTrouble = (text: string) => troubles.push({ code: 'host-failed', text })
  const afterwards: (() => void)[] = []
  const around = foldersAround([project, ...(sources.workFolders ?? [])], homesOf())
  const later = (work: () => void) => afterwards.push(work)
  const stores = fileStores({ projectDir: project, around, onTrouble, later })
  // A session without an id has no next event, but a person who is asked here may say "always".
  const isKnown = options.id !== undefined
  const store = isKnown ? sessionsOf(stores) : forgetting(firing.ask ? sessionsOf(stores) : new MemoryStore())
  const waitUntil = until && endOf(until)
  const approver = approverOf({ ...firing, waitUntil }, { project, stores, onTrouble, isKnown })
  const calls = new ProjectCalls(project, () => hooks.settings)
  const hooks: OpenHooks = await opened(firing, project, { store, approver, calls })
  const lateness = until && late(until, interruption.signal)
  const { signal } = lateness ?? interruption
  const stopListening = onAbort(signal, () => void hooks.close({ abort: true }))
  const slips = misspelt(event)
  // The engine says it too, in words for people who write programs.
  const isNews = ({ code }: Diagnostic) => slips.length === 0 || code !== 'custom-event'
  const telling = new Telling(firing, () => [...slips, ...noticesOf(hooks).filter(isNews), ...troubles])
  try {
    const session = hooks.session(options)
    // A session without an id has no next event.
    const contextLater = firing.contextLater && isKnown && goesOn(event)
    const { outcome, ms } = await evaluated({ ...firing, contextLater }, session, signal)
    await telling.begin(outcome, ms)
    await (isKnown && goesOn(event) ? session.leave() : session.close())
    await hooks.close()
    return await telling.end(outcome, ms, async () => {
      for (const work of afterwards) work()
      const lost = await calls.write()
      if (lost !== undefined) onTrouble(lost)
      if (!goesOn(event)) (await import('../ship-soon.js')).shipSoon()
    })
  } catch (error) {
    throw isHookError(error, 'PAYLOAD_INVALID') ? withExample(event, error) : error
  } finally {
    await hooks.close()
    await calls.write()
    stopListening()
    lateness?.end()
    interruption.end(telling.isEarly)
  }
}

/** Whom the hooks ask, and where they leave what outlasts a fire. */
interface Around {
  readonly store: Sessions | undefined
  readonly approver: Approver
  readonly calls: ProjectCalls
}

async function opened(
  { sources, open }: Firing,
  project: string,
  { store, approver, calls }: Around,
): Promise<OpenHooks> {
  const audit = new ProjectAudit(project, () => hooks.settings)
  const embedder: Embedder = {
    ...(store && { store }),
    approver,
    audit: (record) => audit.write(record),
    auditCalls: (call) => calls.keep(call),
  }
  const hooks: OpenHooks = await (open ? open(embedder, project) : openHooks(sources, embedder))
  return hooks
}

/** An agent that leaves the project does not leave the gates of where it is now, or was, behind. */
function workingIn(cwd: unknown, sources: Sources): Sources {
  return isPath(cwd) ? { ...sources, workFolders: [...(sources.workFolders ?? []), cwd] } : sources
}

async function evaluated(
  {
    event,
    payload,
    calls = [{ names: [], data: payload as Data }],
    custom,
    timeout,
    dialog,
    contextLater,
  }: Firing,
  session: ReturnType<OpenHooks['session']>,
  signal: AbortSignal,
): Promise<Pick<FiredInProject, 'outcome' | 'ms'>> {
  const startedAt = performance.now()
  const outcomes: Outcome[] = []
  for (const call of calls) {
    const data = withToolName(call.data, call.names, (one) => session.explain(event, one))
    const outcome = await session.fire(event, data, { timeout, signal, custom, contextLater })
    outcomes.push(outcome)
    // The agent asks about the whole call, and not again about the rest of it.
    const goesOn =
      outcome.action === 'continue' || (dialog && outcome.action === 'ask_user' && !isForSeveral(outcome))
    if (!goesOn) break
  }
  return { outcome: together(outcomes), ms: performance.now() - startedAt }
}

/** The outcome that decides, with what hooks said about the other calls. The last one is a refusal if any is. */
function together(outcomes: readonly Outcome[]): Outcome {
  const last = outcomes.at(-1) as Outcome
  if (outcomes.length === 1) return last
  const changed = outcomes.find(({ hooks }) => hooks.some((trace) => trace.changed?.length))
  const asked = outcomes.find(({ action }) => action === 'ask_user')
  const isOpen = last.action === 'continue' || (last.action === 'ask_user' && !isForSeveral(last))
  const { permission, ...decided } = isOpen ? (changed ?? asked ?? last) : last
  return {
    ...decided,
    // Whoever allows one thing has not allowed the others.
    ...(permission && outcomes.every((one) => one.permission === permission) && { permission }),
    injections: outcomes.flatMap(({ injections }) => injections),
    messages: outcomes.flatMap(({ messages }) => messages),
    hooks: outcomes.flatMap(({ hooks }) => hooks),
    diagnostics: outcomes.flatMap(({ diagnostics }) => diagnostics),
  }
}

/** The agent asks one person, so this question refuses the call until enough people have answered elsewhere. */
function isForSeveral({ approval }: Outcome): boolean {
  return (approval?.question.people ?? 1) > 1
}

/** Tells the verdict once, and afterwards only new notices. */
class Telling {
  /** Whether the verdict was told before all hooks were done. */
  isEarly = false
  readonly #to: Pick<Firing, 'told' | 'toldLater'>
  readonly #notices: () => readonly Diagnostic[]
  #said: readonly Diagnostic[] = []

  constructor(to: Pick<Firing, 'told' | 'toldLater'>, notices: () => readonly Diagnostic[]) {
    this.#to = to
    this.#notices = notices
  }

  /** A verdict does not wait for async hooks, whose verdict does not count: the host might lose patience. */
  async begin(outcome: Outcome, ms: number): Promise<void> {
    this.isEarly = outcome.hooks.some(({ status }) => status === 'detached')
    if (!this.isEarly) return
    const notices = this.#notices()
    this.#said = [...notices, ...outcome.diagnostics]
    await this.#to.told({ outcome, notices, ms })
  }

  /** `afterwards` is work that the answer does not wait for. */
  async end(outcome: Outcome, ms: number, afterwards: () => Promise<void>): Promise<FiredInProject> {
    const fired = { outcome, notices: this.#notices(), ms }
    if (!this.isEarly) {
      await this.#to.told(fired)
      this.#said = [...fired.notices, ...outcome.diagnostics]
    }
    await afterwards()
    const late = unsaid(this.#notices(), this.#said)
    if (this.isEarly || late.length > 0) await this.#to.toldLater(late)
    return fired
  }
}

/** For an event that names no session: nobody will find what it stores. */
function forgetting(store: Sessions): Sessions {
  return Object.assign(store, { forgets: 'the event names no session (session_id)' })
}

function sessionsOf(stores: Stores): Sessions {
  try {
    return stores.sessions
  } catch (error) {
    throw new Refusal('STORE_UNUSABLE', textOf(error))
  }
}

function endOf({ seconds, startedAt }: HostPatience): number {
  return startedAt + seconds * 1000
}

interface Lateness {
  /** Aborted if it is late, or interrupted. */
  readonly signal: AbortSignal
  /** Until then a timer keeps the whole event in memory, which counts in a process that goes on. */
  readonly end: () => void
}

function late(until: HostPatience, interruption: AbortSignal): Lateness {
  // AbortSignal.any would take longer than the timer and all listeners together.
  const controller = new AbortController()
  const stopListening = onAbort(interruption, () => controller.abort(interruption.reason))
  const why = () => new Refusal('HOOK_TIMEOUT', `The hooks did not finish within ${until.seconds} seconds`)
  const left = endOf(until) - performance.now()
  const timer = setTimeout(() => controller.abort(why()), Math.max(left, 0)).unref()
  const end = () => {
    clearTimeout(timer)
    stopListening()
  }
  return { signal: controller.signal, end }
}

/** An event whose name is further off than a near miss, which is refused, goes on without the gates it may have been meant for. */
export function misspelt(event: string): readonly Diagnostic[] {
  const meant = nearEvent(event)
  if (meant === undefined || nearMissOf(event)) return []
  return [
    { code: 'custom-event', text: `${event} is taken for an event of your own; did you mean ${meant}?` },
  ]
}

function withExample(event: string, error: Error): Refusal {
  return new Refusal('PAYLOAD_INVALID', error.message, {
    hint: `A payload of ${resolveEvent(event).name}: ${examplePayload(resolveEvent(event))}`,
  })
}

export function unsaid(notices: readonly Diagnostic[], said: readonly Diagnostic[]): readonly Diagnostic[] {
  const keys = new Set(said.map(keyOf))
  return notices.filter((one) => !keys.has(keyOf(one)))
}

function keyOf({ code, text, ...where }: Diagnostic): string {
  return JSON.stringify([code, text, where])
}

// ---- the session -----------------------------------------------------------------------------------------------

/** The next event of a session is fired by another process, which finds what this one left. */
function goesOn(event: string): boolean {
  return resolveEvent(event).name !== 'SessionEnd'
}

/** The fields of the payload that describe its session. */
function sessionOf({ event, agent, payload }: Firing, project: string): SessionOptions {
  checkSessionId(event, payload.session_id ?? undefined)
  const said = {
    id: payload.session_id,
    cwd: payload.cwd,
    agent,
    transcriptPath: payload.transcript_path,
    permissionMode: payload.permission_mode,
    // SessionEnd ends the whole session, with all its agents.
    agentId: goesOn(event) ? payload.agent_id : undefined,
    agentType: payload.agent_type,
    parentTurnId: payload.parent_turn_id,
    channel: payload.channel,
    chatId: payload.chat_id,
  }
  return { cwd: project, ...Object.fromEntries(Object.entries(said).filter(([, value]) => isText(value))) }
}

const LONGEST_ID = 4096

/** The engine replaces the id with its own, so no later check would notice. */
function checkSessionId(event: string, id: unknown): void {
  if (id === undefined && isSkillEvent(event)) {
    throw new Refusal('PAYLOAD_INVALID', `${event} needs session_id: a skill is loaded in a session`)
  }
  if (id === undefined || (typeof id === 'string' && id.length <= LONGEST_ID && !id.includes('\0'))) return
  throw new Refusal(
    'PAYLOAD_INVALID',
    `session_id must be a string of at most ${LONGEST_ID} characters, without NUL`,
  )
}

/** The check of the payload refuses anything else, and names the field. */
function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== '' && !value.includes('\0')
}

// ---- the name of the tool --------------------------------------------------------------------------------------

type Explain = (payload: Payload) => Plan

/**
 * An agent and Claude Code may call the same tool differently. Returns the payload with the first name under which all
 * hooks are asked that any of the names would ask; the agent's own name is tried last, and kept in `host_tool_name`.
 * Throws where no name asks them all: a gate that is not asked would be open.
 */
function withToolName(payload: Payload, names: readonly string[], explain: Explain): Payload {
  const { tool_name: own } = payload
  if (names.length === 0) return payload
  const renamed = names
    .filter((name) => name !== own)
    .map((name) => ({ ...payload, tool_name: name, host_tool_name: own }))
  const asked = [...renamed, payload].map((one) => ({ payload: one, hooks: askedOf(explain(one)) }))
  const all = new Set(asked.flatMap(({ hooks }) => hooks))
  const found = asked.find(({ hooks }) => hooks.length === all.size)
  if (found) return found.payload
  throw new Refusal('CONFIG_INVALID', `Some hooks are for ${names.join(' or ')}, others only for ${own}`, {
    hint: `It is the same tool here: write ${[...new Set([...names, own])].join('|')} as their matcher.`,
  })
}

/** Places in the order, which is the same in every plan. */
function askedOf({ candidates }: Plan): readonly number[] {
  return candidates.filter(({ why }) => why !== 'matcher' && why !== 'if').map(({ order }) => order)
}
