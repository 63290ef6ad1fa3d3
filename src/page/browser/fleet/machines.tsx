// Machines: who is in the fleet, when each was last heard of, how far its records are here, and whether they are whole.

import { useState } from 'preact/hooks'
import type { MachinesView, MachineView } from '../../view/fleet.js'
import { Act } from '../act.js'
import { counted, moment } from '../format.js'
import { useNow } from '../now.js'
import { addressOf } from '../route.js'
import { Search } from '../search.js'
import { areIn } from '../words.js'
import { useLive } from './live.js'
import type { FleetScreenProps } from './screen-props.js'

const FIRST_SHOWN = 60

export function Machines({ me }: FleetScreenProps) {
  const { value, problem, again } = useLive<MachinesView>('api/machines')
  const [words, setWords] = useState('')
  const [most, setMost] = useState(FIRST_SHOWN)
  const [done, setDone] = useState('')
  const found = value?.machines.filter(({ name }) => areIn(words, name)) ?? []
  const onDone = (text: string) => {
    setDone(text)
    again()
  }
  return (
    <>
      <header class="top">
        <div class="title">
          <h1>Machines</h1>
        </div>
        <Search label="Find a machine" words={words} onWords={setWords} />
      </header>
      <p class="done" role="status">
        {done}
      </p>
      {problem !== '' && (
        <p class="bad" role="alert">
          This list may have changed: {problem}
        </p>
      )}
      {value && found.length === 0 && (
        <p class="nothing">
          {value.machines.length === 0
            ? 'No machine has joined. carabiner fleet token makes a token for one.'
            : 'No machine has these words in its name.'}
        </p>
      )}
      {value && value.more > 0 && (
        <p class="bad">
          {counted(value.more, 'more machine')} {value.more === 1 ? 'is' : 'are'} not listed here. carabiner
          fleet machines lists all.
        </p>
      )}
      <ul class="machines">
        {found.slice(0, most).map((machine) => (
          <li key={machine.id}>
            <Machine machine={machine} name={me.name} isAdmin={me.role === 'admin'} onDone={onDone} />
          </li>
        ))}
      </ul>
      {found.length > most && (
        <button type="button" class="more" onClick={() => setMost(most + FIRST_SHOWN)}>
          Show more machines
        </button>
      )}
    </>
  )
}

interface MachineProps {
  readonly machine: MachineView
  /** Who looks at it. */
  readonly name: string
  readonly isAdmin: boolean
  readonly onDone: (text: string) => void
}

function Machine({ machine, name, isAdmin, onDone }: MachineProps) {
  const { id, name: own, joined, seen, shipped, records, evidence, leaving, retired } = machine
  const state = retired ? 'gone' : evidence.length > 0 ? 'broken' : ''
  return (
    <article class={`card ${state}`} aria-labelledby={`machine-${id}`}>
      <h2 id={`machine-${id}`}>{own}</h2>
      <dl class="fields">
        <div>
          <dt>{retired ? 'retired' : 'last contact'}</dt>
          <dd>
            {retired ? (
              `${moment(retired.at)}${retired.by === undefined ? '' : ` by ${retired.by}`}`
            ) : (
              <Ago time={seen} />
            )}
          </dd>
        </div>
        {leaving !== undefined && !retired && (
          <div>
            <dt>asked to leave</dt>
            <dd>{moment(leaving)}</dd>
          </div>
        )}
        <div>
          <dt>shipped</dt>
          <dd>
            <a href={addressOf('audit', '', new URLSearchParams({ machine: own }).toString())}>
              {counted(records, 'record')}
            </a>
            {shipped !== undefined && `, the newest ${moment(shipped)}`}
          </dd>
        </div>
        <div>
          <dt>joined</dt>
          <dd>{moment(joined)}</dd>
        </div>
        {evidence.map(({ what, seq, at }) => (
          <div key={`${what} ${seq} ${at}`}>
            <dt>evidence</dt>
            <dd class="bad">
              {what}, at record {seq} ({moment(at)})
            </dd>
          </div>
        ))}
      </dl>
      {isAdmin && !retired && (
        <details>
          <summary>Retire this machine</summary>
          <p class="dim">
            Its key stops working at once, for good. Its records stay. Calls that its hooks ask about are
            denied until it joins again.
          </p>
          <Act
            label={`Retire ${own}`}
            act={{ what: 'retire', machine: id }}
            command={`carabiner fleet machines retire ${own}`}
            passkeys={{ state: 'ready', names: [name] }}
            said={`${own} is retired.`}
            onDone={onDone}
          />
        </details>
      )}
    </article>
  )
}

/** `2 minutes ago` */
function Ago({ time }: { readonly time: string }) {
  const seconds = Math.max(0, (useNow() - Date.parse(time)) / 1000)
  const [count, unit] =
    seconds < 90
      ? [Math.round(seconds), 'second']
      : seconds < 5400
        ? [Math.round(seconds / 60), 'minute']
        : seconds < 129_600
          ? [Math.round(seconds / 3600), 'hour']
          : [Math.round(seconds / 86_400), 'day']
  return (
    <time dateTime={time} title={new Date(time).toLocaleString()}>
      {counted(count as number, unit as string)} ago
    </time>
  )
}
