// "Why did my hook not run?" The answer for one hook and one event, and what to type next.

import { didYouMean, visibleName } from '../../core/base/text.js'
import { localTime } from '../../core/base/time.js'
import { type EventKind, resolveEvent } from '../../core/events/events.js'
import type { Candidate, Plan } from '../../core/run/plan.js'
import type { AuditedHook } from '../../core/session/audit-record.js'
import { shellQuoted } from '../../effects/shell/shell-quoted.js'
import type { ListedHook } from '../../hooks.js'
import { filterOf } from '../../store/audit/filter.js'
import { fileStores } from '../../store/file-stores.js'
import type { Untrusted } from '../../trust/unit.js'
import { type Finding, faultOfProject } from '../doctor/finding.js'
import type { Payload } from '../fire/payload.js'
import { oneLine, placeOf, some } from '../print/lines.js'
import { optionOf, typed, typedTake, typedTrust } from '../print/next-command.js'
import { Refusal } from '../refusal.js'
import type { Sources } from '../sources.js'
import { askedWith, callFor, nearMiss, takenBy } from './matching.js'

export interface HookAnswer {
  readonly hook: string
  readonly runs: boolean
  readonly text: string
  readonly next: readonly string[]
  /** The newest audit entry of a hook. */
  readonly last?: LastEntry
}

interface LastEntry {
  readonly seq: number
  readonly time: string
  readonly event: string
  readonly status: string
  /** Its answer, or why it did not run. */
  readonly detail?: string
}

/** Finds it by name, id, or name without its source. Throws if there is none, or if several match. */
export function hookCalled(hooks: readonly ListedHook[], name: string): readonly ListedHook[] {
  const exact = hooks.filter((hook) => hook.name === name || hook.id === name)
  const found = exact.length > 0 ? exact : hooks.filter((hook) => hook.name.split(':').includes(name))
  const names = [...new Set(found.map((hook) => hook.name))]
  if (names.length === 1) return found
  if (names.length > 1) {
    throw new Refusal('AMBIGUOUS_NAME', `${names.length} hooks are called ${visibleName(name)}`, {
      hint: `Say which: ${names.slice(0, 20).map(visibleName).join(', ')}.`,
    })
  }
  const guess = didYouMean(
    name,
    hooks.flatMap((hook) => [hook.name, ...hook.name.split(':').slice(1)]),
  )
  throw new Refusal('UNKNOWN_HOOK', `There is no hook ${visibleName(name)}${guess}`, {
    hint:
      hooks.length === 0
        ? 'There are no hooks here; carabiner doctor says whether a file has a mistake.'
        : 'carabiner list shows every hook; if it is missing there, its file has a mistake: carabiner doctor.',
  })
}

export interface Asked {
  readonly hook: ListedHook
  readonly kind: EventKind
  readonly plan: Plan
  readonly value: string
  readonly sources: Sources
  readonly untrusted: readonly Untrusted[]
  readonly sameAs: readonly string[]
  /** The place of its matcher. */
  readonly matcherAt: Parameters<typeof placeOf>[0] | undefined
  /** What switches it on again, if it is off. */
  readonly undo: string | undefined
  /** Its `if`, and whether there is an input to test it with. */
  readonly rule: string | undefined
  readonly hasInput: boolean
  readonly bypassed: boolean
  readonly last: LastEntry | undefined
  /** The payload, completed with examples. */
  readonly payload: Payload
  /** Why it would fail at its start. */
  readonly faults: readonly Pick<Finding, 'text' | 'fix'>[]
}

export function answerFor(asked: Asked): HookAnswer {
  const { hook, last } = asked
  const { runs, text, next } = verdictOn(asked)
  return { hook: hook.name, runs, text, next, ...(last && { last }) }
}

type Verdict = Pick<HookAnswer, 'runs' | 'text' | 'next'>

function verdictOn(asked: Asked): Verdict {
  const { hook, kind, plan, bypassed } = asked
  if (bypassed) return no('CARABINER_OFF=1 is set: no hook runs at all', ['unset CARABINER_OFF'])
  const one = candidateOf(plan, hook)
  if (!one) return otherEvent(asked)
  return one.matched ? yes(asked) : refused(asked, one, kind)
}

function no(text: string, next: readonly string[]): Verdict {
  return { runs: false, text: `it would not run: ${text}`, next }
}

function candidateOf({ candidates }: Plan, { name, file, line }: ListedHook): Candidate | undefined {
  return candidates.find((one) => one.name === name && one.origin.file === file && one.origin.line === line)
}

function otherEvent({ hook, kind, sources }: Asked): Verdict {
  const events = hook.events === 'all' ? [] : hook.events
  const first = events.find((event) => !resolveEvent(event).custom) ?? events[0]
  const next =
    first === undefined ? [] : [typed(['explain', first, ...optionOf('--hook', hook.name)], sources)]
  return no(`it listens to ${events.join(', ') || 'nothing'}, not to ${kind.name}`, next)
}

/** It would be asked; what it answers is another question. */
function yes(asked: Asked): Verdict {
  const { faults, rule = '', hasInput } = asked
  const [fault] = faults
  const { text, next } = inOrder(asked)
  const other = hasInput ? [] : ruled(asked, rule)
  if (!fault && other.length > 0) {
    const where = `but only if the call fits "if": ${JSON.stringify(rule)}; no --input was given`
    return { runs: true, text: `it would run, ${text}, ${where}`, next: other }
  }
  if (!fault) return { runs: true, text: `it would run, ${text}`, next }
  if (asked.hook.kept !== undefined)
    return { runs: true, text: `it would run, ${text}; ${faultOfProject(fault.text)}`, next: [fault.fix] }
  return { runs: true, text: `it would be started, ${text}, and fail: ${fault.text}`, next: [fault.fix] }
}

