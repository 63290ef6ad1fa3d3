// An audit entry as the page shows it: a row in a list, and everything about it when it is opened. Every text is visible.

import { visible } from '../core/base/text.js'
import { actionRow, isAction } from '../core/events/actions.js'
import type { AuditedHook } from '../core/session/audit-record.js'
import { withTilde } from '../files/homes.js'
import {
  answererWords,
  askedWords,
  changeWords,
  type FireEntry,
  isFire,
  missedWords,
  type ShownEntry,
  toneOf,
  verdictOf,
} from '../store/audit/entry-words.js'
import { gistOf } from '../store/audit-calls/kept-call.js'
import type { StoredEntry } from '../store/audit-log.js'
import { block, line, path } from './shown-text.js'
import type { Details, NotRun, RanHook, Row } from './view/row.js'

const LONGEST_REASON = 500

/** Never throws: another program may have written the entry. */
export function rowOf(entry: ShownEntry): Row {
  try {
    return isFire(entry) ? fireRow(entry) : otherRow(entry)
  } catch {
    return {
      ...bare(entry),
      gist: line(JSON.stringify(entry)),
      verdict: 'damaged',
      said: 'damaged',
      tone: 'bad',
    }
  }
}

function bare(entry: StoredEntry) {
  const { seq, time, kind } = entry
  return {
    seq: Number(seq),
    time: visible(String(time)),
    kind: visible(String(kind)),
    event: '',
    ran: 0,
    of: 0,
    failed: 0,
    missed: [],
    hooks: [],
  }
}

function fireRow(entry: FireEntry & ShownEntry): Row {
  const { event, tool, session, turn, hooks, kept, ms, unguarded = [] } = entry
  const reason = askedWords(entry) ?? entry.reason
  const verdict = verdictOf(entry)
  return {
    ...bare(entry),
    event: visible(event),
    ...(tool !== undefined && { tool: visible(tool) }),
    session: visible(session),
    ...(turn !== undefined && { turn: visible(turn) }),
    ...(kept?.agent !== undefined && { agent: visible(kept.agent) }),
    gist: kept ? line(gistOf(kept)) : '',
    verdict,
    said: saidOf(verdict),
    tone: toneOf(entry),
    ...(reason !== undefined && { reason: line(reason, LONGEST_REASON) }),
    ran: hooks.filter(hasRun).length,
    of: hooks.length,
    failed: hooks.filter(({ status }) => status === 'failed').length,
    ms,
    missed: unguarded.map(({ hook, why }) => visible(`${withTilde(hook)}: ${missedWords(why)}`)),
    hooks: hooks.map(({ name }) => visible(name)),
  }
}

function otherRow(entry: Exclude<ShownEntry, FireEntry>): Row {
  const fields = entry as unknown as Readonly<Record<string, unknown>>
  const text = (key: string) => (typeof fields[key] === 'string' ? { [key]: visible(fields[key]) } : {})
  const word =
    entry.kind === 'approval' ? entry.decision : entry.kind === 'change' ? entry.change : entry.kind
  return {
    ...bare(entry),
    ...text('event'),
    ...text('tool'),
    ...text('session'),
    gist: line(otherGist(entry)),
    verdict: visible(word),
    said: (entry.kind === 'approval' ? ANSWERED[word] : undefined) ?? saidOf(word),
    tone: toneOf(entry),
    ...text('reason'),
  }
}

function otherGist(entry: Exclude<ShownEntry, FireEntry>): string {
  switch (entry.kind) {
    case 'approval':
      return [`answered by ${answererWords(entry)}`, ...(entry.kept ? [gistOf(entry.kept)] : [])].join(': ')
    case 'revoked':
      return ['grant revoked', entry.hook, entry.by && `by ${entry.by}`].filter(Boolean).join(' ')
    case 'change':
      return changeWords(entry)
    case 'bypass':
      return 'CARABINER_OFF=1 was set: no hook was asked'
    case 'gap':
      return `${entry.records} entries could not be written: ${entry.why}`
    case 'recovered':
      return entry.why ?? `${entry.bytes} bytes of an unfinished record are in ${entry.file}`
    case 'pruned':
      return `${entry.first} to ${entry.last} were removed to keep the log within its size limit`
    default:
      return JSON.stringify(entry)
  }
}

/** What a person said to a question. */
export const ANSWERED: Readonly<Record<string, string>> = {
  allow: 'allowed once',
  always: 'always allowed',
  deny: 'denied',
}

const OTHER_WORDS: Readonly<Record<string, string>> = {
  modify: 'changed',
  aborted: 'interrupted',
  bypass: 'bypassed',
}

function saidOf(verdict: string): string {
  return (isAction(verdict) ? actionRow(verdict).said : undefined) ?? OTHER_WORDS[verdict] ?? visible(verdict)
}

// ---- everything about it --------------------------------------------------------------------------------------

/** Never throws: another program may have written the entry. */
export function detailsOf(entry: ShownEntry): Details {
  const row = rowOf(entry)
  if (isFire(entry) && row.verdict !== 'damaged')
    try {
      return fireDetails(entry, row)
    } catch {}
  const none = { ranHooks: [], notRun: [], changes: [], injections: [], failures: [], notes: [], asked: [] }
  return { ...row, ...none, prev: String(entry.prev), call: recordFields(entry) }
}

