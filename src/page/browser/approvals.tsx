// Approvals: questions of hooks that wait for a person, what is always allowed, who answered, and who may allow here.

import { useEffect, useState } from 'preact/hooks'
import type { QuestionsView, QuestionView } from '../view/approvals.js'
import type { ActDoneView, PasskeysView } from '../view/passkeys.js'
import { AnswerList } from './answer-list.js'
import { tell } from './ask.js'
import { CallFields } from './call-fields.js'
import { Grants } from './grants.js'
import { useNow } from './now.js'
import { allowWithPasskey, makePasskey } from './passkey.js'
import { usePolled } from './poll.js'
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
      {problem === '' && value?.questions.length === 0 && <p class="nothing">No question waits for you.</p>}
      <ol class="cards">
        {value?.questions.map((question) => (
          <li key={question.id}>
            <Question question={question} passkeys={value.passkeys} onDone={onDone} />
          </li>
        ))}
      </ol>
      <Grants turn={turn} onDone={onDone} />
      <AnswerList turn={turn} />
      {value && <Passkeys passkeys={value.passkeys} />}
    </>
  )
}

interface QuestionProps {
  readonly question: QuestionView
  readonly passkeys: PasskeysView
  readonly onDone: (text: string) => void
}

function Question({ question, passkeys, onDone }: QuestionProps) {
  const { id, asks, event, project, session, call, expires, digest } = question
  const title = `question-${id}`
  return (
    <article class="card waiting" aria-labelledby={title}>
      <p class="kicker">
        <span>Waiting for you</span>
        <Left expires={expires} />
      </p>
      <h2 id={title}>{asks[0]?.prompt ?? 'A hook asks'}</h2>
      <CallFields call={call} />
      <dl class="fields">
        {asks.map(({ hook, prompt, reason }, i) => (
          <div key={`${hook} ${prompt}`}>
            <dt>asked by</dt>
            <dd>{[hook, i > 0 && prompt, reason].filter(Boolean).join(': ')}</dd>
          </div>
        ))}
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
      <Answer question={question} passkeys={passkeys} onDone={onDone} />
    </article>
  )
}

function Answer({ question: { id, allow }, passkeys, onDone }: QuestionProps) {
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
      {allow !== undefined && passkeys.state === 'ready' && (
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

/** `59:21` */
function Left({ expires }: { readonly expires: string }) {
  const seconds = Math.max(0, Math.round((Date.parse(expires) - useNow()) / 1000))
  return (
    <time dateTime={expires} title={`until ${new Date(expires).toLocaleString()}`}>
      {Math.floor(seconds / 60)}:{String(seconds % 60).padStart(2, '0')}
    </time>
  )
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
