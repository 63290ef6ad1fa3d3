// `carabiner approvals`: questions of hooks that wait for a person, their answers, and what is always allowed.

import { callLine, questionText } from '../../asking/question-text.js'
import { textOf } from '../../core/base/errors.js'
import { visible, visibleName } from '../../core/base/text.js'
import { localTime } from '../../core/base/time.js'
import type { Effect, Grant } from '../../core/verdict/approval.js'
import type { AnswerResult, Approvals, Found, Pending } from '../../store/approvals.js'
import type { Entry } from '../../store/audit-log.js'
import { approvalsIn, fileStores } from '../../store/file-stores.js'
import type { Sessions } from '../../store/sessions.js'
import { allowCommand, checkSigners } from '../allow-command.js'
import { entryOf, record, recordAnswer, recordRevoked } from '../answer-record.js'
import { type Command, checkOwners, choiceOf, chosen } from '../command.js'
import type { Output } from '../output.js'
import { checkPerson, userName } from '../person.js'
import { cutTo, fitted, shownColumns } from '../print/fit.js'
import { columns, counted, nextLines, oneLine, shortPath } from '../print/lines.js'
import { type Paint, width } from '../print/terminal.js'
import { EXIT, Refusal, usage } from '../refusal.js'
import { PLACE_OPTIONS, projectFolder } from '../sources.js'

const OPTIONS = {
  reason: { type: 'string', value: 'TEXT', help: 'The reason, which the model is told.' },
  always: { type: 'boolean', help: 'allow: also from now on, if the hook offers it.' },
  watch: { type: 'boolean', help: 'Wait for questions, and ask them at this terminal.' },
  all: {
    type: 'boolean',
    help: 'deny: every open question. revoke: all grants of this project.',
  },
  project: {
    ...PLACE_OPTIONS.project,
    help: 'The project for grants, revoke and deny --all.',
  },
} as const

const ACTIONS = ['list', 'show', 'allow', 'deny', 'grants', 'revoke'] as const
type Action = (typeof ACTIONS)[number]
const OWNERS: Readonly<Record<string, readonly Action[]>> = {
  reason: ['allow', 'deny'],
  always: ['allow'],
  watch: ['list'],
  all: ['deny', 'revoke'],
}
const TAKES_ID: ReadonlySet<Action> = new Set(['show', 'allow', 'deny', 'revoke'])

export const command: Command<typeof OPTIONS> = {
  name: 'approvals',
  summary: 'Answer what hooks ask: allow or deny, once or always.',
  positionals: ['[ACTION]', '[ID]'],
  completes: [ACTIONS],
  about:
    'ACTION is list (the default), show, allow, deny, grants or revoke. Questions from all projects wait here for an hour. ' +
    'An answer counts once: for exactly this call, in this session, asked by these hooks. grants lists the calls that ' +
    'are always allowed in this project. deny --all covers all projects unless --project names one.',
  options: OPTIONS,
  exits: [
    [0, 'done'],
    [1, 'there is no such question, or it was answered already'],
  ],
  examples: [
    { does: 'Which questions are open?', line: 'carabiner approvals' },
    {
      does: 'Answer questions at this terminal as they come.',
      line: 'carabiner approvals --watch',
      needs: 'a terminal',
    },
    {
      does: 'Deny, and tell the model why.',
      line: 'carabiner approvals deny k7f3-9qxd --reason "use staging"',
      needs: 'a question',
    },
    { does: 'Deny every open question.', line: 'carabiner approvals deny --all --reason "not now"' },
    { does: 'What is always allowed here?', line: 'carabiner approvals grants' },
  ],
  mayRun({ options, positionals: [action] }) {
    if (action === 'allow') checkPerson('Allowing')
    if (action === 'deny' && options.all) checkPerson('Answering everything')
    if (options.watch) checkPerson('Answering')
  },
  async run({ options, positionals: [first = 'list', id, ...more] }, output) {
    const action = chosen(first, ACTIONS, 'carabiner approvals has no action')
    if (more.length > 0 || (id !== undefined && !TAKES_ID.has(action))) {
      throw usage(`carabiner approvals ${action} does not accept ${JSON.stringify(more[0] ?? id)}`)
    }
    checkOwners('approvals', action, options, OWNERS)
    if (options.all && id !== undefined) throw usage('Give an ID or --all, not both')
    const onTrouble = (text: string) => void output.complain([`carabiner: ${visible(text)}`])
    const queue = await approvalsIn({ onTrouble })
    switch (action) {
      case 'list':
        return options.watch ? watch(queue, output) : list(queue, output)
      case 'show':
        return show(queue, wanted(action, id), output)
      case 'deny':
        if (options.all) return denyAll(queue, options, output)
        return answer(queue, wanted(action, id), action, options.reason, output)
      case 'allow':
        return answer(queue, wanted(action, id), options.always ? 'always' : action, options.reason, output)
      case 'grants':
        return listGrants(projectFolder(options), output)
      case 'revoke':
        return revoke(projectFolder(options), options.all ? undefined : wanted(action, id), output)
    }
  },
}