function inOrder({ hook, plan, kind, payload, sources }: Asked): Pick<Verdict, 'text' | 'next'> {
  const { name } = hook
  const step = plan.steps.findIndex(({ lanes }) => lanes.some((lane) => lane.includes(name)))
  if (step < 0) {
    const when = plan.approvers.includes(name)
      ? 'after the others, on the final call'
      : 'as an observer, with the outcome of the event'
    return { text: when, next: [] }
  }
  const lanes = plan.steps[step]?.lanes ?? []
  const lane = lanes.find((one) => one.includes(name)) ?? []
  const before = lane[lane.indexOf(name) - 1]
  const beside = lanes.filter((one) => one !== lane).flat()
  const where = [
    `in step ${step + 1} of ${plan.steps.length}`,
    before === undefined ? '' : `after ${before}`,
    beside.length === 0 ? '' : `at the same time as ${some(beside)}`,
  ].filter((part) => part !== '')
  const late = step > 0 ? '; unless an earlier step denies' : ''
  return {
    text: `${where.join(', ')}${late}`,
    next: [`echo ${shellQuoted(JSON.stringify(payload))} | ${typed(['fire', kind.name], sources)}`],
  }
}

/** For each reason: what to do, or the question that was perhaps meant. */
function refused(asked: Asked, one: Candidate, kind: EventKind): Verdict {
  const { why, detail = '' } = one
  const { hook, sources, untrusted, sameAs, rule = '', undo } = asked
  const place = placeOf(hook) || 'its file'
  switch (why) {
    case 'untrusted':
    case 'modified': {
      const unit = untrusted.find(({ hooks }) => hooks.includes(hook.name))
      const reason =
        why === 'untrusted'
          ? 'it came with the project, and you have not trusted it'
          : 'it has changed since you trusted it'
      return no(`${reason}${unit ? `. ${unit.why}` : ''}`, [
        why === 'modified' ? typedTake(sources) : typedTrust([hook.source], sources),
      ])
    }
    case 'disabled': {
      return no(detail, undo === undefined ? [] : [undo])
    }
    case 'matcher':
      // No input would make it run.
      if (asked.value === '' && hook.state !== 'ready')
        return refused(
          asked,
          { ...one, why: hook.state, ...(hook.why !== undefined && { detail: hook.why }) },
          kind,
        )
      return unmatched(asked, detail)
    case 'if':
      return kind.matcher === 'tool_name'
        ? no(detail, [...ruled(asked, rule), `Change "if" at ${place}, if it should cover this call too`])
        : no(detail, [`Take "if" out of the hook at ${place}`])
    case 'duplicate':
      return no(
        sameAs.length > 0
          ? `${sameAs.join(', ')} runs the same command for this event, and it runs only once`
          : detail,
        [typed(['doctor'], sources)],
      )
    default:
      return no(detail || String(why), [typed(['doctor'], sources)])
  }
}

/** A hook for other tools is fine, but a near miss is a mistake. */
function unmatched({ hook, kind, value, sources, matcherAt }: Asked, detail: string): Verdict {
  const place = placeOf(matcherAt ?? hook) || 'its file'
  const pattern = hook.matcher ?? ''
  const remark = nearMiss(pattern, value)
  if (remark !== undefined) return no(`${detail}; ${remark}`, [`Correct the matcher at ${place}`])
  const example = takenBy(pattern)
  const other =
    example === undefined ? [] : [askedWith(kind, example, sources, optionOf('--hook', hook.name))]
  if (value !== '')
    return no(detail, [
      ...other,
      `Change the matcher at ${place}, if it should match ${oneLine(value, 60)} too`,
    ])
  return no(
    `its matcher ${JSON.stringify(pattern)} is compared with ${kind.matcher}, and none was given`,
    other.length > 0 ? other : [`Look at the matcher at ${place}`],
  )
}

/** Asks about a call that fits its `if`. */
function ruled({ hook, kind, sources }: Asked, rule: string): readonly string[] {
  const call = callFor(rule)
  if (!call) return []
  const input = ['--input', JSON.stringify(call.input)]
  return [askedWith(kind, call.tool, sources, [...input, ...optionOf('--hook', hook.name)])]
}

/** `2026-01-31T12:00:00.000Z PreToolUse: ran, deny`. */
export function lastText({ time, event, status, detail, seq }: LastEntry): string {
  return `last on record: ${localTime(time)} ${event}, ${status}${detail === undefined ? '' : `, ${oneLine(detail, 200)}`} (entry ${seq})`
}

// ---- the last time ---------------------------------------------------------------------------------------------

/** Undefined if there is none, or if the audit cannot be read: `carabiner doctor` says more. */
export async function lastEntryOf(projectDir: string, name: string): Promise<LastEntry | undefined> {
  try {
    const filter = filterOf({ hook: name, kind: 'fire' })
    for await (const entry of fileStores({ projectDir }).audit.entries({ newestFirst: true, filter })) {
      if (entry.kind !== 'fire') return undefined
      const hook = entry.hooks.find((one) => one.name === name)
      return hook && { seq: entry.seq, time: entry.time, event: entry.event, ...saidBy(hook) }
    }
    return undefined
  } catch {
    return undefined
  }
}

function saidBy({ status, action, why, detail }: AuditedHook): Pick<LastEntry, 'status' | 'detail'> {
  const words = [why, detail].filter((one) => one !== undefined).join(': ')
  const text = status === 'ran' ? (action ?? 'continue') : words
  return { status, ...(text !== '' && { detail: text }) }
}
