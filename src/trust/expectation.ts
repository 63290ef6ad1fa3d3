// What the user expects of a project: the gates of everything that was trusted there, whatever happened to its files.

import { join, relative } from 'node:path'
import type { Diagnostic, DiagnosticCode } from '../core/base/errors.js'
import { plainText, visible, visibleName } from '../core/base/text.js'
import { shellQuoted } from '../effects/shell/shell-quoted.js'
import { isBelow } from '../files/within.js'
import type { TrustRecord, UnitHook } from './unit.js'

export interface Expectation {
  readonly unit: Pick<TrustRecord, 'kind' | 'name' | 'path' | 'projectDir'>
  /**
   * - `modified`: something in it is not what was trusted
   * - `missing`: it is gone, no longer has any hooks, or exceeds a limit
   * - `unreadable`: the trust records cannot be read, so it is unknown what to expect
   */
  readonly state: 'as trusted' | 'modified' | 'missing' | 'unreadable'
  /** Digest of what was trusted. Absent if no record can be read. */
  readonly digest?: string
  /** ISO 8601. Absent if no record says so. */
  readonly trustedAt?: string
  readonly gates: readonly ExpectedGate[]
  /**
   * - `copy`: its gates run as they were trusted
   * - `closed`: its gates cannot or must not run, so every call that they would judge is refused
   * - `nothing`: calls proceed without its gates
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

/** A unit that is not what was trusted, and what guards in its place. */
export interface Deviation extends Pick<Expectation, 'guardedBy'> {
  readonly record: TrustRecord
  /** A sentence. For a missing unit, its predicate, such as `no longer has any hooks`; empty if the unit is gone. */
  readonly why: string
  readonly state: 'modified' | 'missing'
  readonly gates: readonly UnitHook[]
  /** Why the trusted version cannot run. */
  readonly problem: string | undefined
  /** The `file:line` to correct before any of it can be read. */
  readonly mistake?: string | undefined
  /** An untrusted unit with the same hooks, in case it was renamed. */
  readonly alike?: Expectation['unit'] | undefined
}

/** `here` is the project in which the user types commands. */
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
  if (mistake !== undefined) return `Correct ${mistake}, then type: ${takeCommand(record, here)}.`
  const keep = guardedBy === 'copy' ? 'To keep it, do nothing.' : 'Put it back.'
  if (why !== '' || !alike || !isPlainName(alike.name)) return keep
  const both = `${reviewCommand(alike, here)} && ${stopCommand(record, here)}`
  return `${alike.name} has the same hooks. If you renamed it, type: ${both}. ${keep}`
}

/** For a unit that is not what was trusted. */
export function repairOf(record: TrustRecord, here: string | undefined): string {
  return `To review and accept the change: ${takeCommand(record, here)}. ${stopping(record, here)}`
}

/** The command that shows what changed, and asks whether to trust it. */
export function takeCommand(unit: Expectation['unit'], here: string | undefined): string {
  return ['carabiner trust --mine', ...placeOption(unit), ...projectOption(unit, here)].join(' ')
}

/** The command that shows a unit and asks whether to trust it. For a name that is not plain, it shows everything to review. */
export function reviewCommand(unit: Expectation['unit'], here: string | undefined): string {
  const what = isPlainName(unit.name) ? [unit.name] : []
  return ['carabiner trust', ...what, ...placeOption(unit), ...projectOption(unit, here)].join(' ')
}

function stopping(record: TrustRecord, here: string | undefined): string {
  return `To stop trusting it: ${stopCommand(record, here)}.`
}

/** The command that stops trusting it. */
export function stopCommand(record: TrustRecord, here: string | undefined): string {
  return ['carabiner untrust', typedUnit(record), ...projectOption(record, here)].join(' ')
}

const EFFECTS: Readonly<Record<Expectation['guardedBy'], string>> = {
  copy: 'The version you trusted still runs.',
  closed: 'Everything it would judge is refused.',
  nothing: 'Nothing guards calls in its place.',
}

function happened({ record, state, why, guardedBy, problem, gates }: Deviation): string {
  const who = trustedName(record)
  const cause = problem === undefined ? '' : ` ${problem}`
  const hasGates = gates.length > 0
  if (state === 'modified')
    return `${who} is not as you trusted it. ${why}${cause}${hasGates ? ` ${EFFECTS[guardedBy]}` : ''}`
  const what = `${who} ${why === '' ? 'is no longer in this project' : why}`
  if (!hasGates) return `${what}.`
  if (guardedBy !== 'copy') return `${what}.${cause} ${EFFECTS[guardedBy]}`
  return why === '' ? `${what} and still guards it.` : `${what}. The version you trusted still guards it.`
}

