// The frame around every screen of a fleet's page: the menu, who is signed in, and the way out.

import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { FleetQuestionsView, MeView } from '../../view/fleet.js'
import { tell } from '../ask.js'
import { BRAND, Icon } from '../icon.js'
import { addressOf, useRoute } from '../route.js'
import { questionsPath } from './approvals.js'
import { useLive } from './live.js'
import type { FleetScreenProps } from './screen-props.js'
import { type FleetScreen, SCREENS } from './screens.js'

export function App({ me }: { readonly me: MeView }) {
  const route = useRoute()
  const screen = SCREENS.find(({ name }) => name === route.screen) ?? (SCREENS[0] as FleetScreen)
  const waiting = useLive<FleetQuestionsView>(questionsPath(route)).value?.questions.length ?? 0
  useEffect(() => {
    document.title = `${waiting > 0 ? `(${waiting}) ` : ''}${screen.title} · ${me.org} · Carabiner`
  }, [screen, waiting])
  return (
    <div class="frame">
      <nav aria-label="Screens">
        <p class="brand">
          <Icon path={BRAND} /> {me.org}
        </p>
        <ul>
          {SCREENS.map(({ name, title, icon }) => (
            <li key={name}>
              <a href={addressOf(name)} aria-current={name === screen.name ? 'page' : undefined}>
                <Icon path={icon} />
                {title}
                {name === 'approvals' && waiting > 0 && (
                  <span class="count">
                    {waiting}
                    <span class="unseen"> open</span>
                  </span>
                )}
              </a>
            </li>
          ))}
        </ul>
        <Foot me={me} />
      </nav>
      <main tabIndex={-1}>
        <Shown screen={screen} me={me} route={route} />
      </main>
    </div>
  )
}

/** Loads the screen when it is first shown. */
function Shown({ screen, me, route }: FleetScreenProps & { readonly screen: FleetScreen }) {
  const [loaded, setLoaded] = useState<{ of: FleetScreen; view: ComponentType<FleetScreenProps> }>()
  const [problem, setProblem] = useState('')
  useEffect(() => {
    screen.load().then(
      (view) => setLoaded({ of: screen, view }),
      (error: Error) => setProblem(error.message),
    )
  }, [screen])
  if (problem !== '') return <p class="banner">{problem}</p>
  if (loaded?.of !== screen) return null
  const View = loaded.view
  return <View me={me} route={route} />
}

function Foot({ me }: { readonly me: MeView }) {
  const leave = (everywhere: boolean) =>
    void tell('api/sign-out', { everywhere }).finally(() => location.replace('/'))
  return (
    <div class="state">
      <p>
        {me.name} <span class="dim">{me.role}</span>
      </p>
      <p class="acts">
        <button type="button" class="quiet" onClick={() => leave(false)}>
          Sign out
        </button>
        <button
          type="button"
          class="quiet"
          title="On every device with this passkey"
          aria-label="Sign out everywhere"
          onClick={() => leave(true)}
        >
          everywhere
        </button>
      </p>
    </div>
  )
}
