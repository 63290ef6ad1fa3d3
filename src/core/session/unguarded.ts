// Gates that should have judged a call that went on, but did not: they were switched off, not trusted, failed, or have a mistake in the matcher.

import { type Diagnostic, LOSSES } from '../base/errors.js'
import type { Data } from '../base/json.js'
import { withoutSecrets } from '../base/secrets.js'
import { shown } from '../base/text.js'
import { endsChain } from '../events/actions.js'
import { bareLetters, toolNamesLike } from '../events/catalogue.js'
import { type EventKind, matcherValue } from '../events/events.js'
import { isGate } from '../hooks/gate.js'
import type { Hook } from '../hooks/hook.js'
import { type Listeners, matches } from '../hooks/hook-set.js'
import { isServerName, toolOfRule } from '../hooks/matcher.js'
import type { Trace } from '../hooks/outcome.js'
import { type Admit, idleSkip } from '../run/plan.js'
import { hasGoneOn, type Ran } from '../run/trace.js'
import type { AuditRecord, Unguarded } from './audit-record.js'
import type { HookList } from './engine.js'

/** The state of the files that hooks come from. */
type Files = Pick<HookList, 'problems' | 'kept'>

export interface Judged {
  readonly kind: EventKind
  readonly data: Data
  readonly ran: readonly Ran[]
  /** All hooks of the event. */
  readonly listeners?: Listeners | undefined
  readonly action: AuditRecord['action']
  readonly diagnostics: readonly Diagnostic[]
}

/** Whether a gate saw the call, or a hook that would be one outside shadow mode. */
export function isJudged({ kind, ran }: Judged): boolean {
  return ran.some(
    ({ hook, trace }) => (isGate(kind, hook) || trace.mode === 'shadow') && trace.status !== 'skipped',
  )
}

/** Empty for a call that did not go on. `files` are the ones that hooks come from. */
export function unguardedBy(judged: Judged, files: Files): readonly Unguarded[] {
  const { kind, ran, action } = judged
  if (kind.deny !== 'block' || action === 'aborted' || endsChain(action)) return []
  const heard = new Set(ran.filter(({ trace }) => trace.status === 'ran').map(({ hook }) => hook.id))
  const isKept = (file = '') => files.kept.some((path) => file === path || file.startsWith(`${path}/`))
  const lost = files.problems.filter(
    ({ code, file, meant }) =>
      code === 'trust-unguarded' || ((LOSSES.has(code) || meant === kind.name) && !isKept(file)),
  )
  const missed = ran.filter(({ hook, trace }) => {
    if (!isGate(kind, hook) || trace.mode === 'shadow') return false
    if (trace.why === 'modified' && isKept(hook.origin.file)) return false
    return (
      hasFailedOpen(trace) || hasGoneOn(trace) || trace.stale || (isUnexpected(trace) && !heard.has(hook.id))
    )
  })
  return [
    ...missed.map(({ trace: { name, source, stale, why = stale ? 'stale' : 'failed', detail } }) => ({
      hook: name,
      source,
      why,
      ...(detail !== undefined && { detail }),
    })),
    ...ran.flatMap(({ hook: { name, origin } }) =>
      judged.diagnostics
        .filter(({ code, hook }) => code === 'rule-untrusted' && hook === name)
        .map(({ text }) => ({
          hook: name,
          source: origin.source,
          why: 'untrusted' as const,
          detail: withoutSecrets(text),
        })),
    ),
    ...slipsOf(judged)
      .filter(({ id }) => !heard.has(id))
      .map((hook) => misspelt(judged, hook)),
    ...lost.map(({ code, text, file = 'trust' }) => ({
      hook: file,
      source: file,
      why: code,
      detail: withoutSecrets(text),
    })),
  ]
}

function hasFailedOpen({ status, countsAs }: Trace): boolean {
  return status === 'failed' && countsAs !== 'deny'
}

/** All other reasons are intended by the hook's author: another tool, another rule, `once`, a repetition. */
const UNEXPECTED: ReadonlySet<unknown> = new Set(['disabled', 'untrusted', 'modified', 'failed'])

function isUnexpected({ status, why }: Trace): boolean {
  return status === 'skipped' && UNEXPECTED.has(why)
}

// ---- mistakes in matchers ---------------------------------------------------------------------------------------

/** Gates that do not match the call, although they were most likely meant for it. */
function slipsOf({ kind, data, listeners }: Judged): readonly Hook[] {
  if (!listeners || kind.matcher === null) return []
  const value = matcherValue(kind, data)
  return [...listeners.interceptors, ...listeners.approvers].filter(
    (hook) =>
      hook.matcher !== null &&
      (isSlip(hook.matcher.pattern, value) || isForOtherName(hook, value)) &&
      !matches(hook, value) &&
      isGate(kind, hook),
  )
}

