// Calls that are always allowed, each with who said so and until when. Anybody may take one back.

import { useState } from 'preact/hooks'
import type { GrantsView, GrantView } from '../view/approvals.js'
import { tell } from './ask.js'
import { useAsked } from './asked.js'
import { moment } from './format.js'

interface Props {
  /** Another number asks again. */
  readonly turn: number
  readonly onDone: (text: string) => void
}

export function Grants({ turn, onDone }: Props) {
  const { value, problem } = useAsked<GrantsView>('api/grants', {}, turn)
  return (
    <section class="group">
      <h2>Always allowed</h2>
      {[...(value?.troubles ?? []), ...(problem === undefined ? [] : [problem])].map((text) => (
        <p class="bad" key={text}>
          {text}
        </p>
      ))}
      {value?.grants.length === 0 && (
        <p class="dim">Nothing. Every call that a hook asks about waits for an answer.</p>
      )}
      {value && value.grants.length > 0 && (
        <ul class="rows">
          {value.grants.map((grant) => (
            <Grant key={grant.id} grant={grant} onDone={onDone} />
          ))}
        </ul>
      )}
    </section>
  )
}

function Grant({ grant, onDone }: { readonly grant: GrantView; readonly onDone: Props['onDone'] }) {
  const { id, what, about, hook, folder, by, since, until } = grant
  const [problem, setProblem] = useState('')
  const revoke = () =>
    void tell<{ readonly problem?: string }>('api/revoke', { id }).then(
      (told) => onDone(`${what} is not always allowed any more. ${told.problem ?? ''}`.trim()),
      (error: Error) => setProblem(error.message),
    )
  return (
    <li class="row entry">
      <div class="about">
        <p>
          <b>{what}</b> <code>{about}</code>
        </p>
        <p class="dim">
          {by === undefined ? 'Allowed' : `Allowed by ${by}`} since {moment(since)}
          {until === undefined ? ', without an end' : `, until ${moment(until)}`} · asked by {hook}
          {folder !== '' && ` in ${folder}`}
        </p>
        {problem !== '' && (
          <p class="bad" role="alert">
            {problem}
          </p>
        )}
      </div>
      <button type="button" onClick={revoke} aria-label={`Revoke ${what} ${about}`}>
        Revoke
      </button>
    </li>
  )
}
