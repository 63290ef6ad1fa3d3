// A question of hooks that waits for a person: the call, who asks, how long it waits, and the answer.

import { useState } from 'preact/hooks'
import type { QuestionView } from '../view/approvals.js'
import type { ActDoneView, PasskeysView } from '../view/passkeys.js'
import { ask, tell } from './ask.js'
import { CallFields } from './call-fields.js'
import { useNow } from './now.js'
import { allowWithPasskey } from './passkey.js'
import { Typed } from './typed.js'

interface QuestionProps {
  readonly question: QuestionView
  /** Undefined for somebody who may only look. */
  readonly passkeys: PasskeysView | undefined
  readonly onDone: (text: string) => void
}

export function Question({ question: given, passkeys, onDone }: QuestionProps) {
  const [whole, setWhole] = useState<QuestionView>()
  const question = whole ?? given
  const { id, asks, event, machine, project, session, call, expires, digest, note, isCut } = question
  const title = `question-${id}`
  return (
    <article class="card waiting" aria-labelledby={title}>
      <p class="kicker">
        <span class="dotted">Waiting for you</span>
        <Left expires={expires} />
      </p>
      <h2 id={title}>{asks[0]?.prompt ?? 'A hook asks'}</h2>
      <CallFields call={call} />
      {isCut && <Rest id={id} onWhole={setWhole} />}
      <dl class="fields">
        {asks.map(({ hook, prompt, reason }, i) => (
          <div key={`${hook} ${prompt}`}>
            <dt>asked by</dt>
            <dd>{[hook, i > 0 && prompt, reason].filter(Boolean).join(': ')}</dd>
          </div>
        ))}
        {machine !== undefined && (
          <div>
            <dt>machine</dt>
            <dd>{machine}</dd>
          </div>
        )}
        <div>
          <dt>session</dt>
          <dd>
            {session} in {project}, {event}
          </dd>
        </div>
        <div>
          <dt>counts for</dt>
          <dd>
            exactly this call, once · <code>{digest.slice(0, 12)}…</code>
          </dd>
        </div>
      </dl>
      {note !== undefined && <p class="note">{note}</p>}
      {passkeys && <Answer question={question} passkeys={passkeys} onDone={onDone} />}
    </article>
  )
}

function Answer({
  question: { id, allow, isCut },
  passkeys,
  onDone,
}: QuestionProps & { readonly passkeys: PasskeysView }) {
  const [reason, setReason] = useState('')
  const [problem, setProblem] = useState('')
  const [isBusy, setIsBusy] = useState(false)
  const act = (work: Promise<ActDoneView>, said: string) => {
    setIsBusy(true)
    setProblem('')
    void work
      .then(
        (done) => onDone(done.problem === undefined ? said : `${said} But ${done.problem}.`),
        (error: Error) => setProblem(error.message),
      )
      .finally(() => setIsBusy(false))
  }
  return (
    <form
      class="answer"
      onSubmit={(event) => {
        event.preventDefault()
        act(tell('api/deny', { id, reason }), `${id} is denied.`)
      }}
    >
      {allow !== undefined && !isCut && passkeys.state === 'ready' && (
        <button
          type="button"
          class="primary"
          disabled={isBusy}
          onClick={() =>
            act(allowWithPasskey(id), `${id} is allowed, once, when the agent makes the same call again.`)
          }
        >
          Allow once with a passkey
        </button>
      )}
      <label>
        <span class="unseen">Why not, for the model</span>
        <input
          type="text"
          class="reasoning"
          value={reason}
          placeholder="Why not? The model is told."
          onInput={({ currentTarget }) => setReason(currentTarget.value)}
        />
      </label>
      <button type="submit" disabled={isBusy}>
        Deny
      </button>
      {allow !== undefined && passkeys.state === 'none' && (
        <Typed label="To allow it, type" command={allow} />
      )}
      {problem !== '' && (
        <p class="bad" role="alert">
          {problem}
        </p>
      )}
    </form>
  )
}

/** Nobody allows on this page what it has not shown in full. */
function Rest({ id, onWhole }: { readonly id: string; readonly onWhole: (whole: QuestionView) => void }) {
  const [problem, setProblem] = useState('')
  return (
    <p>
      This call is long, and only its beginning is shown.{' '}
      <button
        type="button"
        onClick={() =>
          void ask<QuestionView>('api/question', { id }).then(onWhole, (error: Error) =>
            setProblem(error.message),
          )
        }
      >
        Show all of it
      </button>{' '}
      {problem !== '' && <span class="bad">{problem}</span>}
    </p>
  )
}

/** `59:21` */
function Left({ expires }: { readonly expires: string }) {
  const seconds = Math.max(0, Math.round((Date.parse(expires) - useNow()) / 1000))
  return (
    <time dateTime={expires} title={`until ${new Date(expires).toLocaleString()}`}>
      {Math.floor(seconds / 60)}:{String(seconds % 60).padStart(2, '0')}
    </time>
  )
}
