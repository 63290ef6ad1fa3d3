// Checks the record: every entry holds the hash of the one before.

import { useEffect, useState } from 'preact/hooks'
import type { VerifyPart, VerifyView } from '../view/audit.js'
import { askInParts } from './ask.js'
import { counted } from './format.js'

/** Leaving the screen ends the check. `isShort`: where there is little room. */
export function Verify({ isShort = false }: { readonly isShort?: boolean }) {
  /** Undefined before the first check. */
  const [state, setState] = useState<VerifyPart>()
  const [work, setWork] = useState<AbortController>()
  useEffect(() => () => work?.abort(), [work])
  const check = async () => {
    const begun = new AbortController()
    setWork(begun)
    setState({ part: 0 })
    try {
      for await (const part of askInParts<VerifyPart>('api/verify', begun.signal)) setState(part)
    } catch (error) {
      setState(begun.signal.aborted ? undefined : { problem: (error as Error).message })
    }
  }
  const part = state && 'part' in state ? state.part : undefined
  const isChecking = part !== undefined
  return (
    <section class="verify" aria-live="polite" aria-busy={isChecking}>
      <button type="button" onClick={() => (isChecking ? work?.abort() : void check())}>
        {isChecking ? 'Stop checking' : state ? 'Check again' : 'Check the record'}
      </button>
      {isChecking && (
        <label class="dim">
          <progress max={1} value={part} /> {Math.floor(part * 100)} %
        </label>
      )}
      {!state && <p class="dim">Each entry holds the hash of the one before.</p>}
      {state && 'problem' in state && <p class="bad">{state.problem}</p>}
      {state && 'result' in state && <Result verified={state.result} isShort={isShort} />}
    </section>
  )
}

function Result({
  verified: { ok, records, last, problems, more, notes },
  isShort,
}: {
  readonly verified: VerifyView
  readonly isShort: boolean
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
      {ok && last && isShort && (
        <p class="dim">
          head <code>{`${last.seq}:${last.hash.slice(0, 16)}…`}</code>
        </p>
      )}
      {ok && last && !isShort && (
        <p class="dim">
          Save this elsewhere, to notice if the whole log is replaced:{' '}
          <code>{`${last.seq}:${last.hash}`}</code>
        </p>
      )}
    </div>
  )
}
