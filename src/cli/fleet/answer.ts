// `fleet answer ID allow|deny`: shows a question of a machine, and signs the answer with the person's own key.

import { randomBytes } from 'node:crypto'
import { questionText } from '../../asking/question-text.js'
import { visible, visibleName } from '../../core/base/text.js'
import { denyOf, optionFor } from '../../core/verdict/approval.js'
import type { GiveResult } from '../../fleet/database/approvals.js'
import type { FleetQuestion } from '../../fleet/protocol.js'
import { challengeOf, signedWith } from '../../store/approvals/signature.js'
import { chosen } from '../command.js'
import { agrees, canAsk } from '../confirm.js'
import { EXIT, Refusal, usage } from '../refusal.js'
import type { Given } from './action.js'
import { questionsAt, withPerson } from './person-client.js'

export async function run({ options, words, output }: Given): Promise<number> {
  const [id, word] = words
  if (id === undefined || word === undefined) throw usage('Type carabiner fleet answer ID allow, or deny')
  const decision = chosen(word, ['allow', 'deny'] as const, 'carabiner fleet answer has no answer')
  // Whoever sends the question could send another one than the person has seen in the list.
  if (decision === 'allow' && !options.yes && !canAsk(output))
    throw usage('Allowing shows the question and asks: type it in a terminal, or give --yes')
  return withPerson(options, async (client, key) => {
    const found = oneOf((await questionsAt(client, id.toLowerCase())).questions, id)
    const { pending, name } = found
    const option = decision === 'deny' ? denyOf(pending.question) : optionFor(pending.question, 'allow')
    if (option === undefined) throw new Refusal('FLEET_REFUSED', 'The question offers no allow')
    if (decision === 'allow' && !options.yes) {
      await output.print([
        `${pending.id}, on ${visibleName(name)} in ${visible(pending.project)}`,
        ...questionText(pending.question, { lines: Infinity }),
      ])
      if (!(await agrees('Allow this call, once?', output))) {
        await output.print(['not answered'])
        return EXIT.failed
      }
    }
    const nonce = randomBytes(16).toString('base64url')
    const signature = signedWith(key, challengeOf(pending, { option, nonce, asker: found }), nonce)
    const { reason } = options
    const body = { id: pending.id, option, signature, ...(reason !== undefined && { reason }) }
    const result = await client.ask<GiveResult>('answer', { body })
    return output.result({ id: pending.id, decision, ...result }, () => [told(result, found, decision)])
  })
}

function oneOf(questions: readonly FleetQuestion[], typed: string): FleetQuestion {
  const wanted = typed.toLowerCase()
  const found = questions.find(({ id }) => id === wanted)
  if (found) return found
  throw new Refusal('UNKNOWN_QUESTION', `No machine asks ${visibleName(typed)} any more`, {
    hint: 'carabiner fleet approvals lists the open questions.',
  })
}

function told(result: GiveResult, { id, name }: FleetQuestion, decision: 'allow' | 'deny'): string {
  switch (result.status) {
    case 'answered':
      return `${id} ${decision === 'allow' ? 'allowed once' : 'denied'}; the machine learns it at once, or when it is back`
    case 'counted':
      return `${id}: your allow counts; ${result.more} more must allow it`
    case 'too-late':
      throw new Refusal('FLEET_REFUSED', `${firstWords(result, name)} has answered ${id} already`, {
        hint: 'The first answer counts. An allow is used once; a deny holds until the question expires.',
      })
    case 'expired':
      throw new Refusal('FLEET_REFUSED', `${id} has expired`, {
        hint: 'If the agent tries again, a new question is asked.',
      })
    case 'unknown':
      throw new Refusal('UNKNOWN_QUESTION', `There is no question ${id}`)
  }
}

function firstWords(result: Extract<GiveResult, { readonly status: 'too-late' }>, machine: string): string {
  const who = result.by === '' ? 'Somebody' : visibleName(result.by)
  return result.atMachine ? `${who}, on the machine ${visibleName(machine)} itself,` : who
}
