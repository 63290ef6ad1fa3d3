// Checks the record: every entry holds the hash of the one before.

import { useState } from 'preact/hooks'
import type { VerifyView } from '../view.js'
import { ask } from './ask.js'
import { counted } from './format.js'

type State = 'new' | 'checking' | VerifyView | Error

export function Verify() {
  const [state, setState] = useState<State>('new')
  const check = () => {
    setState('checking')
    ask<VerifyView>('api/verify').then(setState, setState)
  }
  return (
    <section class="verify" aria-live="polite">
      <button type="button" onClick={check} disabled={state === 'checking'}>
        {state === 'checking' ? 'Checking …' : 'Check the record'}
      </button>
      {state === 'checking' && <progress aria-label="Checking the record" />}
      {state === 'new' && <p class="dim">Each entry holds the hash of the one before.</p>}
      {state instanceof Error && <p class="bad">{state.message}</p>}
      {typeof state === 'object' && !(state instanceof Error) && <Result verified={state} />}
    </section>
  )
}

function Result({
  verified: { ok, records, last, problems, more, notes },
}: {
  readonly verified: VerifyView
}) {
  return (
    <div>
      <p class={ok ? 'good' : 'bad'}>
        {ok ? 'The record is whole' : records === 0 ? 'Nothing to check' : 'The record is not whole'}:{' '}
        {records === 1 ? '1 entry' : `${records.toLocaleString()} entries`}
      </p>
      {problems.map((problem) => (
        <p class="bad" key={problem}>
          {problem}
        </p>
      ))}
      {more > 0 && <p class="bad">and {counted(more, 'more problem')}</p>}
      {notes.map((note) => (
        <p class="dim" key={note}>
          {note}
        </p>
      ))}
      {ok && last && (
        <p class="dim">
          Save this elsewhere, to notice if the whole log is replaced:{' '}
          <code>{`${last.seq}:${last.hash}`}</code>
        </p>
      )}
    </div>
  )
}