/** `guard (trusted 3 May)`. */
export function trustedName(record: TrustRecord): string {
  return `${visibleName(nameOf(record))} (trusted ${dayOf(record.at)})`
}

/** A hooks file is shown by its path: its name in lists, `project`, would read as the whole project. */
function nameOf({ kind, name, path, projectDir }: Expectation['unit']): string {
  return kind === 'file' && isBelow(path, projectDir) ? relative(projectDir, path) : name
}

/** For unreadable records. `problem` names the file. */
export function unreadable(projectDir: string, problem: string): Expectation {
  return {
    unit: { kind: 'file', name: 'trust', path: projectDir, projectDir },
    state: 'unreadable',
    gates: [],
    guardedBy: 'closed',
    why: `Your trust records cannot be read, so missing gates go unnoticed: ${problem}. Everything that a gate could refuse is refused.`,
    repair: 'Repair the file named there. Or remove it and review everything again: carabiner trust.',
  }
}

/** For a pre-trusted digest that nothing here has. */
export function unlisted(digest: string, name: string, projectDir: string): Expectation {
  const who = name === '' ? digest : `${visibleName(name)} (${digest.slice(0, SHORT_DIGEST)})`
  return {
    unit: { kind: 'folder', name: name || digest, path: projectDir, projectDir },
    state: 'missing',
    digest,
    gates: [],
    guardedBy: 'nothing',
    why: `${who} is on your list of trusted digests, but not in this project. Nothing guards calls in its place.`,
    repair: 'Put it back, or remove its line from the list.',
  }
}

function unitOf({ kind, name, path, projectDir }: TrustRecord): Expectation['unit'] {
  return { kind, name, path, projectDir }
}

function gateOf({ name, event, matcher }: UnitHook): ExpectedGate {
  return { name, event, matcher }
}

/** Whether a third-party name is safe to paste into a shell and cannot be read as an option. */
function isPlainName(name: string): boolean {
  return /^[\w@][\w@.-]*$/.test(name)
}

/** Uses the digest for a path that cannot be shown or copied. */
function typedUnit(record: TrustRecord): string {
  const { path, digest } = record
  const name = nameOf(record)
  if (name.split('/').every((part) => isPlainName(part.replace(/^\./, '')))) return name
  return visible(path) === path ? shellQuoted(path) : digest.slice(0, SHORT_DIGEST)
}

/** How many characters of a digest are shown. They are enough to identify it. */
export const SHORT_DIGEST = 12

/** Empty if the unit is found in its project without an option. */
function placeOption({ kind, name, path, projectDir }: Expectation['unit']): readonly string[] {
  if (path.startsWith(join(projectDir, '.amplifier', '/')) || visible(path) !== path) return []
  if (kind === 'folder' && name.startsWith('skill ')) return ['--payload FILE (with its skill:loaded event)']
  return [kind === 'folder' ? '--plugin' : '--config', shellQuoted(path)]
}

/** Empty if the user types commands in this project. */
function projectOption({ projectDir }: Expectation['unit'], here: string | undefined): readonly string[] {
  return here === undefined || here === projectDir ? [] : ['--project', shellQuoted(projectDir)]
}

/** The full message for the user: what happened, and what to do. */
export function expectationText({ state, why, repair }: Expectation): string {
  return state === 'as trusted' ? '' : `${why} ${repair}`
}

const CODES: Readonly<Record<Exclude<Expectation['state'], 'as trusted'>, DiagnosticCode>> = {
  modified: 'trust-kept',
  missing: 'trust-kept',
  unreadable: 'trust-unreadable',
}

/** Empty if the unit is as trusted. */
export function diagnosticOf(expectation: Expectation): readonly Diagnostic[] {
  const { state, guardedBy } = expectation
  if (state === 'as trusted') return []
  const code = guardedBy === 'nothing' ? 'trust-unguarded' : CODES[state]
  return [{ code, text: plainText(expectationText(expectation)) }]
}

const MONTHS = 'January February March April May June July August September October November December'.split(
  ' ',
)

/** `3 May`, with the year if it is not the current one. */
function dayOf(iso: string, now = new Date()): string {
  const date = new Date(iso)
  if (Number.isNaN(date.getTime())) return 'some time ago'
  const year = date.getFullYear() === now.getFullYear() ? '' : ` ${date.getFullYear()}`
  return `${date.getDate()} ${MONTHS[date.getMonth()]}${year}`
}
