// Live: what hooks do as it happens, one session or all of them.

import { useCallback, useEffect, useState } from 'preact/hooks'
import type { Row } from '../view/row.js'
import { counted, duration, median } from './format.js'
import { Ribbon } from './ribbon.js'
import { addressOf, replaceRoute } from './route.js'
import { OpenElsewhere, RowList } from './row-list.js'
import type { ScreenProps } from './screen-props.js'
import { Search } from './search.js'
import { Side } from './side.js'
import { areIn } from './words.js'

const VIEWS = ['Everything', 'Decisions', 'Did not run'] as const
type View = (typeof VIEWS)[number]

const IS_SHOWN: Readonly<Record<View, (row: Row) => boolean>> = {
  Everything: () => true,
  Decisions: ({ verdict }) => verdict !== 'continue',
  'Did not run': ({ ran, of, missed }) => missed.length > 0 || ran < of,
}

export function Live({ feed, route, standing }: ScreenProps) {
  const [rows, setRows] = useState(feed.rows)
  const [view, setView] = useState<View>('Everything')
  const [words, setWords] = useState('')
  useEffect(() => {
    setRows(feed.rows)
    return feed.subscribe(() => setRows(feed.rows))
  }, [feed])
  const session = route.query.get('session') ?? ''
  const ofSession = session === '' ? rows : rows.filter((row) => row.session === session)
  const shown = ofSession.filter((row) => IS_SHOWN[view](row) && isFound(row, words))
  const open = route.item === '' ? undefined : Number(route.item)
  const query = route.query.toString()
  const onOpen = useCallback(
    (seq: number | undefined) => replaceRoute(addressOf('live', seq === undefined ? '' : String(seq), query)),
    [query],
  )
  return (
    <div class="aside">
      <div>
        <header class="top">
          <div class="title">
            <h1>Live</h1>
            <SessionChoice rows={rows} session={session} />
          </div>
          <Ribbon rows={ofSession} open={open} onOpen={onOpen} />
          <Figures rows={ofSession} />
        </header>
        <div class="tools">
          <fieldset class="views">
            <legend class="unseen">Rows</legend>
            {VIEWS.map((name) => (
              <button key={name} type="button" aria-pressed={name === view} onClick={() => setView(name)}>
                {name}
              </button>
            ))}
          </fieldset>
          <Search label="Find a call, hook or reason" words={words} onWords={setWords} />
        </div>
        {feed.connection !== 'connecting' && <OpenElsewhere rows={rows} open={open} onOpen={onOpen} />}
        {shown.length > 0 ? (
          <RowList rows={shown} open={open} onOpen={onOpen} />
        ) : (
          <Nothing isEmpty={rows.length === 0} isLoading={feed.connection === 'connecting'} />
        )}
      </div>
      <Side standing={standing} />
    </div>
  )
}

function isFound({ event, tool, gist, reason, hooks, said, missed }: Row, words: string): boolean {
  return words === '' || areIn(words, [event, tool, gist, reason, said, ...hooks, ...missed].join('\n'))
}

function Nothing({ isEmpty, isLoading }: { readonly isEmpty: boolean; readonly isLoading: boolean }) {
  if (isLoading) return null
  if (!isEmpty) return <p class="nothing">No row matches.</p>
  return (
    <div class="nothing">
      <p>Nothing has happened in this project yet. Events appear here as soon as an agent fires them.</p>
      <p>
        To try it, type <code>echo '{'{"hook_event_name":"Stop"}'}' | carabiner fire</code>
      </p>
    </div>
  )
}

/** Sessions with the newest first. */
function SessionChoice({ rows, session }: { readonly rows: readonly Row[]; readonly session: string }) {
  const newest = new Map<string, Row>()
  for (const row of rows)
    if (row.session !== undefined && !newest.has(row.session)) newest.set(row.session, row)
  const choose = (id: string) =>
    replaceRoute(addressOf('live', '', id === '' ? '' : new URLSearchParams({ session: id }).toString()))
  return (
    <label class="session">
      <span class="unseen">Session</span>
      <select value={session} onChange={({ currentTarget }) => choose(currentTarget.value)}>
        <option value="">All {counted(newest.size, 'session')}</option>
        {[...newest].map(([id, { agent, turn }]) => (
          <option key={id} value={id}>
            {[id.length > 20 ? `${id.slice(0, 18)}…` : id, agent, turn].filter(Boolean).join(' · ')}
          </option>
        ))}
      </select>
    </label>
  )
}

function Figures({ rows }: { readonly rows: readonly Row[] }) {
  const middle = median(rows.flatMap(({ ms, ran }) => (ms === undefined || ran === 0 ? [] : [ms])))
  const figures: readonly (readonly [string, string])[] = [
    [rows.length.toLocaleString(), 'events'],
    [rows.reduce((sum, { ran }) => sum + ran, 0).toLocaleString(), 'hooks ran'],
    [rows.filter(({ verdict }) => verdict === 'deny').length.toLocaleString(), 'denied'],
    [middle === undefined ? '–' : duration(middle), 'median event'],
  ]
  return (
    <dl class="figures">
      {figures.map(([value, name]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
