// The likely reason why nothing would run, and what to type next.

import { join, resolve } from 'node:path'
import type { ConfiguredHook } from '../../config/configured-hook.js'
import { type Diagnostic, type DiagnosticCode, LOSSES } from '../../core/base/errors.js'
import { shown, shownSome } from '../../core/base/text.js'
import type { EventKind } from '../../core/events/events.js'
import type { SkipReason } from '../../core/hooks/outcome.js'
import type { Candidate, Plan } from '../../core/run/plan.js'
import { userHome } from '../../files/homes.js'
import type { ListedHook } from '../../hooks.js'
import { projectKey, SwitchStore, switchOver, undoing } from '../../plugins/switches.js'
import { BYPASSED } from '../bypass.js'
import { matcherPlace } from '../doctor/facts.js'
import { nearEvent } from '../fire/payload.js'
import { counted, grouped, placeOf, shortPath } from '../print/lines.js'
import { optionOf, typed, typedTake, typedTrust } from '../print/next-command.js'
import { projectOf, type Sources, specOf } from '../sources.js'
import { askedWith, nearMiss, takenBy } from './matching.js'

export interface Advice {
  readonly reason: string
  /** Commands, or a sentence where no command helps. */
  readonly next: readonly string[]
}

export interface Question {
  readonly kind: EventKind
  readonly plan: Plan
  /** The value for matchers; empty if none was given. */
  readonly value: string
  readonly hooks: readonly ListedHook[]
  readonly notices: readonly Diagnostic[]
  /** What hooks would say, by name. */
  readonly foreseen: ReadonlyMap<string, readonly string[]>
  readonly sources: Sources
}

function runsNothing({ steps, approvers, observers }: Plan): boolean {
  return steps.length + approvers.length + observers.length === 0
}

/** Undefined if something would run. */
export async function adviceFor(
  question: Question,
  specs: readonly ConfiguredHook[],
): Promise<Advice | undefined> {
  if (question.notices.includes(BYPASSED)) return { reason: BYPASSED.text, next: ['unset CARABINER_OFF'] }
  if (!runsNothing(question.plan)) return undefined
  if (question.kind.custom) return unknownEvent(question)
  if (question.plan.candidates.length > 0) return refused(question, specs)
  return lost(question) ?? (question.hooks.length > 0 ? otherEvents(question) : noHooks(question.sources))
}

function unknownEvent({ kind, sources }: Question): Advice {
  const meant = nearEvent(kind.name)
  const guess = meant === undefined ? '' : `; did you mean ${meant}?`
  return {
    reason: `there is no event ${shown(kind.name)}, and hooks in files listen only to known events${guess}`,
    next: [typed(['explain', meant ?? 'PreToolUse'], sources)],
  }
}

// ---- hooks listen, and do not run -----------------------------------------------------------------------------

/** Nearest to running first: a hook that only lacks trust is most likely the one meant. */
const NEARNESS: readonly SkipReason[] = [
  'untrusted',
  'modified',
  'failed',
  'disabled',
  'if',
  'once',
  'observe',
  'duplicate',
  'ended',
  'matcher',
]

function refused(question: Question, specs: readonly ConfiguredHook[]): Advice {
  const { candidates } = question.plan
  const why = NEARNESS.find((reason) => candidates.some((one) => one.why === reason)) ?? 'matcher'
  const those = candidates.filter((one) => one.why === why)
  if (why === 'untrusted' || why === 'modified') return untrusted(question, those)
  if (why === 'matcher') return unmatched(question, those, specs)
  const [first] = those
  const reason = `${first?.name} listens, but ${first?.detail ?? why}`
  const listed = first && listedOf(question, first)
  if (why === 'disabled' && listed) {
    return { reason, next: [undoOf(listed, specOf(specs, listed), projectOf(question.sources))] }
  }
  return { reason, next: [`Look at ${placeOf(first?.origin ?? {}) || 'its configuration'}`] }
}

function untrusted({ kind, value, sources }: Question, those: readonly Candidate[]): Advice {
  const [they, were] = those.length === 1 ? ['it', 'was'] : ['them', 'were']
  const isModified = those.every(({ why }) => why === 'modified')
  const why = isModified ? `${were} changed since you trusted ${they}` : `you have not trusted ${they}`
  const names = those.map(({ origin }) => origin.source)
  return {
    reason: `${counted(those.length, 'hook')} would run, but came with the project, and ${why}`,
    next: [
      `${isModified ? typedTake(sources) : typedTrust(names, sources)}   # shows what ${they === 'it' ? 'it runs' : 'they run'}, and asks; or, just for this call:`,
      typed(['explain', kind.name, ...valueOption(kind, value)], sources, true),
    ],
  }
}

