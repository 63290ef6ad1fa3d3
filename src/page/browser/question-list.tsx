// The head of the screen Approvals and its open questions: of this machine, or of a fleet.

import type { ComponentChildren } from 'preact'
import type { QuestionView } from '../view/approvals.js'
import type { PasskeysView } from '../view/passkeys.js'
import { Question } from './question.js'

interface QuestionListProps {
  /** Undefined until they are known. */
  readonly questions: readonly QuestionView[] | undefined
  readonly passkeys: PasskeysView | undefined
  /** Why they may have changed. */
  readonly problem: string
  /** What was just done. */
  readonly done: string
  readonly onDone: (text: string) => void
  /** Said if none waits. */
  readonly nothing: string
  readonly children?: ComponentChildren
}

export function QuestionList(props: QuestionListProps) {
  const { questions, passkeys, problem, done, onDone, nothing, children } = props
  return (
    <>
      <header class="top">
        <div class="title">
          <h1>Approvals</h1>
        </div>
      </header>
      <p class="done" role="status">
        {done}
      </p>
      {problem !== '' && (
        <p class="bad" role="alert">
          What waits for you may have changed: {problem}
        </p>
      )}
      {children}
      {problem === '' && questions?.length === 0 && <p class="nothing">{nothing}</p>}
      <ol class="cards">
        {questions?.map((question) => (
          <li key={question.id}>
            <Question question={question} passkeys={passkeys} onDone={onDone} />
          </li>
        ))}
      </ol>
    </>
  )
}
