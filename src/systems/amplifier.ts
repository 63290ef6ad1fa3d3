// Amplifier's HookResult in a hook's JSON: `action` and its fields, in camelCase or snake_case.

import { type DiagnosticSink, textOf } from '../core/base/errors.js'
import { isObject } from '../core/base/json.js'
import { shown } from '../core/base/text.js'
import { ACTIONS, type Action, actionRow, isAction, isVerdict, rankOf } from '../core/events/actions.js'
import { fieldCalled, type HookResult, parseResult } from '../core/events/result.js'
import { closingAmong, entriesOf, meaningOf } from './closing.js'

type Source = Readonly<Record<string, unknown>>
type Field = Exclude<keyof HookResult, 'action'>

/** An answer in the fields of HookResult. */
export type Said = Partial<HookResult>

export function actionOf({ action }: Source): Action | undefined {
  return isAction(action) ? action : undefined
}

/** Fields that open something, or mean nothing without a verdict. They only count beside `action`. */
const ONLY_WITH_ACTION: ReadonlySet<Field> = new Set<Field>([
  'reason',
  'data',
  'response',
  'permission',
  'host',
])

/** Terms of a question. They may also be in hookSpecificOutput, beside `permissionDecision`. */
const TERMS: ReadonlySet<Field> = new Set<Field>([
  'approvalPrompt',
  'approvalOptions',
  'approvalTimeout',
  'approvalDefault',
  'approvalPeople',
])

export type ApprovalTerms = Pick<
  HookResult,
  'approvalPrompt' | 'approvalOptions' | 'approvalTimeout' | 'approvalDefault' | 'approvalPeople'
>

export function isTerm(key: string): boolean {
  const field = fieldCalled(key)
  return field !== undefined && field !== 'action' && TERMS.has(field)
}

/** Whether a key counts in an answer with this action, or without one. */
export function isSaid(key: string, action: Action | undefined): boolean {
  const field = fieldCalled(key)
  if (field === undefined || field === 'action') return field !== undefined && action !== undefined
  return action !== undefined || !ONLY_WITH_ACTION.has(field)
}

/** The action and the well-formed fields beside it. Each malformed one becomes a sentence in `problems`. */
export function saidIn(source: Source, problems: string[]): Said {
  const action = actionOf(source)
  const counts = (field: Field) => action !== undefined || !ONLY_WITH_ACTION.has(field)
  const said = fieldsIn(source, (field) => !TERMS.has(field) && counts(field), problems)
  return action === undefined ? said : { ...said, action }
}

/** The problem with an unknown action. Its author meant something by it. */
export function strangeAction({ action = null }: Source): string | undefined {
  if (action === null || isAction(action) || meaningOf('action', action)) return undefined
  return `action ${shown(action)} is unknown; it must be one of ${Object.keys(ACTIONS).join(', ')}`
}

/** A sentence about a missing field; undefined if there is none. */
export function lacking(said: Said): string | undefined {
  const needs = said.action && actionRow(said.action).needs
  return needs && !(needs in said) ? `${said.action} needs ${needs}` : undefined
}

/**
 * The first object that has a term decides it. A malformed term is reported and left out, and the question stands, as it
 * does in other agents, which have no terms.
 */
export function approvalTerms(sources: readonly Source[], problems: string[]): ApprovalTerms {
  const terms = sources.map((source) => fieldsIn(source, (field) => TERMS.has(field), problems))
  return Object.assign({}, ...terms.reverse()) as ApprovalTerms
}

function fieldsIn(source: Source, wanted: (field: Field) => boolean, problems: string[]): Said {
  const fields: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(source)) {
    const field = fieldCalled(key)
    if (field === undefined || field === 'action' || !wanted(field)) continue
    try {
      const read = parseResult({ action: 'ask_user', [key]: value }, [])
      if (field in read) fields[field] = read[field]
    } catch (error) {
      problems.push(textOf(error))
      // Whoever names a number of people wants more than one.
      if (field === 'approvalPeople') fields[field] = 2
    }
  }
  return fields as Said
}

/** Reads a handler's return value: a HookResult, or anything with a closing word, which counts in every spelling. */
export function readResult(value: unknown, diagnostics: DiagnosticSink): HookResult {
  const found = isObject(value) ? closingAmong(entriesOf(value)) : undefined
  const action = isObject(value) ? actionOf(value) : undefined
  if (!found || (action && isVerdict(action) && rankOf(action) >= rankOf(found.means)))
    return parseResult(value, diagnostics)
  const { means, said, reason } = found
  const text = `${said} counts as "action":"${means}"; return that`
  diagnostics.push({ code: 'answer-misplaced', text, todo: `Return "action":"${means}".` })
  return { action: means, ...(reason !== undefined && { reason }) }
}
