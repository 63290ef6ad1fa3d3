// `carabiner approvals`: questions of hooks that wait for a person, answers to them, and what is always allowed.

import { questionText } from '../../asking/question-text.js'
import { textOf } from '../../core/base/errors.js'
import { visible, visibleName } from '../../core/base/text.js'
import { localTime } from '../../core/base/time.js'
import type { Effect, Grant } from '../../core/verdict/approval.js'
import type { AnswerResult, Approvals, Found } from '../../store/approvals.js'
import { fileStores } from '../../store/file-stores.js'
import type { Sessions } from '../../store/sessions.js'
import { answered, recordRevoked } from '../asking/approval-answer.js'
import { grantLines, pendingLines } from '../asking/print-approvals.js'
import { COMMON_OPTIONS, type Command, chosen } from '../command.js'
import type { Output } from '../output.js'
import { fitted } from '../print/fit.js'
import { shortPath } from '../print/lines.js'
import { painter, width } from '../print/paint.js'
import { EXIT, Refusal, usage } from '../refusal.js'
import { PLACE_OPTIONS, projectFolder } from '../sources.js'
import { userName } from '../user-name.js'

const OPTIONS = {
  reason: { type: 'string', value: 'TEXT', help: 'Why; the model is told.' },
  always: { type: 'boolean', help: 'allow: without a question from now on, if offered.' },
  watch: { type: 'boolean', help: 'Stay, and ask at this terminal as questions come.' },
  all: { type: 'boolean', help: 'revoke: everything that is always allowed in this project.' },
  project: { ...PLACE_OPTIONS.project, help: 'grants, revoke: the project; default: that of this folder.' },
  ...COMMON_OPTIONS,
} as const

const ACTIONS = ['list', 'show', 'allow', 'deny', 'grants', 'revoke'] as const
type Action = (typeof ACTIONS)[number]
const TAKES_ID: ReadonlySet<Action> = new Set(['show', 'allow', 'deny', 'revoke'])

export const command: Command<typeof OPTIONS> = {
  name: 'approvals',
  summary: 'Answer what hooks ask: allow or deny, once or always.',
  positionals: ['[ACTION]', '[ID]'],
  completes: [ACTIONS],
  about:
    'ACTION is list (the default), show, allow, deny, grants or revoke. A question waits here for an hour, of whatever project. An answer holds for that very call, of that session, ' +
    'asked by those hooks, and is used once. grants are the calls that somebody always allows in this project.',
  options: OPTIONS,
  exits: [
    [0, 'done'],
    [1, 'there is no such question, or it was answered already'],
    [64, 'wrong usage'],
  ],
  examples: [
    { does: 'What waits?', line: 'carabiner approvals' },
    {
      does: 'Answer as they come, at this terminal.',
      line: 'carabiner approvals --watch',
      needs: 'a terminal',
    },
    {
      does: 'No, and the model is told why.',
      line: 'carabiner approvals deny k7f3-9qxd --reason "use staging"',
      needs: 'a question',
    },
    { does: 'What is always allowed here?', line: 'carabiner approvals grants' },
  ],
  forPerson({ options, positionals: [action] }) {
    if (action === 'allow') return 'Allowing'
    return options.watch ? 'Answering' : undefined
  },
  async run({ options, positionals: [first = 'list', id, ...more] }, output) {
    const action = chosen(first, ACTIONS, 'carabiner approvals has no')
    if (more.length > 0 || (id !== undefined && !TAKES_ID.has(action))) {
      throw usage(`carabiner approvals ${action} takes no ${JSON.stringify(more[0] ?? id)}`)
    }
    checkOptionsFor(action, options)
    const onTrouble = (text: string) => void output.complain([`carabiner: ${visible(text)}`])
    const queue = await fileStores({ onTrouble }).approvals()
    switch (action) {
      case 'list':
        return options.watch ? watch(queue, output) : list(queue, output)
      case 'show':
        return show(queue, wanted(action, id), output)
      case 'allow':
      case 'deny':
        return answer(queue, wanted(action, id), effectOf(action, options.always), options.reason, output)
      case 'grants':
        return listGrants(projectFolder(options), output)
      case 'revoke':
        return revoke(projectFolder(options), options.all ? undefined : wanted(action, id), output)
    }
  },
}

interface Given {
  readonly reason: string | undefined
  readonly always: boolean
  readonly watch: boolean
  readonly all: boolean
}

/** An option that has no effect where it stands was meant for something else. */
function checkOptionsFor(action: Action, { reason, always, watch, all }: Given): void {
  const misplaced = [
    reason !== undefined && action !== 'allow' && action !== 'deny' && '--reason',
    always && action !== 'allow' && '--always',
    watch && action !== 'list' && '--watch',
    all && action !== 'revoke' && '--all',
  ].find((one) => one !== false)
  if (misplaced) throw usage(`${misplaced} means nothing to carabiner approvals ${action}`)
}

function wanted(action: Action, id: string | undefined): string {
  if (id !== undefined) return id
  const list = action === 'revoke' ? 'carabiner approvals grants' : 'carabiner approvals'
  throw usage(`Which one? carabiner approvals ${action} ID`, `${list} lists them.`)
}

function effectOf(action: 'allow' | 'deny', always: boolean): Effect {
  return always ? 'always' : action
}

// ---- questions ------------------------------------------------------------------------------------------------

