// Approvals: questions of every machine of the fleet that wait for a person.

import { useState } from 'preact/hooks'
import type { FleetQuestionsView } from '../../view/fleet.js'
import type { PasskeysView } from '../../view/passkeys.js'
import { counted } from '../format.js'
import { QuestionList } from '../question-list.js'
import { useLive } from './live.js'
import type { FleetScreenProps } from './screen-props.js'

export function Approvals({ me, route }: FleetScreenProps) {
  const { value, problem, again } = useLive<FleetQuestionsView>('api/questions')
  const [done, setDone] = useState('')
  const onDone = (text: string) => {
    setDone(text)
    again()
  }
  const passkeys: PasskeysView | undefined =
    me.role === 'viewer' ? undefined : { state: 'ready', names: [me.name] }
  // A link names the question that it is about.
  const questions = value?.questions.toSorted(
    (a, b) => Number(b.id === route.item) - Number(a.id === route.item),
  )
  return (
    <>
      <QuestionList
        {...{ questions, passkeys, problem, done, onDone }}
        nothing="No question waits for an answer."
      >
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
