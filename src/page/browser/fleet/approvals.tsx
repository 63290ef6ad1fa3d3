// Approvals: questions of every machine of the fleet that wait for a person.

import { useState } from 'preact/hooks'
import type { FleetQuestionsView } from '../../view/fleet.js'
import type { PasskeysView } from '../../view/passkeys.js'
import { counted } from '../format.js'
import { QuestionList } from '../question-list.js'
import type { Route } from '../route.js'
import { useLive } from './live.js'
import type { FleetScreenProps } from './screen-props.js'

/** A link names the question that it is about, which may be one of too many to show. */
export function questionsPath({ screen, item }: Route): string {
  return screen === 'approvals' && item !== ''
    ? `api/questions?id=${encodeURIComponent(item)}`
    : 'api/questions'
}

export function Approvals({ me, route }: FleetScreenProps) {
  const { value, problem, again } = useLive<FleetQuestionsView>(questionsPath(route))
  const [done, setDone] = useState('')
  const onDone = (text: string) => {
    setDone(text)
    again()
  }
  const passkeys: PasskeysView | undefined =
    me.role === 'viewer' ? undefined : { state: 'ready', names: [me.name] }
  const questions = value?.questions.toSorted(
    (a, b) => Number(b.id === route.item) - Number(a.id === route.item),
  )
  return (
    <>
      <QuestionList
        {...{ questions, passkeys, problem, done, onDone }}
        nothing="No question waits for an answer."
      >
        {questions && route.item !== '' && questions[0]?.id !== route.item && (
          <p class="intro">The question of this link does not wait for an answer any more.</p>
        )}
        {me.role === 'viewer' && <p class="intro">You may look. An approver answers.</p>}
      </QuestionList>
      {value && value.hidden > 0 && (
        <p class="dim">
          {counted(value.hidden, 'more question')} cannot be shown here, or wait behind these.
        </p>
      )}
    </>
  )
}