function wanted(action: Action, id: string | undefined): string {
  if (id !== undefined) return id
  const list = action === 'revoke' ? 'carabiner approvals grants' : 'carabiner approvals'
  throw usage(`Which one? carabiner approvals ${action} ID`, `${list} lists them.`)
}

// ---- questions ------------------------------------------------------------------------------------------------

async function list(queue: Approvals, output: Output): Promise<number> {
  const open: OpenQuestion[] = []
  for (const pending of await queue.open()) {
    const { people = 1 } = pending.question
    const found = people > 1 ? await queue.get(pending.id) : undefined
    open.push({ ...pending, ...(found?.status === 'open' && { allowed: found.allowed ?? [] }) })
  }
  return output.result({ open }, (paint) => pendingLines(open, paint))
}

/** `allowed`: who has allowed it so far, if several people have to. */
type OpenQuestion = Pending & { readonly allowed?: readonly string[] }

function allowedWords({ question: { people }, allowed }: OpenQuestion): string {
  if (allowed === undefined) return ''
  const names = allowed.length === 0 ? '' : ` (${allowed.map(visibleName).join(', ')})`
  return `${allowed.length} of ${people} have allowed it${names}`
}

async function watch(queue: Approvals, output: Output): Promise<number> {
  if (output.json) throw usage('--watch asks a person, and --json is for programs: use one or the other')
  const { watchQuestions } = await import('../approval-watch.js')
  return watchQuestions({ queue, output, record: recordAnswer })
}

async function show(queue: Approvals, id: string, output: Output): Promise<number> {
  const found = oneOf(await queue.get(id), id)
  const { pending, status, answer: given } = found
  const end = given
    ? `${status}: ${visible(given.option)}, by ${visibleName(given.by)} at ${localTime(given.at)}`
    : [
        `${status} until ${localTime(pending.expires)}`,
        allowedWords({ ...pending, ...(found.allowed && { allowed: found.allowed }) }),
      ]
        .filter((part) => part !== '')
        .join('; ')
  return output.result(
    { status, ...pending, ...(found.allowed && { allowed: found.allowed }), ...(given && { answer: given }) },
    () => [
      ...fitted([`${pending.id}, in ${visible(shortPath(pending.project))}`]),
      ...questionText(pending.question, { columns: Math.min(width(), 100), lines: Infinity }),
      ...fitted([end]),
    ],
  )
}

type OneFound = Extract<Found, { readonly pending: unknown }>

function oneOf(found: Found, id: string): OneFound {
  if (found.status === 'unknown') throw unknown(id, found.nearest)
  if (found.status !== 'ambiguous') return found
  throw new Refusal('AMBIGUOUS_ID', `${found.ids.length} questions begin with ${visibleName(id)}`, {
    hint: choiceOf(found.ids),
  })
}

function unknown(id: string, meant: string | undefined): Refusal {
  const guess = meant === undefined ? '' : `; did you mean ${meant}?`
  return new Refusal('UNKNOWN_QUESTION', `There is no question ${visibleName(id)}${guess}`, {
    hint: 'carabiner approvals lists the open questions; old ones are removed.',
  })
}

