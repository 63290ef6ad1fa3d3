// The frame around every screen: the menu, the state of the connection, and the keys that work everywhere.

import type { ComponentType } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { About } from '../view/about.js'
import { ask, tell } from './ask.js'
import type { Connection, Feed } from './feed.js'
import { BRAND, Icon } from './icon.js'
import { addressOf, useRoute } from './route.js'
import { stepRow } from './row-list.js'
import type { ScreenProps } from './screen-props.js'
import { SCREENS, type Screen } from './screens.js'
import { badgeOf, type Standing, useStanding } from './standing.js'

export function App({ feed }: { readonly feed: Feed }) {
  const route = useRoute()
  const [about, setAbout] = useState<About>()
  const [connection, setConnection] = useState<Connection>(feed.connection)
  const screen = SCREENS.find(({ name }) => name === route.screen) ?? (SCREENS[0] as Screen)
  useEffect(() => feed.subscribe(() => setConnection(feed.connection)), [feed])
  useEffect(() => {
    ask<About>('api/about').then(setAbout, () => undefined)
  }, [])
  useEffect(() => {
    document.title = `${screen.title}${about ? ` · ${about.project}` : ''} · Carabiner`
  }, [screen, about])
  const standing = useStanding(screen.name)
  const help = useRef<HTMLDialogElement>(null)
  useKeys(() => help.current?.showModal())
  return (
    <div class="frame">
      <nav aria-label="Screens">
        <p class="brand">
          <Icon path={BRAND} /> Carabiner
        </p>
        <ul>
          {SCREENS.map(({ name, title, icon }) => (
            <li key={name}>
              <a href={addressOf(name)} aria-current={name === screen.name ? 'page' : undefined}>
                <Icon path={icon} />
                {title}
                <Badge screen={name} standing={standing} />
              </a>
            </li>
          ))}
        </ul>
        <Foot
          about={about}
          connection={connection}
          onHelp={() => help.current?.showModal()}
          onStop={() =>
            void tell('api/stop').then(
              () => feed.end(),
              () => undefined,
            )
          }
        />
      </nav>
      <main tabIndex={-1}>
        {feed.problem !== '' && (
          <p class="banner" role="alert">
            {feed.problem}
          </p>
        )}
        <Shown screen={screen} feed={feed} route={route} standing={standing} />
      </main>
      <Keys dialog={help} />
    </div>
  )
}

function Badge({ screen, standing }: { readonly screen: string; readonly standing: Standing }) {
  const [count, of] = badgeOf(screen, standing)
  if (count === 0) return null
  return (
    <span class="count">
      {count}
      <span class="unseen"> {of}</span>
    </span>
  )
}

/** Loads the screen when it is first shown. */
function Shown({ screen, feed, route, standing }: ScreenProps & { readonly screen: Screen }) {
  const [loaded, setLoaded] = useState<{ readonly of: Screen; readonly view: ComponentType<ScreenProps> }>()
  const [problem, setProblem] = useState('')
  useEffect(() => {
    // Its file would come from whoever has the port now.
    if (feed.connection === 'ended') return
    screen.load().then(
      (view) => setLoaded({ of: screen, view }),
      (error: Error) => setProblem(error.message),
    )
  }, [screen])
  if (problem !== '') return <p class="banner">{problem}</p>
  if (loaded?.of !== screen) return null
  const View = loaded.view
  return <View feed={feed} route={route} standing={standing} />
}

const STATES: Readonly<Record<Connection, string>> = {
  connecting: 'connecting',
  listening: 'listening',
  lost: 'reconnecting',
  ended: 'ended',
}

interface FootProps {
  readonly about: About | undefined
  readonly connection: Connection
  readonly onHelp: () => void
  readonly onStop: () => void
}

function Foot({ about, connection, onHelp, onStop }: FootProps) {
  return (
    <div class="state">
      <p class={connection} role="status">
        <span class="dot" /> {STATES[connection]}
      </p>
      <p class="dim">{about ? `${about.project}, this machine only` : ''}</p>
      <p class="acts">
        <button type="button" class="quiet" onClick={onHelp}>
          Keys <kbd>?</kbd>
        </button>
        <button type="button" class="quiet" onClick={onStop}>
          Stop
        </button>
      </p>
    </div>
  )
}

// ---- keys -----------------------------------------------------------------------------------------------------

const KEYS: readonly (readonly [keys: readonly string[], does: string])[] = [
  [['j', 'k'], 'next and previous row'],
  [['Enter'], 'open or close the row'],
  [['Esc'], 'close the open row, or leave the search'],
  [['/'], 'search'],
  [['a'], 'go to the open questions'],
  [SCREENS.map((_, i) => String(i + 1)), 'go to a screen'],
  [['?'], 'show these keys'],
]

function Keys({ dialog }: { readonly dialog: { readonly current: HTMLDialogElement | null } }) {
  return (
    <dialog ref={dialog as never} aria-labelledby="keys-title">
      <h2 id="keys-title">Keys</h2>
      <dl class="keys">
        {KEYS.map(([keys, does]) => (
          <div key={does}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <form method="dialog">
        <button type="submit">Close</button>
      </form>
    </dialog>
  )
}

function useKeys(onHelp: () => void): void {
  useEffect(() => {
    const listener = (event: KeyboardEvent) => {
      const typed = event.target instanceof HTMLElement && event.target.matches('input, select, textarea')
      if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')) return
      if (typed) {
        if (event.key === 'Escape') (event.target as HTMLElement).blur()
        return
      }
      if (pressed(event.key, onHelp)) event.preventDefault()
    }
    window.addEventListener('keydown', listener)
    return () => window.removeEventListener('keydown', listener)
  }, [])
}

/** True if the key means something. */
function pressed(key: string, onHelp: () => void): boolean {
  const screen = SCREENS[Number(key) - 1]
  if (screen) location.hash = addressOf(screen.name)
  else if (key === 'j') stepRow(1)
  else if (key === 'k') stepRow(-1)
  else if (key === '/') document.querySelector<HTMLInputElement>('input[type=search]')?.focus()
  else if (key === 'Escape') document.querySelector<HTMLButtonElement>('.row.expanded .head')?.click()
  else if (key === 'a') location.hash = addressOf('approvals')
  else if (key === '?') onHelp()
  else return false
  return true
}
