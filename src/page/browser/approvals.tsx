// Approvals: questions of hooks that wait for a person, what is always allowed, who answered, and who may allow here.

import { useEffect, useState } from 'preact/hooks'
import type { QuestionsView } from '../view/approvals.js'
import type { PasskeysView } from '../view/passkeys.js'
import { AnswerList } from './answer-list.js'
import { counted } from './format.js'
import { Grants } from './grants.js'
import { makePasskey } from './passkey.js'
import { usePolled } from './poll.js'
import { QuestionList } from './question-list.js'
import { Typed } from './typed.js'

const LOOK_MS = 1000

export function Approvals() {
  const { value, problem, again } = usePolled<QuestionsView>('api/questions', LOOK_MS)
  const [done, setDone] = useState('')
  const [turn, setTurn] = useState(0)
  const onDone = (text: string) => {
    setDone(text)
    setTurn(turn + 1)
    again()
  }
  // Somebody may have answered elsewhere.
  const open = value?.questions.map(({ id }) => id).join(' ')
  useEffect(() => setTurn((before) => before + 1), [open])
  return (
    <>
      <QuestionList
        questions={value?.questions}
        passkeys={value?.passkeys}
        {...{ problem, done, onDone }}
        nothing="No question waits for you."
      />
      {value && (value.more > 0 || value.elsewhere > 0) && (
        <Typed label={waitingBehind(value)} command="carabiner approvals" />
      )}
      <Grants turn={turn} onDone={onDone} />
      <AnswerList turn={turn} />
      {value && <Passkeys passkeys={value.passkeys} />}
    </>
  )
}

function waitingBehind({ more, elsewhere }: QuestionsView): string {
  const parts = [
    more > 0 && `${counted(more, 'more question')} of this project`,
    elsewhere > 0 && `${counted(elsewhere, 'question')} of other projects`,
  ]
  return `There ${more + elsewhere === 1 ? 'is' : 'are'} also ${parts.filter(Boolean).join(' and ')}. To see them, type`
}

function Passkeys({ passkeys }: { readonly passkeys: PasskeysView }) {
  const [name, setName] = useState('')
  const [command, setCommand] = useState('')
  const [problem, setProblem] = useState('')
  const add = (event: Event) => {
    event.preventDefault()
    setProblem('')
    makePasskey(name).then(setCommand, (error: Error) => setProblem(error.message))
  }
  return (
    <section class="passkeys">
      <h2>Passkeys</h2>
      {passkeys.state === 'none' && (
        <p class="dim">
          Nobody has one here, so this page cannot allow anything. With a passkey it can, and no program of
          yours can forge an allow.
        </p>
      )}
      {passkeys.state === 'ready' && (
        <p class="dim">{passkeys.names.join(', ')} may allow, one call at a time.</p>
      )}
      {passkeys.state === 'broken' && <p class="bad">{passkeys.why}</p>}
      <form class="answer" onSubmit={add}>
        <label>
          <span class="unseen">Name of the person</span>
          <input
            type="text"
            required
            value={name}
            placeholder="Your name"
            onInput={({ currentTarget }) => setName(currentTarget.value)}
          />
        </label>
        <button type="submit">Add a passkey</button>
      </form>
      {command !== '' && <Typed label="Now type this as root" command={command} />}
      {problem !== '' && (
        <p class="bad" role="alert">
          {problem}
        </p>
      )}
    </section>
  )
}
