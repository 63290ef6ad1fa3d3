// Updates of plugins, with every changed line. Looking for them fetches, so it happens only when asked for.

import { useState } from 'preact/hooks'
import type { UpdatesView } from '../view/plugins.js'
import { Act } from './act.js'
import { tell } from './ask.js'
import { DiffLines } from './diff.js'
import { Risks } from './risks.js'
import { UnitHooks } from './unit-hooks.js'

export function Updates({ onDone }: { readonly onDone: (text: string) => void }) {
  const [view, setView] = useState<UpdatesView>()
  const [problem, setProblem] = useState('')
  const [isBusy, setIsBusy] = useState(false)
  const look = () => {
    setIsBusy(true)
    setProblem('')
    tell<UpdatesView>('api/updates')
      .then(setView, (error: Error) => setProblem(error.message))
      .finally(() => setIsBusy(false))
  }
  return (
    <section class="family">
      <h2>Updates</h2>
      <p>
        <button type="button" disabled={isBusy} onClick={look}>
          {isBusy ? 'Looking …' : 'Look for updates'}
        </button>{' '}
        <span class="dim">This fetches the plugins that you trust, from where you accepted.</span>
      </p>
      {problem !== '' && (
        <p class="bad" role="alert">
          {problem}
        </p>
      )}
      {view?.plugins.length === 0 && <p class="dim">Carabiner installed no plugins.</p>}
      <ul class="cards">
        {view?.plugins.map(({ name, where, state, text, digest, hooks, risks, differences, command }) => (
          <li key={`${where} ${name}`}>
            <article class="card" aria-label={name}>
              <h3>
                {name} <span class={state === 'outdated' ? 'chip open' : 'chip'}>{state}</span>{' '}
                <span class="dim">{text}</span>
              </h3>
              <Risks risks={risks} />
              {differences.map((one) => (
                <figure key={one.text}>
                  <figcaption>{one.text}</figcaption>
                  {one.diff.length > 0 && <DiffLines lines={one.diff} />}
                </figure>
              ))}
              {hooks.length > 0 && (
                <dl class="fields">
                  <UnitHooks hooks={hooks} />
                </dl>
              )}
              {digest !== undefined && (
                <Act
                  label="Update to exactly this"
                  act={{ what: 'update', name, where, digest }}
                  command={command}
                  passkeys={view.passkeys}
                  said={`${name} is updated.`}
                  onDone={(said) => {
                    setView(undefined)
                    onDone(said)
                  }}
                />
              )}
            </article>
          </li>
        ))}
      </ul>
    </section>
  )
}
