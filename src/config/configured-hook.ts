// Configured hooks: entries of files turned into hooks, complete except for `run`.

import { digest, sha256 } from '../core/base/digest.js'
import { type Data, frozenCopy, type Json } from '../core/base/json.js'
import { isGuard } from '../core/hooks/gate.js'
import type { Hook } from '../core/hooks/hook.js'
import type { HookRole } from '../core/hooks/kinds.js'
import { under } from '../files/json-text.js'
import type { AgentTerms } from '../hosts/hook-files/agent-call.js'
import type { FileFormat, HookSpec, Place } from '../runners/hook-spec.js'
import { type Handlers, type HandlerType, kindOf } from '../runners/kinds.js'
import { USUAL_TIMEOUTS } from '../runners/process/kind.js'
import type { ProcessHandler, ProcessSpec } from '../runners/process/process-hooks.js'
import { FileOrigin } from './config-file.js'
import type { CommonFields } from './handler.js'
import type { Entry, Group } from './hook-group.js'
import type { compileIf } from './if-rule.js'
import type { Merge, Silence, Terms } from './merged-settings.js'
import type { Notes, Where } from './notes.js'
import type { Names } from './owner.js'
import type { ProcessEntry } from './process-entry.js'
import type { ConfiguredRules } from './rules-document.js'
import { lowered, timeoutInAgent, timeoutOf } from './timeout.js'

/** A hook of one type, with the fields of that type. */
type Configured<T extends HandlerType> = HookSpec<Handlers[T]> & {
  readonly type: T
  /** The common fields as written in the file. */
  readonly common: CommonFields
  /** The setting that keeps it from running. */
  readonly disabled?: Silence
}

/** `hook` holds what its hooks share. With `onFailure: 'byEvent'`, the role of each hook decides. */
export interface ConfiguredProcess extends ProcessSpec {
  readonly type: 'process'
  /** The setting that keeps it from running. */
  readonly disabled?: Silence
}

export type ConfiguredHook =
  | { [T in HandlerType]: Configured<T> }[HandlerType]
  | ConfiguredProcess
  | ConfiguredRules

export interface Making {
  readonly merge: Merge
  readonly notes: Notes
  readonly names: Names
  /** The lane of each sequential group. */
  readonly lanes: Map<object, string>
  /** Present if an entry has an `if`. */
  readonly compileIf: typeof compileIf | undefined
  /** The meaning of `~` in an `if`; default: the user's home folder. */
  readonly home: string | undefined
}

/** Throws for values that JSON cannot hold, such as endless nesting. */
export function configure(entry: Entry, making: Making): ConfiguredHook {
  const { owner, event, group, name } = entry
  const { type, common } = entry.handler
  const { merge, notes } = making
  const handler = frozenCopy(entry.handler.fields, name) as Data
  const content = contentOf(entry)
  const id = making.names.id(owner, event.name, content.slice(0, SHORT))
  const { projectDir } = owner.place
  const places = { home: making.home, projectDir }
  const rule = common.if === undefined ? undefined : making.compileIf?.(common.if, event, places)
  if (rule?.problem) {
    const todo = rule.todo ?? 'Remove "if", or correct it.'
    notes.add('unknown-key', `${name}: ${rule.problem}`, placeIn(entry, 'if'), { todo })
  }
  const { agent } = group
  // Users could make any hook fail, and so open the company's gates.
  const failsClosed = owner.scope === 'company' || kindOf(entry.handler).failsLikeFunction
  const onFailure = common.onFailure ?? (failsClosed ? 'byEvent' : 'continue')
  const terms = merge.terms[owner.scope]
  const timeoutIn = ({ [entry.format]: limits, claude }: Terms) =>
    agent
      ? timeoutInAgent(common.timeout, agent.usualTimeout, claude)
      : timeoutOf(common.timeout, kindOf(entry.handler), entry.format, limits)
  const timeout = timeoutIn(terms)
  // A project must not open its gates by shortening the default timeout.
  const isShortened = timeoutIn(merge.terms.user).seconds > timeout.seconds
  if (timeout.remark) {
    const { text, todo } = timeout.remark
    notes.add('timeout-clamped', `${name}: the timeout of ${text}`, placeIn(entry, 'timeout'), { todo })
  }
  const timeoutMs = timeout.seconds * 1000
  const detached = kindOf(entry.handler).isDetached?.(handler) ?? false
  const hook: Unrun = {
    id,
    name,
    kind: type,
    origin: new FileOrigin(owner, entry.file, entry.at, content, agent && writtenFor(agent.terms)),
    events: event.name === '*' ? 'all' : setOf(event.name),
    matcher: group.matcher,
    condition: bothOf(rule?.condition, agent?.condition),
    isSure: rule?.isSure,
    role: 'intercept',
    priority: entry.priority,
    lane: laneOf(group, id, making.lanes),
    detached,
    once: owner.place.skillDir !== undefined && common.once === true,
    observe: common.observe === true,
    mode: owner.mode ?? common.mode ?? 'enforce',
    sameAs: sameKey(entry, { detached, onFailure, timeoutMs }),
    timeoutMs,
    cappedBy: timeout.cappedBy ?? (isShortened ? RAISE_DEFAULT : undefined),
    onFailure,
    run: undefined,
  }
  const spec: Bare = {
    type,
    hook,
    handler,
    common,
    place: owner.place,
    // Without a variable, a gate may judge differently from the one that was reviewed.
    env: owner.scope === 'project' && isGuard(hook) ? merge.terms.user.env : terms.env,
    format: entry.format,
    longestMs: terms[agent ? 'claude' : entry.format].most * 1000,
    ...(agent && { agent: agent.terms }),
  }
  const disabled = merge.disabled[owner.scope] ?? (agent?.isOff ? offIn(entry) : undefined)
  if (disabled !== undefined) spec.disabled = disabled
  return spec as unknown as ConfiguredHook
}