async function answer(
  queue: Approvals,
  typed: string,
  decision: Effect,
  reason: string | undefined,
  output: Output,
): Promise<number> {
  if (typed.replace(/\W/g, '').length < SHORTEST) {
    throw usage(
      `${JSON.stringify(typed)} is too short to identify a question; give at least ${SHORTEST} characters of the id`,
    )
  }
  const { pending } = oneOf(await queue.get(typed), typed)
  const given = { decision, by: userName(), ...(reason !== undefined && { reason }) }
  if (decision !== 'deny') checkSigners()
  const result = await queue.answer(pending.id, given)
  if (result.status !== 'answered') throw notAnswered(result, pending.id)
  const problem = await recordAnswer(result.pending, result.answer)
  await output.result({ ...result.answer, decision }, () => [`${result.answer.id} ${SAID[decision]}`])
  if (problem !== undefined) await output.complain([`carabiner: ${visible(problem)}`])
  return EXIT.ok
}

/** Questions that somebody else answers meanwhile stay answered as they were. */
async function denyAll(
  queue: Approvals,
  { project, reason }: { readonly project?: string | undefined; readonly reason?: string | undefined },
  output: Output,
): Promise<number> {
  const only = project === undefined ? undefined : projectFolder({ project })
  const open = await queue.open(only === undefined ? undefined : { project: only })
  const denied: string[] = []
  const entries = new Map<string, Entry[]>()
  for (const { id } of open) {
    const given = { decision: 'deny', by: userName(), ...(reason !== undefined && { reason }) } as const
    const result = await queue.answer(id, given)
    if (result.status !== 'answered') continue
    denied.push(id)
    const { pending } = result
    entries.set(pending.project, [...(entries.get(pending.project) ?? []), entryOf(pending, result.answer)])
  }
  for (const [where, own] of entries) {
    const problem = await record(where, own)
    if (problem !== undefined) await output.complain([`carabiner: ${visible(problem)}`])
  }
  return output.result({ denied }, () => [
    denied.length === 0 ? 'no pending approvals' : `denied ${counted(denied.length, 'question')}`,
  ])
}

/** A shorter id may be a typing slip. */
const SHORTEST = 4

const SAID: Readonly<Record<Effect, string>> = {
  allow: 'allowed once, the next time the agent makes the same call',
  always: 'always allowed from now on, starting with the same call',
  deny: 'denied',
}

function notAnswered(result: Exclude<AnswerResult, { readonly status: 'answered' }>, id: string): Refusal {
  switch (result.status) {
    case 'unknown':
      return unknown(id, result.nearest)
    case 'expired':
      return new Refusal('QUESTION_EXPIRED', `${result.pending.id} expired at ${result.pending.expires}`, {
        hint: 'If the agent tries again, a new question is asked.',
      })
    case 'not-signed':
      return new Refusal('NEEDS_PASSKEY', `This cannot be allowed: ${result.why}`, {
        hint: `Somebody on the list types ${allowCommand(id)}`,
      })
    case 'counted':
      return new Refusal(
        'NEEDS_PASSKEY',
        `${result.pending.id}: that allow counts, and ${result.more} more must allow it`,
      )
    case 'not-offered':
      return new Refusal('NOT_OFFERED', 'The hooks that ask do not offer this answer', {
        hint: `They offer ${result.options.map(visibleName).join(', ')}.`,
      })
    case 'too-late': {
      const { option, by, at } = result.answer
      const used = result.used ? ', and it was used' : ''
      return new Refusal(
        'ALREADY_ANSWERED',
        `${result.pending.id} was answered already: ${visible(option)}, by ${visibleName(by)} at ${localTime(at)}${used}`,
        {
          hint: `That answer counts until ${localTime(result.pending.expires)}; after that, the same call raises a new question.`,
        },
      )
    }
  }
}

// ---- grants ---------------------------------------------------------------------------------------------------

async function listGrants(project: string, output: Output): Promise<number> {
  const grants = await storeOf(project).grants()
  return output.result({ grants }, (paint) => grantLines(grants, paint))
}

