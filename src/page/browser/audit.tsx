// Audit: everything on record, with filters; what each hook did over time; whether the record is whole.

import { useCallback, useEffect, useState } from 'preact/hooks'
import type { FiltersView } from '../view/audit.js'
import type { Rows } from '../view/row.js'
import { ask } from './ask.js'
import { useAsked } from './asked.js'
import { today } from './format.js'
import { HookTable } from './hook-table.js'
import { addressOf, replaceRoute } from './route.js'
import { OpenElsewhere, RowList } from './row-list.js'
import type { ScreenProps } from './screen-props.js'
import { Verify } from './verify.js'

const PAGE_ROWS = 200

/** Questions that people have, as filters. */
const questions = (): readonly (readonly [name: string, query: Readonly<Record<string, string>>])[] => [
  ['Everything', {}],
  ['Denied today', { decision: 'deny', since: today() }],
  ['Answered by a person', { kind: 'approval' }],
  ['Asked', { decision: 'ask' }],
  ['Changed', { decision: 'modify' }],
  ['Failed', { decision: 'failed' }],
  ['Without a gate', { unguarded: 'yes' }],
]

const FIELDS: readonly (readonly [key: string, label: string, example: string])[] = [
  ['tool', 'Tool', 'Bash'],
  ['hook', 'Hook', 'a name'],
  ['session', 'Session', 'an id'],
  ['since', 'Since', '2h, 3d'],
  ['until', 'Until', '2026-01-31'],
]

const CHOICES: readonly (readonly [key: keyof FiltersView, label: string])[] = [
  ['event', 'Event'],
  ['decision', 'Outcome'],
  ['kind', 'Kind of entry'],
]

export function Audit({ route }: ScreenProps) {
  const query = route.query.toString()
  const [found, setFound] = useState<Rows>()
  const [problem, setProblem] = useState('')
  useEffect(() => {
    let isWanted = true
    const given = Object.fromEntries(new URLSearchParams(query))
    ask<Rows>('api/rows', { ...given, limit: PAGE_ROWS }).then(
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
  const more = async () => {
    const before = found?.rows.at(-1)?.seq
    if (!found || before === undefined) return
    const given = Object.fromEntries(new URLSearchParams(query))
    const next = await ask<Rows>('api/rows', { ...given, limit: PAGE_ROWS, before })
    setFound({ ...next, rows: [...found.rows, ...next.rows], damaged: found.damaged })
  }
  const open = route.item === '' ? undefined : Number(route.item)
  const onOpen = useCallback(
    (seq: number | undefined) =>
      replaceRoute(addressOf('audit', seq === undefined ? '' : String(seq), query)),
    [query],
  )
  return (
    <>
      <header class="top">
        <div class="title">
          <h1>Audit</h1>
        </div>
        <Verify />
      </header>
      <Filters query={route.query} />
      {problem !== '' && (
        <p class="banner" role="alert">
          {problem}
        </p>
      )}
      <HookTable query={query} />
      <div class="listing">
        <h2>Entries</h2>
        <a class="button" href={`api/export?${query}`} download>
          Export
        </a>
      </div>
      {found && found.damaged > 0 && (
        <p class="banner">Some lines of the log cannot be read. Check the record to see which.</p>
      )}
      {found?.rows.length === 0 && <p class="nothing">No entry matches.</p>}
      {found && <OpenElsewhere rows={found.rows} open={open} onOpen={onOpen} />}
      {found && found.rows.length > 0 && <RowList rows={found.rows} open={open} onOpen={onOpen} />}
      {found?.more && (
        <button
          type="button"
          class="more"
          onClick={() => void more().catch((error: Error) => setProblem(error.message))}
        >
          Show older entries
        </button>
      )}
    </>
  )
}

function Filters({ query }: { readonly query: URLSearchParams }) {
  const known = useAsked<FiltersView>('api/filters').value
  const change = (next: URLSearchParams) => replaceRoute(addressOf('audit', '', next.toString()))
  const set = (key: string, value: string) => {
    const next = new URLSearchParams(query)
    if (value === '') next.delete(key)
    else next.set(key, value)
    change(next)
  }
  return (
    <form class="filters" onSubmit={(event) => event.preventDefault()}>
      <fieldset class="views">
        <legend class="unseen">Questions</legend>
        {questions().map(([name, wanted]) => (
          <button
            key={name}
            type="button"
            aria-pressed={isSame(query, wanted)}
            onClick={() => change(new URLSearchParams(wanted))}
          >
            {name}
          </button>
        ))}
      </fieldset>
      <div class="fieldrow">
        {CHOICES.map(([key, label]) => (
          <label key={key}>
            {label}
            <select
              value={query.get(key) ?? ''}
              onChange={({ currentTarget }) => set(key, currentTarget.value)}
            >
              <option value="">any</option>
              {choicesOf(query.get(key), known?.[key]).map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </label>
        ))}
        {FIELDS.map(([key, label, example]) => (
          <label key={key}>
            {label}
            <input
              type="search"
              value={query.get(key) ?? ''}
              class={key === 'since' || key === 'until' ? 'time' : ''}
              placeholder={example}
              onChange={({ currentTarget }) => set(key, currentTarget.value.trim())}
            />
          </label>
        ))}
      </div>
    </form>
  )
}

/** Also what the address says, such as a short form. */
function choicesOf(given: string | null, known: readonly string[] = []): readonly string[] {
  return given === null || known.includes(given) ? known : [given, ...known]
}

function isSame(query: URLSearchParams, wanted: Readonly<Record<string, string>>): boolean {
  const given = Object.fromEntries(query)
  const keys = new Set([...Object.keys(given), ...Object.keys(wanted)])
  return [...keys].every((key) => given[key] === wanted[key])
}
