// Beside Live: what needs a person now, and whether the record is whole.

import { useState } from 'preact/hooks'
import type { QuestionsView } from '../view/approvals.js'
import type { GoneView, TrustView } from '../view/trust.js'
import { DiffLines } from './diff.js'
import { counted } from './format.js'
import { usePolled } from './poll.js'
import { Question } from './question.js'
import { addressOf } from './route.js'
import type { Standing } from './standing.js'
import { Verify } from './verify.js'

const LOOK_MS = 1000
const SHOWN_QUESTIONS = 1
const SHOWN_LINES = 8

export function Side({ standing: { questions, trust } }: { readonly standing: Standing }) {
  const [done, setDone] = useState('')
  return (
    <aside class="side" aria-label="Now">
      <p class="done" role="status">
        {done}
      </p>
      {questions > 0 && <Questions onDone={setDone} />}
      {trust?.gone.map((gone) => (
        <Gate key={gone.id} gone={gone} trust={trust} />
      ))}
      {trust && <New trust={trust} />}
      <section class="card record">
        <h2>The record</h2>
        <Verify isShort />
      </section>
    </aside>
  )
}

function Questions({ onDone }: { readonly onDone: (text: string) => void }) {
  const { value, again } = usePolled<QuestionsView>('api/questions', LOOK_MS)
  const more = (value?.questions.length ?? 0) - SHOWN_QUESTIONS
  return (
    <>
      {value?.questions.slice(0, SHOWN_QUESTIONS).map((question) => (
        <Question
          key={question.id}
          question={question}
          passkeys={value.passkeys}
          onDone={(text) => {
            onDone(text)
            again()
          }}
        />
      ))}
      {more > 0 && <a href={addressOf('approvals')}>{counted(more, 'more question')}</a>}
    </>
  )
}

const GUARDS: Readonly<Record<GoneView['guardedBy'], readonly [title: string, meaning: string]>> = {
  copy: ['A gate was changed', 'was changed since you trusted it. The version that you trusted still runs.'],
  closed: ['A gate is closed', 'is not as you trusted it. Every call that it would judge is refused.'],
  nothing: ['A gate is down', 'is not as you trusted it. Calls go on without it.'],
}

interface GateProps {
  readonly gone: GoneView
  readonly trust: TrustView
}

function Gate({ gone: { id, name, guardedBy, why }, trust }: GateProps) {
  const [title, meaning] = GUARDS[guardedBy]
  const unit = trust.waiting.find((one) => one.id === id)
  const change = unit?.differences.find(({ diff }) => diff.length > 0)
  const lines = change?.diff.filter((line) => !line.startsWith('@@')) ?? []
  return (
    <section class="card" aria-label={title}>
      <p class={`kicker ${guardedBy === 'copy' ? '' : 'bad'}`}>
        <span class="dotted">{title}</span>
      </p>
      <h2>
        {name} {meaning}
      </h2>
      {change ? (
        <figure>
          <figcaption class="unseen">{change.text}</figcaption>
          <DiffLines lines={lines.slice(0, SHOWN_LINES)} />
        </figure>
      ) : (
        <p class="dim">{why}</p>
      )}
      <a class="button" href={addressOf('trust')}>
        Review {unit ? 'the change' : 'it'}
      </a>
    </section>
  )
}

/** What somebody put here and nobody has looked at yet. */
function New({ trust: { waiting, gone } }: { readonly trust: TrustView }) {
  const fresh = waiting.filter(({ id }) => gone.every((one) => one.id !== id))
  if (fresh.length === 0) return null
  return (
    <section class="card">
      <p class="kicker">
        <span class="dotted">Waiting for a review</span>
      </p>
      <p>
        {fresh.map(({ name }) => name).join(', ')} {fresh.length === 1 ? 'does' : 'do'} not run until you
        trust {fresh.length === 1 ? 'it' : 'them'}.
      </p>
      <a class="button" href={addressOf('trust')}>
        Review
      </a>
    </section>
  )
}
