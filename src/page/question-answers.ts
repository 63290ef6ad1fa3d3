// What the screen Approvals asks: open questions, a deny, an allow that a passkey signed, and a new passkey.

import { textOf } from '../core/base/errors.js'
import { quoted, visible } from '../core/base/text.js'
import { optionFor } from '../core/verdict/approval.js'
import { challengeOf, PAGE_HOST, publicKeyIn, signerOf } from '../store/approvals/signature.js'
import type { AnswerResult, Approvals, GivenAnswer, Pending } from '../store/approvals.js'
import { enrolmentCode, localPasskeys, readEnrolment } from '../store/approvers.js'
import { type Answers, NotAnswered, textIn } from './answers.js'
import { OpenOnce } from './open-once.js'
import { passkeysView, signatureIn, signersIn } from './passkeys.js'
import { fieldsOf } from './row.js'
import { block, path } from './shown-text.js'
import type { QuestionsView, QuestionView, WaitingView } from './view/approvals.js'
import type { ActDoneView, ChallengeView } from './view/passkeys.js'

/** Nobody reads more of them at once. */
const MOST_QUESTIONS = 20
/** A longer text of a question is asked for by itself: questions are looked for every second, and each may hold a whole file. */
const LONGEST_TEXT = 16_384

export interface QuestionOptions {
  readonly queue: () => Promise<Approvals>
  /** Only its questions are shown and answered, like its grants and its record. */
  readonly project: string
  /** Puts an answer on record. Resolves to a problem, if there is one. */
  readonly record: (pending: Pending, answer: GivenAnswer) => Promise<string | undefined>
  /** Who denies. An allow has the name of the person who signed it. */
  readonly by: string
  /** Default: the list of this machine. */
  readonly approversFile?: string
}

/** Without a list of approvers nothing here allows: whoever has the cookie need not be a person. */
export function questionAnswers(options: QuestionOptions): Answers {
  const { queue, project, record, by, approversFile } = options
  const challenges = new OpenOnce<{ readonly id: string; readonly option: string }>()
  const enrolments = new OpenOnce<undefined>()
  const told = async (result: AnswerResult, signer = by): Promise<ActDoneView> => {
    if (result.status === 'counted') return { by: visible(signer), problem: moreWords(result.more) }
    if (result.status !== 'answered') throw new NotAnswered(409, notAnswered(result))
    const problem = await record(result.pending, result.answer)
    return {
      by: visible(result.answer.by),
      ...(problem !== undefined && { problem: visible(problem) }),
    }
  }
  return {
    'GET api/questions': async (): Promise<QuestionsView> => {
      const all = await queue()
      const open = await all.open({ project, most: MOST_QUESTIONS })
      const { here, elsewhere } = await all.waiting(project)
      return {
        questions: open.map((one) => shortened(questionView(one))),
        more: Math.max(0, here - open.length),
        elsewhere,
        passkeys: passkeysView(approversFile),
      }
    },
    'GET api/question': async ({ query }): Promise<QuestionView> =>
      questionView(await openQuestion(await queue(), query.get('id') ?? '', project)),
    'GET api/waiting': async (): Promise<WaitingView> => ({
      count: (await (await queue()).waiting(project)).here,
    }),
    'POST api/deny': async ({ body }) => {
      const [id, reason] = [textIn(body, 'id', 100), textIn(body, 'reason').trim()]
      const all = await queue()
      const found = await all.get(id)
      if ('pending' in found && found.pending.project !== project) throw new NotAnswered(409, ELSEWHERE)
      return told(await all.answer(id, { decision: 'deny', by, ...(reason !== '' && { reason }) }))
    },
    'POST api/challenge': async ({ body }): Promise<ChallengeView> => {
      const pending = await openQuestion(await queue(), textIn(body, 'id', 100), project)
      const option = optionFor(pending.question, 'allow')
      if (option === undefined) throw new NotAnswered(409, 'This question offers no allow')
      const signers = signersIn(approversFile)
      const passkeys = localPasskeys(signers)
      const { nonce } = challenges.begin({ id: pending.id, option })
      const challenge = challengeOf(pending, { option, nonce, asker: signers.asker })
      return { challenge, nonce, option, host: PAGE_HOST, passkeys }
    },
    'POST api/allow': async ({ body, origin }) => {
      // The queue would let people allow by typing, and nobody types here.
      const { approvers, asker } = signersIn(approversFile)
      const signature = signatureIn(body)
      const { id, option } = challenges.end(signature.nonce).value
      const all = await queue()
      const challenge = challengeOf(await openQuestion(all, id, project), {
        option,
        nonce: signature.nonce,
        asker,
      })
      // The queue checks the signature again, but cannot know on which page it was made.
      const signer = await signerOf(signature, challenge, approvers, origin).catch((error: unknown) => {
        throw new NotAnswered(403, `This cannot be allowed: ${visible(textOf(error))}`)
      })
      return told(await all.answer(id, { option, by, signature }), signer.name)
    },
    'POST api/passkey/challenge': async () => ({
      challenge: enrolments.begin(undefined).nonce,
      host: PAGE_HOST,
    }),
    'POST api/passkey': async ({ body, origin }) => {
      const challenge = enrolments.end(textIn(body, 'challenge', 100)).nonce
      const [name, id] = [textIn(body, 'name', 100).trim(), textIn(body, 'id', 1024)]
      const made = {
        id,
        attestationObject: textIn(body, 'attestationObject', 32_768),
        clientDataJSON: textIn(body, 'clientDataJSON'),
      }
      try {
        const publicKey = await publicKeyIn(made, { challenge, origin })
        const code = enrolmentCode({ name, id, publicKey })
        readEnrolment(code)
        return { command: `sudo carabiner approvers add ${code}` }
      } catch (error) {
        throw new NotAnswered(400, `This passkey cannot be used: ${textOf(error)}`)
      }
    },
  }
}