async function list(queue: Approvals, output: Output): Promise<number> {
  const open = await queue.open()
  if (output.json) await output.document({ open })
  else await output.print(pendingLines(open, painter(1)))
  return EXIT.ok
}

async function watch(queue: Approvals, output: Output): Promise<number> {
  if (output.json) throw usage('--watch asks a person, and --json is for programs: give one of them')
  const { watchQuestions } = await import('../asking/approval-watch.js')
  return watchQuestions(queue, output)
}

async function show(queue: Approvals, id: string, output: Output): Promise<number> {
  const found = oneOf(await queue.get(id), id)
  const { pending, status, answer: given } = found
  if (output.json) await output.document({ status, ...pending, ...(given && { answer: given }) })
  else {
    const columns = Math.min(width(), 100)
    const end = given
      ? `${status}: ${visible(given.option)}, by ${visibleName(given.by)} at ${localTime(given.at)}`
      : `${status} until ${localTime(pending.expires)}`
    await output.print([
      ...fitted([`${pending.id}, in ${visible(shortPath(pending.project))}`]),
      ...questionText(pending.question, { columns, lines: Infinity }),
      ...fitted([end]),
    ])
  }
  return EXIT.ok
}

type OneFound = Extract<Found, { readonly pending: unknown }>

function oneOf(found: Found, id: string): OneFound {
  if (found.status === 'unknown') throw unknown(id, found.nearest)
  if (found.status !== 'ambiguous') return found
  throw new Refusal('AMBIGUOUS_ID', `${found.ids.length} questions begin with ${visibleName(id)}`, {
    hint: `There is ${found.ids.join(', ')}.`,
  })
}

function unknown(id: string, meant: string | undefined): Refusal {
  const guess = meant === undefined ? '' : `; did you mean ${meant}?`
  return new Refusal('UNKNOWN_QUESTION', `No question is called ${visibleName(id)}${guess}`, {
    hint: 'carabiner approvals lists what waits; old questions are gone.',
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
      `${JSON.stringify(typed)} is too short to be sure; give at least ${SHORTEST} letters of the id`,
    )
  }
  const { pending } = oneOf(await queue.get(typed), typed)
  const given = { decision, by: userName(), ...(reason !== undefined && { reason }) }
  const result = await queue.answer(pending.id, given)
  if (result.status !== 'answered') throw notAnswered(result, typed)
  const problem = await answered(result.pending, result.answer)
  if (output.json) await output.document({ ...result.answer, decision })
  else await output.print([saidOf(decision, result.answer.id)])
  if (problem !== undefined) await output.complain([`carabiner: ${visible(problem)}`])
  return EXIT.ok
}

/** A slip of the finger is nobody's choice. */
const SHORTEST = 4

const SAID: Readonly<Record<Effect, string>> = {
  allow: 'allowed, once, when the agent tries the same call again',
  always: 'allowed from now on, beginning with the same call',
  deny: 'denied',
}

function saidOf(decision: Effect, id: string): string {
  return `${id} ${SAID[decision]}`
}

function notAnswered(result: Exclude<AnswerResult, { readonly status: 'answered' }>, id: string): Refusal {
  switch (result.status) {
    case 'unknown':
      return unknown(id, result.nearest)
    case 'expired':
      return new Refusal('QUESTION_EXPIRED', `${result.pending.id} expired at ${result.pending.expires}`, {
        hint: 'When the agent tries again, it is asked anew.',
      })
    case 'not-offered':
      return new Refusal('NOT_OFFERED', 'The hooks that ask do not offer this', {
        hint: `They offer ${result.options.map(visibleName).join(', ')}.`,
      })
    case 'too-late': {
      const { option, by, at } = result.answer
      const used = result.used ? ', and it was used' : ''
      return new Refusal(
        'ALREADY_ANSWERED',
        `${result.pending.id} was answered already: ${visible(option)}, by ${visibleName(by)} at ${localTime(at)}${used}`,
        {
          hint: `It counts until ${localTime(result.pending.expires)}; after that the same call is asked about anew.`,
        },
      )
    }
  }
}

// ---- grants ---------------------------------------------------------------------------------------------------

async function listGrants(project: string, output: Output): Promise<number> {
  const grants = await storeOf(project).grants()
  if (output.json) await output.document({ grants })
  else await output.print(grantLines(grants, painter(1)))
  return EXIT.ok
}

async function revoke(project: string, id: string | undefined, output: Output): Promise<number> {
  const store = storeOf(project)
  const grants = await store.grants()
  const meant = id === undefined ? grants : [grantCalled(id, grants)]
  const revoked: Grant[] = []
  for (const grant of meant) if (await store.revokeGrant(grant.id)) revoked.push(grant)
  const problems = await recordRevoked(project, revoked)
  if (output.json) await output.document({ revoked })
  else {
    const lines = revoked.map(
      ({ id: gone, tool, event }) => `revoked ${gone.slice(0, 8)}  ${visibleName(tool || event)}`,
    )
    await output.print(lines.length > 0 ? lines : ['nothing is always allowed in this project'])
  }
  if (problems !== undefined) await output.complain([`carabiner: ${visible(problems)}`])
  return EXIT.ok
}

function grantCalled(id: string, grants: readonly Grant[]): Grant {
  const called = grants.filter((grant) => grant.id.startsWith(id.toLowerCase()))
  const [one] = called
  if (one && called.length === 1) return one
  const what = one
    ? `${called.length} grants begin with ${visibleName(id)}`
    : `No grant is called ${visibleName(id)}`
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
