// Audit entries for people: one line each, or one entry in full.

import type { Diagnostic } from '../../core/base/errors.js'
import { localTime } from '../../core/base/time.js'
import type { AuditedHook, Unguarded } from '../../core/session/audit-record.js'
import {
  answererWords,
  askedWords,
  changeWords,
  type FireEntry,
  isUnguarded,
  missedWords,
  type ShownEntry,
  toneOf,
  verdictOf,
} from '../../store/audit/entry-words.js'
import { gistOf } from '../../store/audit-calls/kept-call.js'
import type { KeptCall } from '../../store/audit-calls.js'
import type { StoredEntry } from '../../store/audit-log.js'
import { plainData } from '../output.js'
import { cutTo, fitted, shownColumns } from './fit.js'
import { columns, duration, indented, noticeLines, oneLine, shortPath } from './lines.js'
import { type Paint, width } from './terminal.js'

/** A table; the words of an entry are cut at the end of the line. */
export function entryLines(entries: readonly ShownEntry[], paint: Paint): readonly string[] {
  const plain = plainData(entries)
  const rows = columns(
    plain.map((entry) => [String(entry.seq).padStart(4), oneLine(clock(entry.time)), ...entryCells(entry)]),
  )
  const lines = rows.map((row, i) => {
    const [seq = '', time = '', what = '', verdict = '', ...rest] = row
    const entry = plain[i] as StoredEntry
    const room = width() - shownColumns([seq, time, what, verdict].join('  ')) - 2
    const said = cutTo(oneLine(rest.join(' ')), Math.max(LEAST_WORDS, room))
    return `${paint.dim(`${seq}  ${time}`)}  ${what}  ${colour(entry, paint)(verdict)}  ${said}`.trimEnd()
  })
  return fitted(lines)
}

/** In columns; fewer are not readable. */
const LEAST_WORDS = 20

type Cells = readonly [what: string, verdict: string, words: string]

/** For plain data. Another program may have written it: an entry that we do not understand is shown as it is. */
export function entryCells(entry: ShownEntry): Cells {
  const whole = oneLine(JSON.stringify(entry))
  try {
    const [what, verdict, words] = cells(entry) ?? [entry.kind, '', whole]
    return [lineOf(what), lineOf(verdict), words]
  } catch {
    return [oneLine(String(entry.kind)), 'damaged', whole]
  }
}

/** Throws for what is no text. */
function lineOf(text: unknown): string {
  if (typeof text === 'string') return oneLine(text)
  throw new Error('is not text')
}

/** Undefined for a kind that a newer version writes. */
function cells(entry: ShownEntry): Cells | undefined {
  switch (entry.kind) {
    case 'fire':
    case 'late':
      return [
        [entry.event, entry.tool, entry.kind === 'late' ? '(late)' : ''].filter(Boolean).join(' '),
        verdictWords(entry),
        oneLine(
          [
            gist(entry.kept),
            isUnguarded(entry)
              ? missed(entry)
              : (askedWords(entry) ?? entry.reason ?? shadows(entry) ?? ranBy(entry.hooks)),
          ]
            .filter((one) => one !== '')
            .join(' · '),
        ),
      ]
    case 'approval':
      return [
        [entry.event, entry.tool].filter(Boolean).join(' '),
        entry.decision,
        oneLine(`by ${answererWords(entry)}${entry.reason === undefined ? '' : `: ${entry.reason}`}`),
      ]
    case 'revoked':
      return [
        [entry.event, entry.tool].filter(Boolean).join(' '),
        'revoked',
        oneLine([entry.hook, entry.by && `by ${entry.by}`].filter(Boolean).join(' ')),
      ]
    case 'change':
      return ['(a person)', entry.change, oneLine(changeWords(entry))]
    case 'bypass':
      return [entry.event, 'bypassed', 'CARABINER_OFF=1 was set: no hook was asked']
    case 'gap':
      return [
        '(the log)',
        'gap',
        oneLine(`${entry.records} could not be written since ${localTime(entry.since)}: ${entry.why}`),
      ]
    case 'recovered':
      return [
        '(the log)',
        'recovered',
        oneLine(entry.why ?? `${entry.bytes} bytes of an unfinished record are in ${entry.file}`),
      ]
    case 'pruned':
      return [
        '(the log)',
        'pruned',
        `${entry.first} to ${entry.last} were removed to keep the log within its size limit`,
      ]
    default:
      return undefined
  }
}

