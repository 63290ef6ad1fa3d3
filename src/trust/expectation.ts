// What the user expects of a project: the gates of everything that was trusted there, whatever became of its files.

import { join, relative } from 'node:path'
import type { Diagnostic, DiagnosticCode } from '../core/base/errors.js'
import { plainText, visible, visibleName } from '../core/base/text.js'
import { isBelow } from '../files/within.js'
import { shellQuoted } from '../shell/shell-quoted.js'
import type { TrustRecord, UnitHook } from './unit.js'

export interface Expectation {
  readonly unit: Pick<TrustRecord, 'kind' | 'name' | 'path' | 'projectDir'>
  /**
   * - `modified`: anything in it is not what was trusted
   * - `missing`: it is gone, has no hooks any more, or was left out by a limit
   * - `unreadable`: the records of trust cannot be read, so nobody knows what is expected
   */
  readonly state: 'as trusted' | 'modified' | 'missing' | 'unreadable'
  /** Digest of what was trusted. Absent if no record can be read. */
  readonly digest?: string
  /** ISO 8601. Absent if no record says so. */
  readonly trustedAt?: string
  readonly gates: readonly ExpectedGate[]
  /**
   * - `copy`: its gates run as they were trusted
   * - `closed`: they cannot run, or must not, so every call that they would judge is refused
   * - `nothing`: calls go on without them
   */
  readonly guardedBy: 'copy' | 'closed' | 'nothing'
  /** A sentence. Empty if it is as trusted. */
  readonly why: string
  /** Sentences that say what to type. Empty if it is as trusted. */
  readonly repair: string
}

export interface ExpectedGate {
  readonly name: string
  /** The names that its file uses, separated by commas. */
  readonly event: string
  readonly matcher: string | null
}

export function asTrusted(record: TrustRecord, gates: readonly UnitHook[]): Expectation {
  return {
    unit: unitOf(record),
    state: 'as trusted',
    digest: record.digest,
    trustedAt: record.at,
    gates: gates.map(gateOf),
    guardedBy: 'copy',
    why: '',
    repair: '',
  }
}

/** A unit that is not what was trusted, and what stands in its place. */
export interface Deviation extends Pick<Expectation, 'guardedBy'> {
  readonly record: TrustRecord
  /** A sentence. For a missing unit: what became of it, such as `has no hooks any more`; empty if it is gone. */
  readonly why: string
  readonly state: 'modified' | 'missing'
  readonly gates: readonly UnitHook[]
  /** Why the trusted version cannot run. */
  readonly problem: string | undefined
  /** `file:line` to correct before anything of it can be read. */
  readonly mistake?: string | undefined
  /** A unit with the same hooks that nobody trusted: perhaps it was renamed. */
  readonly alike?: Expectation['unit'] | undefined
}

/** `here` is the project that commands are typed in. */
export function expectationOf(deviation: Deviation, here: string | undefined): Expectation {
  const { record, state, gates, guardedBy } = deviation
  const stop = stopping(record, here)
  return {
    unit: unitOf(record),
    state,
    digest: record.digest,
    trustedAt: record.at,
    gates: gates.map(gateOf),
    guardedBy,
    why: happened(deviation),
    repair: state === 'missing' ? `${returning(deviation, here)} ${stop}` : repairOf(record, here),
  }
}

function returning(deviation: Deviation, here: string | undefined): string {
  const { record, guardedBy, mistake, why, alike } = deviation
  if (mistake !== undefined) return `Correct ${mistake}, then: ${takeCommand(record, here)}.`
  const keep = guardedBy === 'copy' ? 'Keep it: do nothing.' : 'Put it back.'
  if (why !== '' || !alike || !isPlainName(alike.name)) return keep
  const both = `${reviewCommand(alike, here)} && ${stopCommand(record, here)}`
  return `${alike.name} has the same hooks. If you renamed it: ${both}. ${keep}`
}

/** For a unit that is not what was trusted. */
export function repairOf(record: TrustRecord, here: string | undefined): string {
  return `See the change, and take it: ${takeCommand(record, here)}. ${stopping(record, here)}`
}

/** The command that shows what changed, and asks whether to trust it. */
export function takeCommand(unit: Expectation['unit'], here: string | undefined): string {
  return ['carabiner trust --mine', ...placeOption(unit), ...projectOption(unit, here)].join(' ')
}

/** The command that shows a unit and asks whether to trust it. If its name is not plain, it shows everything that waits. */
export function reviewCommand(unit: Expectation['unit'], here: string | undefined): string {
  const what = isPlainName(unit.name) ? [unit.name] : []
  return ['carabiner trust', ...what, ...placeOption(unit), ...projectOption(unit, here)].join(' ')
}

function stopping(record: TrustRecord, here: string | undefined): string {
  return `Stop it: ${stopCommand(record, here)}.`
}

function stopCommand(record: TrustRecord, here: string | undefined): string {
  return ['carabiner untrust', typedUnit(record), ...projectOption(record, here)].join(' ')
}

const EFFECTS: Readonly<Record<Expectation['guardedBy'], string>> = {
  copy: 'The version that you trusted still runs.',
  closed: 'So everything that it would judge is refused.',
  nothing: 'Nothing guards in its place.',
}