async function revoke(project: string, id: string | undefined, output: Output): Promise<number> {
  const store = storeOf(project)
  const grants = await store.grants()
  const meant = id === undefined ? grants : [grantCalled(id, grants)]
  const revoked: Grant[] = []
  for (const grant of meant) if (await store.revokeGrant(grant.id)) revoked.push(grant)
  const problems = await recordRevoked(project, revoked, userName())
  await output.result({ revoked }, () =>
    revoked.length === 0
      ? ['no grants in this project']
      : revoked.map((one) => `revoked ${one.id.slice(0, 8)}  ${visibleName(one.tool || one.event)}`),
  )
  if (problems !== undefined) await output.complain([`carabiner: ${visible(problems)}`])
  return EXIT.ok
}

function grantCalled(id: string, grants: readonly Grant[]): Grant {
  const called = grants.filter((grant) => grant.id.startsWith(id.toLowerCase()))
  const [one] = called
  if (one && called.length === 1) return one
  const what = one
    ? `${called.length} grants begin with ${visibleName(id)}`
    : `There is no grant ${visibleName(id)}`
  throw new Refusal('UNKNOWN_GRANT', what, {
    hint: 'carabiner approvals grants lists those of this project.',
  })
}

function storeOf(projectDir: string): Sessions {
  try {
    return fileStores({ projectDir }).sessions
  } catch (error) {
    throw new Refusal('STORE_UNUSABLE', textOf(error))
  }
}

// ---- lines for people ------------------------------------------------------------------------------------------

function pendingLines(open: readonly OpenQuestion[], paint: Paint, now = Date.now()): readonly string[] {
  if (open.length === 0) return ['no pending approvals']
  const rows = columns(open.map((one) => [one.id, leftOf(one.expires, now), whatOf(one), saidIn(one)]))
  const [first] = open as readonly [OpenQuestion, ...OpenQuestion[]]
  return [
    ...fitted(
      rows.map(([id = '', left = '', what = '', said = '']) => {
        const room = Math.max(20, width() - shownColumns([id, left, what].join('  ')) - 2)
        return `${paint.bold(id)}  ${paint.dim(left)}  ${what}  ${cutTo(oneLine(said), room)}`
      }),
    ),
    ...nextLines(
      [
        `carabiner approvals show ${first.id}`,
        allowCommand(first.id),
        `carabiner approvals deny ${first.id} --reason "…"`,
      ],
      paint,
    ),
  ]
}

function whatOf({ question: { event, call } }: Pending): string {
  const tool = typeof call.tool_name === 'string' ? call.tool_name : event
  return visibleName(tool)
}

function saidIn(one: OpenQuestion): string {
  const { question, project } = one
  const allowed = allowedWords(one)
  const [ask] = question.asks
  const prompt = ask === undefined ? '' : ` · ${visibleName(ask.hook)} asks: ${visible(oneLine(ask.prompt))}`
  return `${allowed === '' ? '' : `${allowed} · `}${callLine(question.call)}${prompt} (${visible(shortPath(project))}, session ${visibleName(question.session)})`
}

/** `4 min left` */
function leftOf(expires: string, now: number): string {
  const seconds = Math.max(0, Math.round((Date.parse(expires) - now) / 1000))
  return seconds < 120 ? `${seconds} s left` : `${Math.round(seconds / 60)} min left`
}

function grantLines(grants: readonly Grant[], paint: Paint): readonly string[] {
  if (grants.length === 0) return ['no grants in this project']
  const rows = columns(
    grants.map(({ id, tool, event, hook, about = '', by, created, expires }) => [
      id.slice(0, 8),
      visibleName(tool || event),
      visible(oneLine(about, 60)),
      visible(oneLine(hook)),
      `${by === undefined ? '' : `by ${visibleName(by)} `}since ${localTime(created)}${expires === undefined ? '' : `, until ${localTime(expires)}`}`,
    ]),
  )
  return [
    ...fitted(rows.map(([id = '', ...rest]) => `${paint.bold(id)}  ${rest.join('  ')}`)),
    ...nextLines([`carabiner approvals revoke ${grants[0]?.id.slice(0, 8)}`], paint),
  ]
}