/** Its matcher takes Claude Code's name for the tool, and this is another agent's. */
function isForOtherName(hook: Hook, value: string): boolean {
  return toolNamesLike(value).some((name) => matches(hook, name))
}

/** A gate, and the tool's name that its matcher takes. */
interface MissedGate {
  readonly hook: Hook
  readonly name: string
}

/** For each set of listeners, the gates that miss each tool. */
const missedGates = new WeakMap<Listeners, Map<string, readonly MissedGate[]>>()
const MOST_TOOLS = 512

/**
 * Says which gates miss a call because its tool's name differs from theirs only in case or separators, or is another
 * agent's name for the same tool.
 */
export function missedOver(
  kind: EventKind,
  listeners: Listeners | undefined,
  data: object,
  admit: Admit | undefined,
): Diagnostic | undefined {
  if (!listeners || kind.matcher !== 'tool_name' || kind.deny !== 'block') return undefined
  const tool = matcherValue(kind, data as Data)
  const gates = missedBy(kind, listeners, tool).filter(({ hook }) => wouldRun(hook, admit))
  const [first] = gates
  if (!first) return undefined
  const others = gates.length > 1 ? ` and ${gates.length - 1} more` : ''
  const todo =
    toolNamesLike(tool).length === 0
      ? `If it is the same tool, replace ${shown(first.name)} with ${shown(tool)} in the matcher.`
      : `If it is the same tool, name it ${shown(first.name)}, or change the matcher.`
  const text =
    `${first.hook.name}${others} did not see this call: the matcher ${shown(first.hook.matcher?.pattern)} does not ` +
    `match the tool ${shown(tool)}. ${todo}`
  return { code: 'matcher-missed', text, hook: first.hook.name }
}

/** An admission that throws is a failure of that hook, which is told when it is due. */
function wouldRun(hook: Hook, admit: Admit | undefined): boolean {
  try {
    return !admit || admit(hook) === true
  } catch {
    return false
  }
}

function missedBy(kind: EventKind, listeners: Listeners, tool: string): readonly MissedGate[] {
  const known = missedGates.get(listeners) ?? new Map<string, readonly MissedGate[]>()
  missedGates.set(listeners, known)
  const found = known.get(tool)
  if (found) return found
  if (known.size >= MOST_TOOLS) known.clear()
  const letters = bareLetters(tool)
  const gates = [...listeners.interceptors, ...listeners.approvers].flatMap((hook) => {
    if (hook.matcher === null || matches(hook, tool) || !isGate(kind, hook)) return []
    const names = [...toolNamesLike(tool), ...meaningOf(hook.matcher.pattern).names]
    const name = names.find((one) => matches(hook, one) && isLike(one, letters, tool))
    return name === undefined ? [] : [{ name, hook }]
  })
  known.set(tool, gates)
  return gates
}

function isLike(name: string, letters: string, tool: string): boolean {
  return letters !== '' && (bareLetters(name) === letters || toolNamesLike(tool).includes(name))
}

function misspelt({ kind, data }: Judged, hook: Hook): Unguarded {
  const { why, detail } = idleSkip(kind, hook, matcherValue(kind, data))
  return { hook: hook.name, source: hook.origin.source, why, detail }
}

/** Whether the author of a matcher most likely meant this value: `bash` for Bash, `mcp__git` for its tools, `Bash(git *)`. */
export function isSlip(pattern: string, value: string): boolean {
  const letters = bareLetters(value)
  if (letters === '') return false
  const { tool, names } = meaningOf(pattern)
  return tool === value || names.some((name) => bareLetters(name) === letters || isServerOf(name, value))
}

interface Meaning {
  /** The tool of a rule that was written instead of a name. */
  readonly tool: string | undefined
  readonly names: readonly string[]
}

/** Cached, because there are few patterns and many calls. */
const meanings = new Map<string, Meaning>()
const MOST_MEANINGS = 1000

function meaningOf(pattern: string): Meaning {
  const known = meanings.get(pattern)
  if (known) return known
  if (meanings.size >= MOST_MEANINGS) meanings.clear()
  const tool = toolOfRule(pattern)
  const names = pattern.split(/[|,]/).map((name) => name.trim())
  const meaning = { tool, names: names.filter((name) => name !== '') }
  meanings.set(pattern, meaning)
  return meaning
}

function isServerOf(name: string, value: string): boolean {
  return isServerName(name) && value.startsWith(`${name}__`)
}
