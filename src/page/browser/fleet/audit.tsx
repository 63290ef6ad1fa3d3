// Audit: the records of all machines, the newest first, with filters.

import { useEffect, useState } from 'preact/hooks'
import type { FiltersView } from '../../view/audit.js'
import type { FleetDetails, FleetRow, FleetRows } from '../../view/fleet.js'
import { ask } from '../ask.js'
import { useAsked } from '../asked.js'
import { DetailsBody } from '../details.js'
import { clock, day } from '../format.js'
import { addressOf, replaceRoute } from '../route.js'
import type { FleetScreenProps } from './screen-props.js'

const FIELDS: readonly (readonly [key: string, label: string, example: string])[] = [
  ['machine', 'Machine', 'a name'],
  ['session', 'Session', 'an id'],
  ['hook', 'Hook', 'a name'],
  ['since', 'Since', '2h, 3d'],
  ['until', 'Until', '2026-01-31'],
]

export function Audit({ route }: FleetScreenProps) {
  const query = route.query.toString()
  const [found, setFound] = useState<FleetRows>()
  const [problem, setProblem] = useState('')
  const [isLoading, setIsLoading] = useState(false)
  const given = Object.fromEntries(new URLSearchParams(query))
  useEffect(() => {
    let isWanted = true
    ask<FleetRows>('api/records', given).then(
      (rows) => {
        if (!isWanted) return
        setProblem('')
        setFound(rows)
      },
      (error: Error) => isWanted && setProblem(error.message),
    )
    return () => {
      isWanted = false
    }
  }, [query])
  const more = () => {
    if (found?.next === undefined) return
    setIsLoading(true)
    ask<FleetRows>('api/records', { ...given, after: found.next })
      .then(
        ({ rows, ...rest }) => setFound({ rows: [...found.rows, ...rows], ...rest }),
        (error: Error) => setProblem(error.message),
      )
      .finally(() => setIsLoading(false))
  }
  const onOpen = (id: string) => replaceRoute(addressOf('audit', id === route.item ? '' : id, query))
  return (
    <>
      <header class="top">
        <div class="title">
          <h1>Audit</h1>
        </div>
      </header>
      <Filters query={route.query} />
      {problem !== '' && (
        <p class="banner" role="alert">
          {problem}
        </p>
      )}
      {found?.rows.length === 0 && <p class="nothing">No entry matches.</p>}
      {found && found.rows.length > 0 && (
        <ol class="rows">
          {found.rows.map((row) => (
            <Entry key={row.id} row={row} isOpen={row.id === route.item} onOpen={onOpen} />
          ))}
        </ol>
      )}
      {found?.next !== undefined && (
        <button type="button" class="more" disabled={isLoading} onClick={more}>
          Show older entries
        </button>
      )}
    </>
  )
}

function Filters({ query }: { readonly query: URLSearchParams }) {
  const known = useAsked<FiltersView>('api/filters').value
  const set = (key: string, value: string) => {
    const next = new URLSearchParams(query)
    if (value === '') next.delete(key)
    else next.set(key, value)
    replaceRoute(addressOf('audit', '', next.toString()))
  }
  return (
    <form class="filters" onSubmit={(event) => event.preventDefault()}>
      <div class="fieldrow">
        <label>
          Outcome
          <select
            value={query.get('decision') ?? ''}
            onChange={({ currentTarget }) => set('decision', currentTarget.value)}
          >
            <option value="">any</option>
            {known?.decision.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        {FIELDS.map(([key, label, example]) => (
          <label key={key}>
            {label}
            <input
              type="search"
              value={query.get(key) ?? ''}
              placeholder={example}
              onChange={({ currentTarget }) => set(key, currentTarget.value.trim())}
            />
          </label>
        ))}
      </div>
    </form>
  )
}

interface EntryProps {
  readonly row: FleetRow
  readonly isOpen: boolean
  readonly onOpen: (id: string) => void
}

function Entry({ row, isOpen, onOpen }: EntryProps) {
  const { id, machine, time, event, kind, tool, gist, reason, session, tone, said } = row
  const place = `entry-${id}`
  return (
    <li class={`row ${tone}${isOpen ? ' expanded' : ''}`}>
      <button
        type="button"
        class="head record"
        aria-expanded={isOpen}
        aria-controls={isOpen ? place : undefined}
        onClick={() => onOpen(id)}
      >
        <time dateTime={time} title={new Date(time).toLocaleString()}>
          {day(time) !== '' && <span class="day">{day(time)} </span>}
          {clock(time)}
        </time>
        <span class="from">{machine}</span>
        <span class="event">{event === '' ? kind : event}</span>
        <span class="call">
          {tool !== undefined && <b>{tool}</b>}{' '}
          <span class="dim">{reason ?? (gist === '' ? session : gist)}</span>
        </span>
        <span class={`chip ${tone}`}>{said}</span>
      </button>
      {isOpen && <Opened id={id} place={place} />}
    </li>
  )
}

function Opened({ id, place }: { readonly id: string; readonly place: string }) {
  const { value, problem } = useAsked<FleetDetails>('api/record', { id })
  return (
    <div class="details" id={place}>
      {problem !== undefined && <p class="problem">{problem}</p>}
      {value && (
        <>
          <DetailsBody details={value} />
          <p class="foot">
            {[`machine ${value.machine}`, value.session && `session ${value.session}`, `record ${value.seq}`]
              .filter(Boolean)
              .join(' · ')}
          </p>
        </>
      )}
    </div>
  )
}
