// Questions to the person, or to the model, that are inside a reply of the server. The client asks them as it does for
// elicitation/create, so hooks see the same event.

import { isObject, type Json } from '../../../core/base/json.js'
import { failure, type JudgeReply, type RpcFailure, type RpcReply } from '../judge.js'
import { mistakenInQuestions } from '../protocol-keys.js'
import { askedOf, changedParams } from './elicitation.js'
import { asParams, type JudgedEvent, type Judging } from './judging.js'

/** The error "URL elicitation required": a person has to visit the addresses in its data before the request is made again. */
const NEEDS_VISIT = -32042
/** Their hooks would see neither these questions nor the answers. */
const ASKING: readonly JudgedEvent[] = ['Elicitation', 'ElicitationResult', 'ModelRequest', 'ModelResponse']

export function judgeQuestions(judging: Judging): JudgeReply {
  return (reply, request) => {
    if ('error' in reply)
      return reply.error.code === NEEDS_VISIT
        ? judgeVisits(judging, reply.error, reply, request.signal)
        : undefined
    // A later revision of the protocol has questions in results. Their answers come with the next request.
    if (!isObject(reply.result) || !Object.hasOwn(reply.result, 'inputRequests')) return undefined
    if (!judging.listensTo(ASKING)) return undefined
    return Promise.resolve(failure('The result is not passed on: hooks cannot judge the questions in it'))
  }
}

async function judgeVisits(
  judging: Judging,
  error: RpcFailure,
  given: RpcReply,
  signal: AbortSignal,
): Promise<RpcReply> {
  const { elicitations } = asParams(error.data)
  const questions = Array.isArray(elicitations) ? (elicitations as readonly Json[]) : []
  const mistaken = mistakenInQuestions(error.data, questions)
  if (mistaken !== undefined) return failure(`The questions are not passed on, because ${mistaken}`)
  let isChanged = false
  const judged: Json[] = []
  for (const question of questions) {
    const params = asParams(question)
    const { outcome, refusal } = await judging.fire(
      'Elicitation',
      askedOf(judging, params),
      signal,
      given.line,
    )
    if (refusal !== undefined) return failure(refusal)
    if (outcome.host?.action !== undefined)
      return failure('A hook answered in place of the person, but the person has to visit an address')
    isChanged ||= outcome.modified
    judged.push(outcome.modified ? changedParams(params, outcome.data) : question)
  }
  if (!isChanged) return given
  return { error: { ...error, data: { ...asParams(error.data), elicitations: judged } as Json } }
}
