// What the screen Approvals of a fleet asks: open questions of all machines, a deny, and an allow that a passkey signed.

import { textOf } from '../../core/base/errors.js'
import { visible } from '../../core/base/text.js'
import { denyOf, optionFor } from '../../core/verdict/approval.js'
import {
  type GiveResult,
  type OpenQuestions,
  openQuestions,
  type QuestionRow,
  questionOf,
} from '../../fleet/database/approvals.js'
import type { Database } from '../../fleet/database/connection.js'
import { giveAnswer } from '../../fleet/gateway/approvals.js'
import { GatewayRefusal } from '../../fleet/gateway-refusal.js'
import { QUESTION_ID } from '../../fleet/protocol.js'
import { challengeOf, signerOf } from '../../store/approvals/signature.js'
import { readPending } from '../../store/approvals/stored-question.js'
import type { Pending } from '../../store/approvals.js'
import type { Asker } from '../../store/approvers.js'
import { NotAnswered, textIn } from '../answers.js'
import { signatureIn } from '../passkeys.js'
import { moreWords, questionView } from '../question-answers.js'
import type { QuestionView } from '../view/approvals.js'
import type { FleetQuestionsView } from '../view/fleet.js'
import type { ActDoneView, ChallengeView } from '../view/passkeys.js'
import type { FleetAnswers } from './asked.js'
import type { Challenges } from './challenges.js'
import type { Visitor } from './visitors.js'

const MOST_SHOWN = 100

/** The machine that asked checks the signature again: neither this server nor the database can allow anything. */
export function questionAnswers(database: Database, challenges: Challenges, origin: string): FleetAnswers {
  return {
    'GET api/questions': {
      role: 'viewer',
      // With an id, also that one, if it still waits.
      answer: async ({ query }): Promise<FleetQuestionsView> => {
        const open = await openQuestions(database)
        const { rows, hidden } = open
        const shown = rows.slice(0, MOST_SHOWN)
        const linked = await linkedIn(database, open, query.get('id') ?? '')
        const questions = (linked && !shown.includes(linked) ? [linked, ...shown] : shown)
          .map(viewOf)
          .filter((one) => one !== undefined)
        return { questions, hidden: hidden + rows.length - questions.length }
      },
    },
    'POST api/deny': {
      role: 'approver',
      answer: async ({ body, visitor }) => {
        const { id, pending } = await openQuestion(database, body)
        const reason = textIn(body, 'reason').trim()
        const option = denyOf(pending.question)
        return given(database, visitor, { id, option, ...(reason !== '' && { reason }) })
      },
    },
    'POST api/challenge': {
      role: 'approver',
      answer: async ({ body, visitor }): Promise<ChallengeView> => {
        const { id, asker, pending } = await openQuestion(database, body)
        const option = allowOf(pending)
        const nonce = await challenges.begin(purposeOf(id, option, visitor))
        const challenge = challengeOf(pending, { option, nonce, asker })
        const { id: passkey, rpId } = visitor.passkey
        return { challenge, nonce, option, host: rpId, passkeys: [passkey] }
      },
    },
    'POST api/allow': {
      role: 'approver',
      answer: async ({ body, visitor }) => {
        const { id, asker, pending } = await openQuestion(database, body)
        const option = allowOf(pending)
        const signature = signatureIn(body)
        const { nonce } = signature
        await challenges.check(nonce, purposeOf(id, option, visitor))
        const signer = { name: visitor.name, key: visitor.passkey }
        const challenge = challengeOf(pending, { option, nonce, asker })
        await signerOf(signature, challenge, [signer], origin).catch((error: unknown) => {
          throw new NotAnswered(403, `This cannot be allowed: ${visible(textOf(error))}`)
        })
        return given(database, visitor, { id, option, signature })
      },
    },
  }
}

/** Of those that no list has, only a denied or used one looks open: whoever answers it learns that it is not. */
async function linkedIn(
  database: Database,
  { rows, hidden }: OpenQuestions,
  id: string,
): Promise<QuestionRow | undefined> {
  if (!QUESTION_ID.test(id)) return undefined
  const listed = rows.find((row) => row.id === id)
  if (listed || hidden === 0) return listed
  const row = await questionOf(database, id)
  return row && row.expires.getTime() > Date.now() && row.allowed < row.people ? row : undefined
}

/** A signature counts for this answer of this person in this session. */
function purposeOf(id: string, option: string, { session }: Visitor) {
  return { what: 'fleet-answer', id, option, session: session.toString('base64url') } as const
}

interface OpenQuestion {
  readonly id: string
  readonly asker: Asker
  readonly pending: Pending
}

async function openQuestion(database: Database, body: unknown): Promise<OpenQuestion> {
  const row = await questionOf(database, textIn(body, 'id', 100))
  const pending = row && pendingIn(row)
  if (pending) return { id: row.id, asker: row, pending }
  throw new NotAnswered(409, 'There is no such question any more')
}

function pendingIn({ body }: QuestionRow): Pending | undefined {
  try {
    return readPending(JSON.parse(body), 'the question')
  } catch {
    return undefined
  }
}

function allowOf({ question }: Pending): string {
  const option = optionFor(question, 'allow')
  if (option !== undefined) return option
  throw new NotAnswered(409, 'This question offers no allow')
}

function viewOf(row: QuestionRow): QuestionView | undefined {
  const pending = pendingIn(row)
  if (!pending) return undefined
  const { allow, ...view } = questionView(pending)
  const { id, name } = row
  const note = noteOf(row)
  return {
    ...view,
    machine: visible(name),
    // The home folder is that of another machine.
    project: visible(pending.project),
    ...(allow !== undefined && { allow: `carabiner fleet answer ${id} allow` }),
    ...(note !== '' && { note }),
  }
}

function noteOf({ people, allowed, rejected }: QuestionRow): string {
  return [
    ...(people > 1 ? [`${people} people have to allow it; ${allowed || 'nobody'} did so far.`] : []),
    ...(rejected === null ? [] : [`The machine did not accept the last answer: ${visible(rejected)}`]),
  ].join(' ')
}

type Answered = Omit<Parameters<typeof giveAnswer>[1], 'by'>

async function given(database: Database, { name }: Visitor, answer: Answered): Promise<ActDoneView> {
  const result = await giveAnswer(database, { ...answer, by: name }).catch((error: unknown) => {
    throw error instanceof GatewayRefusal ? new NotAnswered(403, visible(error.message)) : error
  })
  switch (result.status) {
    case 'answered':
      return { by: visible(name) }
    case 'counted':
      return { by: visible(name), problem: moreWords(result.more) }
    default:
      throw new NotAnswered(409, notAnswered(result))
  }
}

function notAnswered(result: GiveResult): string {
  if (result.status === 'too-late')
    return `This was answered already${result.by === '' ? '' : ` by ${visible(result.by)}`}${result.atMachine ? ', on the machine that asked' : ''}`
  return result.status === 'expired'
    ? 'This question has expired. If the agent tries again, a new one is asked.'
    : 'There is no such question any more'
}
