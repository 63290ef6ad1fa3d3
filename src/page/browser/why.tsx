// Why not: for an event and a tool, or a call of the past, which hooks would run, and why the others would not.

import { useState } from 'preact/hooks'
import type { WhyHookView, WhyView } from '../view/why.js'
import { useAsked } from './asked.js'
import { CallChoice } from './call-choice.js'
import { Place } from './place.js'
import { addressOf, replaceRoute } from './route.js'
import type { ScreenProps } from './screen-props.js'
import { isCommand, Typed } from './typed.js'

export function Why({ feed, route }: ScreenProps) {
  const query = queryOf(route)
  const { value, problem } = useAsked<WhyView>('api/why', query)
  const record = route.item === '' ? undefined : value?.record
  const given: Readonly<Record<string, string>> = record
    ? { event: value?.event ?? '', tool: record.tool, input: record.input }
    : query
  const { event = '', tool = '', input = '' } = given
  const events = useAsked<{ readonly events: readonly string[] }>('api/events').value?.events ?? [event]
  const set = (key: string, text: string) => {
    const next = new URLSearchParams({ ...given, [key]: text })
    for (const [name, given] of [...next]) if (given === '') next.delete(name)
    replaceRoute(addressOf('why', '', next.toString()))
  }
  return (
    <>
      <header class="top">
        <div class="title">
          <h1>Why not</h1>
        </div>
      </header>
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <CallChoice feed={feed} onChoose={({ seq }) => replaceRoute(addressOf('why', String(seq)))} />
        <div class="fieldrow">
          <label>
            Event
            <select value={event} onChange={({ currentTarget }) => set('event', currentTarget.value)}>
              {events.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </label>
          <label>
            Tool
            <input
              type="search"
              value={tool}
              placeholder="none"
              onChange={({ currentTarget }) => set('tool', currentTarget.value.trim())}
            />
          </label>
          <label>
            Input of the tool, as JSON
            <input
              type="search"
              class="broad mono"
              value={input}
              placeholder={'{"command":"ls"}'}
              onChange={({ currentTarget }) => set('input', currentTarget.value.trim())}
            />
          </label>
        </div>
      </form>
      {record && <Record record={record} />}
      {problem !== undefined && (
        <p class="banner" role="alert">
          {problem}
        </p>
      )}
      {value?.hooks.length === 0 && <p class="nothing">No hook listens to {value.event}.</p>}
      {value && value.hooks.length > 0 && <Hooks view={value} query={query} />}
    </>
  )
}

/** A record by its number, or an event that somebody chose. */
function queryOf({ item, query }: ScreenProps['route']): Readonly<Record<string, string>> {
  if (item !== '') return { seq: item }
  const given = Object.fromEntries(query)
  return { event: 'PreToolUse', ...(Object.keys(given).length > 0 ? given : { tool: 'Bash' }) }
}

function Record({
  record: { seq, input, isKept, isExact },
}: {
  readonly record: NonNullable<WhyView['record']>
}) {
  const notes = [
    !isKept && 'Its input was not kept, so hooks are judged without it.',
    isKept && !isExact && 'Secrets were taken out of its input, or long texts were cut.',
    isKept && input === '' && 'Its input is judged, but too long to show here.',
  ]
  return (
    <p class="dim">
      {`The call of record ${seq}, as hooks would judge it now.`} {notes.filter(Boolean).join(' ')}{' '}
      <a href={addressOf('audit', String(seq))}>Show the record</a>
    </p>
  )
}

interface HooksProps {
  readonly view: WhyView
  readonly query: Readonly<Record<string, string>>
}

function Hooks({ view: { hooks, forecast }, query }: HooksProps) {
  const running = hooks.filter(({ runs }) => runs)
  const others = hooks.filter(({ runs }) => !runs)
  return (
    <>
      <section class="family">
        <h2>Would run</h2>
        {running.length === 0 && <p class="bad">No hook would run.</p>}
        {running.length > 0 && <HookList hooks={running} query={query} />}
        {running.length > 0 &&
          forecast.map((line) => (
            <p key={line} class="dim said">
              {line}
            </p>
          ))}
      </section>
      {others.length > 0 && (
        <section class="family">
          <h2>Would not run, and why</h2>
          <HookList hooks={others} query={query} />
        </section>
      )}
    </>
  )
}

function HookList({
  hooks,
  query,
}: {
  readonly hooks: WhyView['hooks']
  readonly query: HooksProps['query']
}) {
  const [open, setOpen] = useState('')
  return (
    <ol class="rows">
      {hooks.map(({ name, reason, terms, place, runs }) => (
        <li class="row" key={`${name} ${place}`}>
          <button
            type="button"
            class="head hook"
            aria-expanded={open === name}
            onClick={() => setOpen(open === name ? '' : name)}
          >
            <b>{name}</b>
            <span>{reason === '' ? terms : reason}</span>
            <span class="dim">
              <Place at={place} />
            </span>
          </button>
          {open === name && <OneHook name={name} reason={reason} terms={terms} runs={runs} query={query} />}
        </li>
      ))}
    </ol>
  )
}

interface OneProps {
  readonly name: string
  /** Why it would not run, as its row says. */
  readonly reason: string
  readonly terms: string
  readonly runs: boolean
  readonly query: HooksProps['query']
}

function OneHook({ name, reason, terms, runs, query }: OneProps) {
  const { value, problem } = useAsked<WhyHookView>('api/why/hook', { ...query, hook: name })
  return (
    <div class="details">
      {problem !== undefined && <p class="bad">{problem}</p>}
      {value && !value.text.endsWith(reason) && <p class="said">{value.text}</p>}
      <p class="dim">{terms}</p>
      {value && value.next.length > 0 && (
        <section class="part">
          <h2>{runs ? 'What to do next' : 'What would have to differ'}</h2>
          <ul class="nexts">
            {value.next
              .toSorted((a, b) => Number(isCommand(a)) - Number(isCommand(b)))
              .map((line) => (
                <li key={line}>{isCommand(line) ? <Typed label="" command={line} /> : line}</li>
              ))}
          </ul>
        </section>
      )}
    </div>
  )
}