function unmatched(
  question: Question,
  those: readonly Candidate[],
  specs: readonly ConfiguredHook[],
): Advice {
  const { kind, value, sources } = question
  const patterns = those.map((one) => listedOf(question, one)?.matcher ?? '').filter((one) => one !== '')
  const example = takenBy(patterns[0] ?? '')
  if (value === '') {
    const reason = `which hooks run depends on ${kind.matcher}, and none was given; the matchers are ${shownSome(patterns)}`
    return { reason, next: [askedWith(kind, example ?? 'Bash', sources)] }
  }
  for (const one of those) {
    const remark = nearMiss(listedOf(question, one)?.matcher ?? '', value)
    if (remark === undefined) continue
    const spec = specOf(specs, { name: one.name, ...one.origin })
    const place = placeOf(spec ? matcherPlace(spec) : one.origin)
    return {
      reason: `${one.name} nearly matches: ${one.detail}; ${remark}`,
      next: [place === '' ? 'Correct its matcher' : `Correct the matcher at ${place}`],
    }
  }
  return {
    reason: `no matcher matches ${kind.matcher} ${shown(value)}; the matchers are ${shownSome(patterns)}`,
    next: example === undefined ? [typed(['list'], sources)] : [askedWith(kind, example, sources)],
  }
}

function valueOption(kind: EventKind, value: string): readonly string[] {
  return kind.matcher === 'tool_name' && value !== '' ? optionOf('--tool', value) : []
}

/** The listed hook behind a candidate. */
export function listedOf(
  { hooks }: Pick<Question, 'hooks'>,
  { name, origin }: Candidate,
): ListedHook | undefined {
  return hooks.find((hook) => hook.name === name && hook.file === origin.file && hook.line === origin.line)
}

// ---- nobody listens -------------------------------------------------------------------------------------------

const MISTAKES: ReadonlySet<DiagnosticCode> = new Set<DiagnosticCode>([
  ...LOSSES,
  'unknown-event',
  'unknown-key',
])

/** A mistake in a file that may have lost the hook, preferably one that names the event. */
function lost({ kind, notices, sources }: Question): Advice | undefined {
  const mistakes = notices.filter(({ code }) => MISTAKES.has(code))
  const first = mistakes.find(({ text }) => text.includes(kind.name)) ?? mistakes[0]
  if (!first) return undefined
  const place = placeOf(first)
  return {
    reason: `no hook listens to ${kind.name}, and a file has a mistake: ${first.text}`,
    next: [place === '' ? typed(['list'], sources) : `Correct ${place}`],
  }
}

function otherEvents({ kind, hooks, sources }: Question): Advice {
  const events = [
    ...grouped(
      hooks.flatMap(({ events }) => events),
      (event) => event,
    ),
  ]
  const counts = events.map(([event, some]) => `${event} (${some.length})`).join(', ')
  return {
    reason: `none of the ${counted(hooks.length, 'hook')} listens to ${kind.name}; they listen to ${counts}`,
    next: events.slice(0, 1).map(([event]) => typed(['explain', event], sources)),
  }
}

const FILES = ['.amplifier/hooks/hooks.json', '.amplifier/hooks/*/hooks.json', '.amplifier/settings.json']

function lookedIn(project: string): readonly string[] {
  const bases = [...new Set([resolve(userHome()), project])]
  return bases.flatMap((base) => FILES.map((file) => shortPath(join(base, file))))
}

async function noHooks(sources: Sources): Promise<Advice> {
  const { firstSteps } = await import('./first-steps.js')
  return {
    reason: `there are no hooks here; looked for ${lookedIn(projectOf(sources)).join(', ')}`,
    next: (await firstSteps(sources)).map(({ line }) => line),
  }
}

// ---- switched off ----------------------------------------------------------------------------------------------

/** What switches a hook on again: editing a setting, or a command. `spec`: the hook in its file. */
export function undoOf(
  hook: Pick<ListedHook, 'id' | 'scope' | 'source'>,
  spec: ConfiguredHook | undefined,
  project: string,
): string {
  if (spec?.disabled) {
    const { setting, ...place } = spec.disabled
    const where = placeOf(place) || 'the host’s settings'
    return `Remove ${setting} from ${where} if you want the hook`
  }
  const off = switchOver(hook, projectKey(project), new SwitchStore().inForce(Date.now()))
  return off ? undoing(off) : 'carabiner disable   # shows what is switched off'
}