const RAISE_DEFAULT = 'Raise "default_timeout" under "hooks" in the settings of the project'

/** Already has `run`, because replacing a property of a copy is ten times as fast as adding one. */
type Unrun = Omit<Hook, 'run'> & { readonly run: undefined }

/** The fields were checked against the table of the hook's kind, which the compiler cannot see. */
interface Bare {
  readonly type: HandlerType
  readonly hook: Omit<Hook, 'run'>
  readonly handler: Data
  readonly common: CommonFields
  readonly place: Place
  readonly env: Terms['env']
  readonly format: FileFormat
  readonly longestMs: number
  readonly agent?: AgentTerms
  disabled?: Silence
}

function writtenFor({ agent, event }: AgentTerms) {
  return { agent, event }
}

type Condition = Hook['condition']

function bothOf(one: Condition, other: Condition): Condition {
  if (!one || !other) return one ?? other
  return (event) => {
    const answer = one(event)
    return answer === true ? other(event) : answer
  }
}

function offIn({ file, at }: Entry): Silence {
  return { setting: '"enabled": false', file: file.path, line: file.json.lineOf(under(at, 'enabled')) }
}

const sets = new Map<string, ReadonlySet<string>>()
const MOST_SETS = 1000

/** Hooks of one event share one set. */
function setOf(event: string): ReadonlySet<string> {
  const set = sets.get(event) ?? new Set([event])
  if (sets.size >= MOST_SETS) sets.clear()
  sets.set(event, set)
  return set
}

/** Characters of a digest in an id. */
const SHORT = 16

/**
 * Digest of everything that decides whether, when and how it runs: another command is another hook, with no grants.
 * Leaves out the default of `matching`, because older records do.
 */
function contentOf({ event, priority, group, handler: { type, fields, common } }: Entry): string {
  const { spec, matcher, matching, sequential } = group
  const how = matching === 'search' ? '' : ` ${matching}`
  const when = `${event.name} ${priority} ${sequential} ${written(spec)} ${written(matcher?.pattern ?? null)}${how}`
  const terms = group.agent ? `\n\n${listed(group.agent.terms)}` : ''
  return sha256(`${type} ${when}${listed(fields)}${listed(common)}${terms}`)
}

/** Keys follow the order of the table and texts include their length, so different content never yields the same text. */
function listed(fields: object): string {
  let text = ''
  for (const key in fields) text += `\n${key} ${written((fields as Record<string, unknown>)[key])}`
  return text
}

function written(value: unknown): string {
  return typeof value === 'string' ? `${value.length} ${value}` : JSON.stringify(value)
}

/** Handlers of a sequential group share the first one's lane. */
function laneOf(group: Group, id: string, lanes: Map<object, string>): string {
  if (!group.sequential) return id
  const key = group.lane ?? group
  const lane = lanes.get(key) ?? id
  lanes.set(key, lane)
  return lane
}