function happened({ record, state, why, guardedBy, problem, gates }: Deviation): string {
  const who = `${visibleName(nameOf(record))} (trusted ${dayOf(record.at)})`
  const cause = problem === undefined ? '' : ` ${problem}`
  const hasGates = gates.length > 0
  if (state === 'modified')
    return `${who} is not as you trusted it. ${why}${cause}${hasGates ? ` ${EFFECTS[guardedBy]}` : ''}`
  const what = `${who} ${why === '' ? 'is no longer in this project' : why}`
  if (!hasGates) return `${what}.`
  if (guardedBy !== 'copy') return `${what}.${cause} ${EFFECTS[guardedBy]}`
  return why === '' ? `${what} and still guards it.` : `${what}. The version that you trusted still guards.`
}

/** A file of hooks is known by its path: `project`, its name in lists, would read as the whole project. */
function nameOf({ kind, name, path, projectDir }: Expectation['unit']): string {
  return kind === 'file' && isBelow(path, projectDir) ? relative(projectDir, path) : name
}

/** For records that cannot be read. `problem` names the file. */
export function unreadable(projectDir: string, problem: string): Expectation {
  return {
    unit: { kind: 'file', name: 'trust', path: projectDir, projectDir },
    state: 'unreadable',
    gates: [],
    guardedBy: 'closed',
    why: `What you trust cannot be read, so nobody knows which gates are missing: ${problem}. Everything that a gate could refuse is refused.`,
    repair: 'Repair what is named there. Or remove it, and review what you trusted again: carabiner trust.',
  }
}

/** For a digest of a list of pre-trusted ones that nothing here has. */
export function unlisted(digest: string, name: string, projectDir: string): Expectation {
  const who = name === '' ? digest : `${visibleName(name)} (${digest.slice(0, SHORT_DIGEST)})`
  return {
    unit: { kind: 'folder', name: name || digest, path: projectDir, projectDir },
    state: 'missing',
    digest,
    gates: [],
    guardedBy: 'nothing',
    why: `${who} is on the list of what is trusted, and is not in this project. Nothing guards in its place.`,
    repair: 'Put it back, or take its line out of the list.',
  }
}

function unitOf({ kind, name, path, projectDir }: TrustRecord): Expectation['unit'] {
  return { kind, name, path, projectDir }
}

function gateOf({ name, event, matcher }: UnitHook): ExpectedGate {
  return { name, event, matcher }
}

/** Whether no shell and no command line can take a stranger's name for anything but a name. */
function isPlainName(name: string): boolean {
  return /^[\w@][\w@.-]*$/.test(name)
}

/** A path that nobody can see or copy has a digest. */
function typedUnit(record: TrustRecord): string {
  const { path, digest } = record
  const name = nameOf(record)
  if (name.split('/').every((part) => isPlainName(part.replace(/^\./, '')))) return name
  return visible(path) === path ? shellQuoted(path) : digest.slice(0, SHORT_DIGEST)
}

/** The characters of a digest that are shown, and enough to name it. */
export const SHORT_DIGEST = 12

/** Nothing if it is found in its project without being named. */
function placeOption({ kind, name, path, projectDir }: Expectation['unit']): readonly string[] {
  if (path.startsWith(join(projectDir, '.amplifier', '/')) || visible(path) !== path) return []
  if (kind === 'folder' && name.startsWith('skill ')) return ['--payload FILE (with its skill:loaded event)']
  return [kind === 'folder' ? '--plugin' : '--config', shellQuoted(path)]
}

/** Nothing if commands are typed in this project. */
function projectOption({ projectDir }: Expectation['unit'], here: string | undefined): readonly string[] {
  return here === undefined || here === projectDir ? [] : ['--project', shellQuoted(projectDir)]
}

/** Everything that the user should be told: what happened, and what to do. */
export function expectationText({ state, why, repair }: Expectation): string {
  return state === 'as trusted' ? '' : `${why} ${repair}`
}

const CODES: Readonly<Record<Exclude<Expectation['state'], 'as trusted'>, DiagnosticCode>> = {
  modified: 'trust-kept',
  missing: 'trust-kept',
  unreadable: 'trust-unreadable',
}

/** Nothing if it is as trusted. */
export function diagnosticOf(expectation: Expectation): readonly Diagnostic[] {
  const { state, guardedBy } = expectation
  if (state === 'as trusted') return []
  const code = guardedBy === 'nothing' ? 'trust-unguarded' : CODES[state]
  return [{ code, text: plainText(expectationText(expectation)) }]
}

const MONTHS = 'January February March April May June July August September October November December'.split(
  ' ',
)

/** `3 May`, with the year if it is another one. */
function dayOf(iso: string, now = new Date()): string {
  const date = new Date(iso)
  if (Number.isNaN(date.getTime())) return 'some time ago'
  const year = date.getFullYear() === now.getFullYear() ? '' : ` ${date.getFullYear()}`
  return `${date.getDate()} ${MONTHS[date.getMonth()]}${year}`
}
