// Who answered what: the answers on record, each with the question and the call that it is about.

import { isObject } from '../core/base/json.js'
import { visible } from '../core/base/text.js'
import type { FireEntry, ShownEntry } from '../store/audit/entry-words.js'
import { answererWords, isFire, toneOf } from '../store/audit/entry-words.js'
import type { EntryFilter, StoredEntry } from '../store/audit-log.js'
import { ANSWERED, rowOf } from './row.js'
import { block } from './shown-text.js'
import type { AnswerView } from './view/approvals.js'

type AnswerEntry = Extract<ShownEntry, { readonly kind: 'approval' }>
type RevokedEntry = Extract<ShownEntry, { readonly kind: 'revoked' }>

/** A call that hooks asked about. */
type AskedEntry = FireEntry & ShownEntry & { readonly approval: NonNullable<FireEntry['approval']> }

/** As long as calls are kept. */
export const ANSWER_DAYS = 30

export function isAboutAnswers(entry: Parameters<EntryFilter>[0]): boolean {
  const { kind } = entry
  return kind === 'approval' || kind === 'revoked' || (isFire(entry as StoredEntry) && 'approval' in entry)
}

/** The newest first, as the entries are. */
export function answersAmong(entries: readonly ShownEntry[]): readonly AnswerView[] {
  const asked = entries.filter(isAsked)
  const given = entries.filter((entry): entry is AnswerEntry => entry.kind === 'approval')
  return entries.flatMap((entry): readonly AnswerView[] => {
    try {
      if (entry.kind === 'approval') return [ofAnswer(entry, asked)]
      if (entry.kind === 'revoked') return [ofRevoked(entry)]
      return isAsked(entry) ? ofCall(entry, given) : []
    } catch {
      return [ofDamaged(entry)]
    }
  })
}

/** Another program may have written the entry. */
function isAsked(entry: ShownEntry): entry is AskedEntry {
  return isFire(entry) && isObject(entry.approval) && isObject(entry.approval.question)
}

/** Shown, so that no answer is missing; its record has the rest. */
function ofDamaged(entry: ShownEntry): AnswerView {
  const { seq, kind, time, gist } = rowOf(entry)
  return { seq, kind, time, said: 'damaged', tone: 'bad', by: 'nobody knows who', how: '', gist, asks: [] }
}

/** An answer through the queue: the call was asked about before, and is made again after it. */
function ofAnswer(entry: AnswerEntry, asked: readonly AskedEntry[]): AnswerView {
  const { through, decision, reason } = entry
  const about = asked.filter(({ digest, session }) => digest === entry.digest && session === entry.session)
  const use = about.findLast((call) => isUse(call, entry))
  return {
    ...basis(entry, about[0]),
    said: ANSWERED[decision] ?? visible(decision),
    by: visible(answererWords(entry)),
    how: through === undefined ? '' : (HOW[through] ?? visible(String(through))),
    ...(entry.tool !== undefined && { tool: visible(entry.tool) }),
    session: visible(entry.session),
    ...(reason !== undefined && { reason: block(reason) }),
    ...(use && { used: use.time }),
  }
}

const HOW: Readonly<Record<string, string>> = {
  passkey: 'with a passkey',
  page: 'on the page',
  terminal: 'in a terminal',
}

function isUse({ approval, time, digest, session }: AskedEntry, given: AnswerEntry): boolean {
  const answer = approval.answer
  if (!answer || digest !== given.digest || session !== given.session || time < given.time) return false
  return answer.by === given.by && (answer.decision === 'deny') === (given.decision === 'deny')
}

function ofRevoked(entry: RevokedEntry): AnswerView {
  const { by, tool, hook, about, reason } = entry
  return {
    ...basis(entry, undefined),
    gist: block(about ?? ''),
    said: 'revoked',
    by: visible(by ?? 'nobody knows who'),
    how: hook === undefined ? '' : `for ${visible(hook)}`,
    ...(tool !== undefined && { tool: visible(tool) }),
    ...(reason !== undefined && { reason: block(reason) }),
  }
}

/** Answers that no person gave for this call. */
const NOT_PEOPLE: readonly string[] = ['grant', 'host']

/** An answer that was given while the call waited. None if it is on record by itself, or if nobody gave it. */
function ofCall(entry: AskedEntry, given: readonly AnswerEntry[]): readonly AnswerView[] {
  const { answer } = entry.approval
  if (!answer || NOT_PEOPLE.includes(answer.by) || given.some((one) => isUse(entry, one))) return []
  const { decision, option, reason } = answer
  const isAlways = decision === 'allow' && /^allow always\b/i.test(option ?? '')
  return [
    {
      ...basis(entry, entry),
      said: ANSWERED[isAlways ? 'always' : decision] ?? visible(decision),
      by: answer.by === 'default' ? 'nobody' : visible(answererWords(answer)),
      how:
        option !== undefined
          ? 'while the call waited'
          : answer.by === 'default'
            ? 'in time'
            : 'a hook in place of a person',
      ...(entry.tool !== undefined && { tool: visible(entry.tool) }),
      session: visible(entry.session),
      ...(reason !== undefined && { reason: block(reason) }),
      used: entry.time,
    },
  ]
}

function basis(entry: ShownEntry, call: AskedEntry | undefined) {
  return {
    seq: entry.seq,
    kind: entry.kind,
    time: visible(entry.time),
    tone: toneOf(entry),
    gist: call ? rowOf(call).gist : '',
    asks: (call?.approval.question.asks ?? []).map(({ hook, prompt }) => ({
      hook: visible(hook),
      prompt: block(prompt),
    })),
  }
}
