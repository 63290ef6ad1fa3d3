// Doctor: what keeps hooks from doing what their files say, and how to fix it.

import { useState } from 'preact/hooks'
import type { DoctorView, FindingView } from '../view/doctor.js'
import { tell } from './ask.js'
import { useAsked } from './asked.js'
import { Place } from './place.js'
import { isCommand, Typed } from './typed.js'

const TONES: Readonly<Record<FindingView['severity'], string>> = { broken: 'bad', warning: 'open', note: '' }

export function Doctor() {
  const [turn, setTurn] = useState(0)
  const { value, problem, isLoading } = useAsked<DoctorView>('api/doctor', {}, turn)
  const [done, setDone] = useState('')
  const onDone = (text: string) => {
    setDone(text)
    setTurn(turn + 1)
  }
  const found = value?.families.filter(({ findings }) => findings.length > 0) ?? []
  const fine = value?.families.filter(({ findings }) => findings.length === 0) ?? []
  return (
    <>
      <header class="top">
        <div class="title">
          <h1>Doctor</h1>
          <button type="button" disabled={isLoading} onClick={() => onDone('')}>
            {isLoading ? 'Looking …' : 'Look again'}
          </button>
        </div>
        {value && (
          <p class={value.ok ? 'good' : 'bad'} role="status">
            {value.ok ? 'Nothing is broken.' : 'Something is broken.'}
          </p>
        )}
      </header>
      <p class="done" role="status">
        {done}
      </p>
      {problem !== undefined && <p class="banner">{problem}</p>}
      {found.map(({ name, what, findings }) => (
        <section class="family" key={name}>
          <h2>
            {name} <span class="dim">{what}</span>
          </h2>
          <ul class="cards">
            {findings.map((finding) => (
              <li class="card" key={`${finding.code} ${finding.place} ${finding.text}`}>
                <p>
                  <span class={`chip ${TONES[finding.severity]}`}>{finding.severity}</span>{' '}
                  <code>{finding.code}</code>{' '}
                  <span class="dim">
                    <Place at={finding.place} />
                  </span>
                </p>
                <p class="said">{finding.text}</p>
                <Advice fix={finding.fix} />
                {finding.button !== undefined && (
                  <Fix finding={finding} label={finding.button} onDone={onDone} />
                )}
              </li>
            ))}
          </ul>
        </section>
      ))}
      {fine.length > 0 && (
        <section class="family">
          <h2>Fine</h2>
          <dl class="reasons">
            {fine.map(({ name, what }) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{what}</dd>
              </div>
            ))}
          </dl>
        </section>
      )}
    </>
  )
}

/** A command to copy, with what it does; or a sentence. */
function Advice({ fix }: { readonly fix: string }) {
  const [command = '', ...notes] = fix.split(/\s+# /)
  if (!isCommand(command) || command.includes('\n')) return <p class="said fix">{fix}</p>
  return (
    <>
      <Typed label="" command={command} />
      {notes.length > 0 && <p class="dim said">{notes.join(' ')}</p>}
    </>
  )
}

interface FixProps {
  readonly finding: FindingView
  readonly label: string
  readonly onDone: (text: string) => void
}

/** A fix that only tightens. */
function Fix({ finding: { id, code }, label, onDone }: FixProps) {
  const [problem, setProblem] = useState('')
  const [isBusy, setIsBusy] = useState(false)
  const fix = () => {
    setIsBusy(true)
    tell<{ readonly done: string }>('api/doctor/fix', { id }).then(
      ({ done }) => onDone(`Fixed ${code}: ${done}.`),
      (error: Error) => {
        setProblem(error.message)
        setIsBusy(false)
      },
    )
  }
  return (
    <p class="answer">
      <button type="button" disabled={isBusy} onClick={fix}>
        {isBusy ? 'Fixing …' : label}
      </button>
      {problem !== '' && (
        <span class="bad" role="alert">
          {problem}
        </span>
      )}
    </p>
  )
}
