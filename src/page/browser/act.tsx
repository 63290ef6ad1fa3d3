// What a person can do here: a button that signs with a passkey, or the command to type where nobody has one.

import { useState } from 'preact/hooks'
import type { ActDoneView, PasskeysView } from '../view/passkeys.js'
import { tell } from './ask.js'
import { actWithPasskey } from './passkey.js'
import { Typed } from './typed.js'

interface ActProps {
  /** `Trust`, on the button. */
  readonly label: string
  /** What the server is told. */
  readonly act: object
  /** The command that does the same. */
  readonly command: string
  readonly passkeys: PasskeysView
  /** It needs no passkey. */
  readonly onlyTightens?: boolean
  /** Said when it is done. */
  readonly said: string
  readonly onDone: (text: string) => void
}

export function Act({ label, act, command, passkeys, onlyTightens = false, said, onDone }: ActProps) {
  const [problem, setProblem] = useState('')
  const [isBusy, setIsBusy] = useState(false)
  const run = (work: Promise<ActDoneView>) => {
    setIsBusy(true)
    setProblem('')
    work
      .then(
        (done) => onDone(done.problem === undefined ? said : `${said} But ${done.problem}.`),
        (error: Error) => setProblem(error.message),
      )
      .finally(() => setIsBusy(false))
  }
  if (!onlyTightens && passkeys.state === 'none') return <Typed label={`${label}: type`} command={command} />
  if (!onlyTightens && passkeys.state === 'broken') return <p class="bad">{passkeys.why}</p>
  return (
    <div class="act">
      <button
        type="button"
        class={onlyTightens ? '' : 'primary'}
        disabled={isBusy}
        onClick={() => run(onlyTightens ? tell('api/act/tighten', act) : actWithPasskey(act))}
      >
        {onlyTightens ? label : `${label} with a passkey`}
      </button>
      {problem !== '' && (
        <p class="bad" role="alert">
          {problem}
        </p>
      )}
    </div>
  )
}