function verdictWords(entry: FireEntry): string {
  const word = verdictOf(entry)
  if (!isUnguarded(entry)) return word
  return word === 'continue' ? 'unguarded' : `${word} unguarded`
}

/** Cut, so that the words after it are seen, too. */
const LONGEST_GIST = 60

function gist(kept: KeptCall | undefined): string {
  return kept ? cutTo(oneLine(gistOf(kept)), LONGEST_GIST) : ''
}

function missed({ unguarded = [] }: FireEntry): string {
  return unguarded.map(({ hook, why }) => `${shortPath(hook)}: ${missedWords(why)}`).join(', ')
}

/** What hooks and rules in shadow mode would have done. */
function shadows({ diagnostics }: FireEntry): string | undefined {
  const texts = diagnostics.filter(({ code }) => code === 'shadow').map(({ text }) => text)
  return texts.length > 0 ? texts.join('; ') : undefined
}

function ranBy(hooks: readonly AuditedHook[]): string {
  const failed = hooks.filter(({ status }) => status === 'failed')
  if (failed.length > 0) return `failed: ${failed.map(({ name }) => name).join(', ')}`
  return hooks
    .filter(({ status }) => status !== 'skipped')
    .map(({ name }) => name)
    .join(', ')
}

function colour(entry: StoredEntry, paint: Paint): (text: string) => string {
  const tone = toneOf(entry)
  if (tone === 'bad') return paint.red
  return tone === 'open' ? paint.yellow : paint.green
}

/** `14:03:22`; with the date unless it is today. */
function clock(time: string, now = new Date()): string {
  const [day = '', hour = time] = localTime(time).split(' ')
  return day === localTime(now.toISOString()).split(' ')[0] ? hour : localTime(time)
}

// ---- one of them, whole ---------------------------------------------------------------------------------------

export function entryDetails(stored: ShownEntry, paint: Paint): readonly string[] {
  const entry = plainData(stored)
  const { seq, time, hash, prev } = entry
  const [what, verdict] = entryCells(entry)
  const [, , words] = entryCells(withoutCall(entry))
  const isFire = entry.kind === 'fire' || entry.kind === 'late'
  return fitted([
    `${paint.bold(`${seq}`)}  ${localTime(time)}  ${what}  ${colour(entry, paint)(verdict)}`,
    ...(words === '' ? [] : indented(words, 2)),
    ...(isFire && verdict !== 'damaged' ? fireDetails(entry, paint) : otherDetails(entry)),
    paint.dim(`  hash ${hash}`),
    paint.dim(`  prev ${prev}`),
  ])
}

/** The call, and hooks that did not judge or failed, have lines of their own. */
function withoutCall({ kept: _, ...entry }: ShownEntry): StoredEntry {
  const isFire = (entry.kind === 'fire' || entry.kind === 'late') && Array.isArray(entry.hooks)
  return (isFire ? { ...entry, unguarded: [], hooks: [] } : entry) as StoredEntry
}

function fireDetails(entry: FireEntry & { readonly kept?: KeptCall }, paint: Paint): readonly string[] {
  const { session, agent, turn, digest, ms, hooks, injections, approval, diagnostics, kept } = entry
  const about = [`session ${session}`, agent && `agent ${agent}`, turn, `in ${duration(ms)}`]
  return [
    `  ${about.filter(Boolean).join(', ')}`,
    ...(entry.unguarded ?? []).flatMap((one) => unguardedLines(one, hooks, paint)),
    `  call ${digest}`,
    ...callLines(kept, entry, paint),
    ...hooks.flatMap((hook) => hookLines(hook, paint)),
    ...injections.map(
      ({ source, bytes, digest: text }) =>
        `  ${source} injected ${bytes} bytes, sha256 ${text.slice(0, 16)}…`,
    ),
    ...(kept?.injections ?? []).flatMap(({ source, text }) => indented(`${source}: ${text}`, 4)),
    ...(approval === undefined ? [] : approvalLines(approval)),
    ...noticeLines(
      diagnostics.filter((one) => !isToldBy(entry, one)),
      paint,
      2,
    ),
  ]
}

