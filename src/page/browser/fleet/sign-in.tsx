// The way in: the only part of the page that strangers get. It loads the rest once somebody is signed in.

import { render } from 'preact'
import { useState } from 'preact/hooks'
import type { MeView, SignInView } from '../../view/fleet.js'
import { ask, askSignedIn, tell } from '../ask.js'
import { BRAND, Icon } from '../icon.js'
import { makePasskey, signed } from '../passkey.js'
import { Typed } from '../typed.js'

const LOST = 'The gateway does not answer. Try again in a moment.'

function Door() {
  const [problem, setProblem] = useState('')
  const [isBusy, setIsBusy] = useState(false)
  const enter = () => {
    setIsBusy(true)
    setProblem('')
    signIn()
      .then(open, (error: Error) => setProblem(error.message))
      .finally(() => setIsBusy(false))
  }
  return (
    <main class="door">
      <h1 class="brand">
        <Icon path={BRAND} /> Carabiner fleet
      </h1>
      <section class="card">
        <h2>Sign in</h2>
        <p class="dim">Your passkey shows that it is you. There is no password.</p>
        <button type="button" class="primary" disabled={isBusy} onClick={enter}>
          Sign in with a passkey
        </button>
        {problem !== '' && (
          <p class="bad" role="alert">
            {problem}
          </p>
        )}
      </section>
      <Enrolment />
    </main>
  )
}

function Enrolment() {
  const [name, setName] = useState('')
  const [command, setCommand] = useState('')
  const [problem, setProblem] = useState('')
  const add = (event: Event) => {
    event.preventDefault()
    setProblem('')
    makePasskey(name.trim(), 'required').then(setCommand, (error: Error) => setProblem(error.message))
  }
  return (
    <section class="card">
      <h2>New here?</h2>
      <form onSubmit={add}>
        <label>
          Your name
          <input
            type="text"
            required
            autocomplete="name"
            value={name}
            onInput={({ currentTarget }) => setName(currentTarget.value)}
          />
        </label>
        <button type="submit">Make a passkey</button>
      </form>
      {command !== '' && (
        <Typed label="Send this to an administrator. Once they have typed it, sign in:" command={command} />
      )}
      {problem !== '' && (
        <p class="bad" role="alert">
          {problem}
        </p>
      )}
    </section>
  )
}

async function signIn(): Promise<MeView> {
  const given = await tell<SignInView>('api/sign-in/challenge')
  return tell<MeView>('api/sign-in', await signed(given))
}

const place = document.getElementById('page') as HTMLElement

async function open(me: MeView): Promise<void> {
  const { start } = await import('./main.js')
  render(null, place)
  start(me)
}

askSignedIn({ lost: LOST, onSignedOut: () => {} })
// A link from elsewhere comes without the cookie. This question has it.
ask<MeView>('api/me').then(open, () => render(<Door />, place))