/**
 * Hooks with the same key run once. The key differs for hooks that could end differently (async, observe, mode, onFailure,
 * timeout), that name a folder which depends on their file, or that belong to different projects.
 */
function sameKey(
  { owner, handler, group }: Entry,
  { detached, onFailure, timeoutMs }: Pick<Unrun, 'detached' | 'onFailure' | 'timeoutMs'>,
): string {
  const { type, fields, common } = handler
  const same = kindOf(handler).sameAs?.(fields) ?? JSON.stringify(fields)
  const folder = same.includes('HOOKS_DIR') ? owner.place.hooksDir : ''
  return `${owner.realm}\0${owner.place.projectDir}\0${folder}\0${type}\0${detached}\0${onFailure}\0${timeoutMs}\0${same}\0${common.if ?? ''}\0${common.observe ?? false}\0${common.mode ?? ''}${group.agent ? JSON.stringify(group.agent.terms) : ''}`
}

// ---- processes ------------------------------------------------------------------------------------------------

const NO_EVENTS: ReadonlySet<string> = new Set()

/** Throws for values that JSON cannot hold. */
export function configureProcess(entry: ProcessEntry, making: Omit<Making, 'compileIf'>): ConfiguredProcess {
  const { owner, key, file, at, priority, mode, onFailure = 'byEvent' } = entry
  const { merge, names } = making
  const handler = frozenCopy(withinLimits(entry, making), key) as unknown as ProcessHandler
  // As written in the file: a limit from the settings must not make it a different hook.
  const content = digest({
    process: key,
    priority,
    onFailure,
    handler: frozenCopy(entry.handler, key) as unknown as Json,
    // Older records of a running process do not have it.
    ...(!entry.enabled && { enabled: false }),
    ...(mode === 'shadow' && { mode }),
  })
  const hook: Omit<Hook, 'run'> = {
    id: names.id(owner, `process ${key}`, content.slice(0, SHORT)),
    name: names.ofProcess(owner, key),
    kind: 'process',
    origin: new FileOrigin(owner, file, at, content),
    events: NO_EVENTS,
    matcher: null,
    role: 'intercept',
    priority,
    lane: null,
    detached: false,
    once: false,
    mode: owner.mode ?? mode,
    timeoutMs: handler.timeouts.intercept * 1000,
    onFailure,
  }
  const { amplifier } = merge.terms[owner.scope]
  // It may be a gate.
  const { env } = merge.terms[owner.scope === 'project' ? 'user' : owner.scope]
  // Its own switch was reviewed, so a project's switch for all hooks, which does not count for gates, must not hide it.
  const disabled = switchedOff(entry) ?? merge.disabled[owner.scope]
  return {
    type: 'process',
    processName: key,
    hook,
    handler,
    place: owner.place,
    env,
    format: 'amplifier',
    longestMs: amplifier.most * 1000,
    cappedRoles: cappedRoles(entry, handler),
    ...(disabled !== undefined && { disabled }),
  }
}

function switchedOff({ enabled, file, at }: ProcessEntry): Silence | undefined {
  if (enabled) return undefined
  return { setting: '"enabled": false', file: file.path, line: file.json.lineOf(under(at, 'enabled')) }
}

/** No process may keep an agent waiting longer than the settings allow. */
function withinLimits(
  { owner, key, handler, file, at }: ProcessEntry,
  { merge, notes }: Pick<Making, 'merge' | 'notes'>,
) {
  const { most } = merge.terms[owner.scope].amplifier
  const timeouts = Object.entries(handler.timeouts).map(([role, seconds]) => {
    if (seconds <= most) return [role, seconds]
    if (seconds === USUAL_TIMEOUTS[role as keyof typeof USUAL_TIMEOUTS]) return [role, most]
    const { text, todo } = lowered(seconds, most)
    const where = { file, at: under(under(at, 'timeouts'), role) }
    notes.add('timeout-clamped', `${key}: the ${role} timeout of ${text}`, where, { todo })
    return [role, most]
  })
  return { ...handler, timeouts: Object.fromEntries(timeouts) }
}

/** Roles with a shorter timeout than the entry asks for. */
function cappedRoles(entry: ProcessEntry, { timeouts }: ProcessHandler): readonly HookRole[] {
  return (['intercept', 'approve'] as const).filter((role) => timeouts[role] < entry.handler.timeouts[role])
}

function placeIn({ file, at }: Entry, key: string): Where {
  return { file, at: under(at, key) }
}