/** The line of an unguarded gate says it. */
function isToldBy({ unguarded = [] }: FireEntry, { code, hook }: Diagnostic): boolean {
  return code === 'matcher-missed' && unguarded.some((one) => one.hook === hook)
}

/** The lines of a hook that was asked, or skipped, say the rest. */
function unguardedLines(
  { hook, why, detail }: Unguarded,
  hooks: readonly AuditedHook[],
  paint: Paint,
): readonly string[] {
  const isTold = hooks.some((one) => one.name === hook && one.detail === detail)
  return [
    `  ${paint.red('unguarded')}: ${paint.cyan(shortPath(hook))} did not judge it: ${missedWords(why)}`,
    ...(detail === undefined || isTold ? [] : indented(detail, 4)),
  ]
}

function callLines(
  kept: KeptCall | undefined,
  { call: id, hooks }: Pick<FireEntry, 'call' | 'hooks'>,
  paint: Paint,
): readonly string[] {
  if (!kept)
    return id === undefined
      ? []
      : [paint.dim('    the call itself was not kept: it is too old, or could not be written')]
  const { call, exact, changes, failures } = kept
  return [
    ...indented(gistOf(kept), 4),
    ...(JSON.stringify(call) === gistOf(kept) ? [] : indented(JSON.stringify(call), 4).map(paint.dim)),
    ...(exact ? [] : [paint.dim('    not exact: secrets were taken out, or long texts cut')]),
    ...changes.map(
      ({ hook, path, before, after }) =>
        `  ${hook} changed ${path}: ${shownValue(before)} → ${shownValue(after)}`,
    ),
    ...failures
      .filter(({ stderr }) => stderr !== '' && !hooks.some(({ detail }) => detail === stderr))
      .flatMap(({ hook, stderr }) => [`  ${hook} printed`, ...indented(stderr, 4)]),
  ]
}

function shownValue(value: unknown): string {
  return value === undefined ? 'nothing' : oneLine(JSON.stringify(value))
}

function hookLines(hook: AuditedHook, paint: Paint): readonly string[] {
  const { name, kind, source, status, ms, action, reason, why, detail, hash } = hook
  const did = status === 'ran' ? (action ?? 'continue') : status
  const head = `  ${paint.cyan(name)}  ${did}  ${duration(ms)}  ${paint.dim(`${kind}, ${shortPath(source)}`)}`
  const words = [reason, why && [why, detail].filter(Boolean).join(': ')].filter((one) => one !== undefined)
  return [
    head,
    ...words.flatMap((text) => indented(text, 4)),
    ...(hash === undefined ? [] : [paint.dim(`    hash ${hash}`)]),
  ]
}

type Asked = NonNullable<FireEntry['approval']>

function approvalLines({ question, answer }: Asked): readonly string[] {
  const grants = answer?.grants ?? []
  return [
    ...question.asks.map(({ hook, prompt }) => `  ${hook} asked: ${oneLine(prompt)}`),
    answer === undefined
      ? '  nobody answered'
      : `  ${answer.decision} by ${answererWords(answer)} at ${localTime(answer.at)}${answer.reason === undefined ? '' : `: ${oneLine(answer.reason)}`}`,
    ...grants.map(
      ({ id, by = 'somebody', since }) =>
        `  always allowed by ${by} since ${localTime(since)} (grant ${id.slice(0, 8)})`,
    ),
  ]
}

/** Fields that are shown elsewhere. */
const SAID: ReadonlySet<string> = new Set(['seq', 'prev', 'hash', 'time', 'kind'])

function otherDetails(entry: StoredEntry): readonly string[] {
  return Object.entries(entry)
    .filter(([key]) => !SAID.has(key))
    .map(([key, value]) => `  ${key} ${typeof value === 'string' ? oneLine(value) : JSON.stringify(value)}`)
}