const ELSEWHERE = 'This question is of another project. Type carabiner approvals to answer it.'

async function openQuestion(queue: Approvals, id: string, project: string): Promise<Pending> {
  const found = await queue.get(id)
  if ('pending' in found && found.pending.project !== project) throw new NotAnswered(409, ELSEWHERE)
  if (found.status === 'open' && found.pending.id === id) return found.pending
  throw new NotAnswered(409, 'This question is not open any more')
}

export function questionView({ id, question, project, expires }: Pending): QuestionView {
  const { asks, event, session, call, digest } = question
  return {
    id,
    asks: asks.map(({ hook, prompt, reason }) => ({
      hook: visible(hook),
      prompt: block(prompt),
      ...(reason !== undefined && reason !== prompt && { reason: block(reason) }),
    })),
    event: visible(event),
    project: path(project),
    session: visible(session),
    call: fieldsOf(call),
    expires,
    digest,
    ...(optionFor(question, 'allow') !== undefined && { allow: `carabiner approvals allow ${id}` }),
  }
}

/** With `isCut` if anything of it is left out. */
function shortened(view: QuestionView): QuestionView {
  const isLong = (text: string) => text.length > LONGEST_TEXT
  const cut = (text: string) => (isLong(text) ? `${text.slice(0, LONGEST_TEXT)}…` : text)
  const asks = view.asks.map(({ hook, prompt, reason }) => ({
    hook: cut(hook),
    prompt: cut(prompt),
    ...(reason !== undefined && { reason: cut(reason) }),
  }))
  const call = view.call.map(({ name, value }) => ({ name: cut(name), value: cut(value) }))
  const texts = [...view.asks, ...view.call].flatMap((one): readonly string[] => Object.values(one))
  return { ...view, asks, call, ...(texts.some(isLong) && { isCut: true }) }
}

export function moreWords(more: number): string {
  return more === 1 ? 'one more person has to allow it' : `${more} more people have to allow it`
}

function notAnswered(result: Exclude<AnswerResult, { readonly status: 'answered' | 'counted' }>): string {
  switch (result.status) {
    case 'unknown':
      return 'There is no such question any more'
    case 'expired':
      return 'This question has expired. If the agent tries again, a new one is asked.'
    case 'not-signed':
      return `This cannot be allowed: ${result.why}`
    case 'not-offered':
      return `The hooks that ask only offer ${result.options.map(quoted).join(', ')}`
    case 'too-late':
      return `This was answered already: ${visible(result.answer.option)}, by ${visible(result.answer.by)}`
  }
}