function fireDetails(entry: FireEntry & ShownEntry, row: Row): Details {
  const { hooks, kept, injections, diagnostics, approval, digest, reason } = entry
  const answer = approval?.answer
  return {
    ...row,
    ...(reason !== undefined && { reason: block(reason) }),
    ranHooks: hooks.filter(hasRun).map(ranHook),
    notRun: grouped(hooks.filter((hook) => !hasRun(hook))),
    ...(kept && { call: fieldsOf(kept.call), exact: kept.exact, ...inputOf(kept.call.tool_input) }),
    changes: (kept?.changes ?? []).map(({ hook, path: where, before, after }) => ({
      hook: visible(hook),
      path: visible(where),
      ...(before !== undefined && { before: textFor(before) }),
      ...(after !== undefined && { after: textFor(after) }),
    })),
    injections: injections.map(({ source, bytes }, i) => ({
      source: visible(source),
      bytes,
      text: block(kept?.injections[i]?.text ?? ''),
    })),
    failures: (kept?.failures ?? [])
      .filter(({ stderr }) => stderr !== '')
      .map(({ hook, stderr }) => ({ hook: visible(hook), stderr: block(stderr) })),
    // The hooks that did not run already say so.
    notes: diagnostics.filter(({ code }) => code !== 'untrusted').map(({ text }) => block(text)),
    asked: (approval?.question.asks ?? []).map(({ hook, prompt }) => block(`${hook} asked: ${prompt}`)),
    ...(approval && {
      answer: block(
        answer
          ? `${answer.decision === 'deny' ? 'denied' : 'allowed'} by ${answererWords(answer)}${answer.reason === undefined ? '' : `: ${answer.reason}`}`
          : 'nobody answered',
      ),
    }),
    digest,
    prev: entry.prev,
  }
}

/** The record as it is stored; of an answer, also the call that it is about. */
function recordFields({ kept, ...entry }: ShownEntry) {
  if (!kept) return fieldsOf(entry)
  return [...fieldsOf(entry).filter(({ name }) => name !== 'call'), ...fieldsOf(kept.call)]
}

const LONGEST_INPUT = 3000

/** For the address of another screen. */
function inputOf(input: unknown): { readonly input?: string } {
  const text = JSON.stringify(input)
  return text === undefined || text.length > LONGEST_INPUT ? {} : { input: text }
}

function hasRun({ status }: AuditedHook): boolean {
  return status !== 'skipped'
}

function ranHook(hook: AuditedHook): RanHook {
  const { name, kind, source, status, at = 0, ms, action, reason, why, detail, would } = hook
  const verdict = action ?? 'continue'
  const tone = isAction(verdict) ? actionRow(verdict).tone : 'plain'
  const did =
    status === 'failed'
      ? 'failed'
      : status === 'detached'
        ? 'in the background'
        : (DID[verdict] ?? saidOf(verdict))
  const why_ = [would && `in shadow mode: would ${would.action}`, why && missedWords(why), detail]
  return {
    name: visible(name),
    kind: visible(kind),
    source: path(source),
    at,
    ms,
    did,
    tone: status === 'failed' || tone === 'bad' ? 'bad' : tone === 'open' ? 'open' : 'plain',
    ...(reason !== undefined && { reason: block(reason) }),
    ...(why_.some(Boolean) && { detail: block(why_.filter(Boolean).join(': ')) }),
  }
}

/** What one hook did, where that is not what became of the event. */
const DID: Readonly<Record<string, string>> = {
  continue: 'let it pass',
  ask_user: 'asked',
  modify: 'changed it',
}

/** Why hooks did not run. */
const NOT_RUN: Readonly<Record<string, string>> = {
  matcher: 'its matcher is about other calls',
  if: 'its "if" is about other calls',
  disabled: 'switched off',
  untrusted: 'not trusted yet',
  modified: 'changed since it was trusted',
  duplicate: 'the same hook ran already',
  once: 'runs once a session, and has run',
  observe: 'only observes, and saw an older version',
  ended: 'the call was refused before',
  failed: 'cannot run',
}

function grouped(hooks: readonly AuditedHook[]): readonly NotRun[] {
  const groups = new Map<string, { name: string; detail?: string }[]>()
  for (const { name, why = 'failed', detail } of hooks) {
    const words = NOT_RUN[why] ?? visible(why)
    const group = groups.get(words) ?? []
    group.push({ name: visible(name), ...(detail !== undefined && { detail: block(detail) }) })
    groups.set(words, group)
  }
  return [...groups].map(([why, all]) => ({ why, hooks: all }))
}

/** The tool's input has its fields on lines of their own. Their names say so, because the model chooses them. */
export function fieldsOf(call: object): readonly { readonly name: string; readonly value: string }[] {
  return Object.entries(call).flatMap(([name, value]) => {
    const isInput =
      name === 'tool_input' && typeof value === 'object' && value !== null && !Array.isArray(value)
    const inside = isInput ? Object.entries(value as object) : undefined
    return inside
      ? inside.map(([own, one]) => ({ name: `${name}.${visible(own)}`, value: textFor(one) }))
      : [{ name: visible(name), value: textFor(value) }]
  })
}

function textFor(value: unknown): string {
  return block(typeof value === 'string' ? value : JSON.stringify(value))
}
