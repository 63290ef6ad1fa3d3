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
  const query = { event: 'PreToolUse', ...Object.fromEntries(route.query) }
  const { value, problem } = useAsked<WhyView>('api/why', query)
  const events = useAsked<{ readonly events: readonly string[] }>('api/events').value?.events ?? [query.event]
  const set = (key: string, text: string) => {
    const next = new URLSearchParams({ ...query, [key]: text })
    for (const [name, given] of [...next]) if (given === '') next.delete(name)
    replaceRoute(addressOf('why', '', next.toString()))
  }
  const given = query as Readonly<Record<string, string>>
  return (
    <>
      <header class="top">
        <div class="title">
          <h1>Why not</h1>
        </div>
      </header>
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <CallChoice
          feed={feed}
          onChoose={({ event, tool = '', input = '' }) => {
            const given = Object.entries({ event, tool, input }).filter(([, text]) => text !== '')
            replaceRoute(addressOf('why', '', new URLSearchParams(given).toString()))
          }}
        />
        <div class="fieldrow">
          <label>
            Event
            <select value={given.event} onChange={({ currentTarget }) => set('event', currentTarget.value)}>
              {events.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </label>
          <label>
            Tool
            <input
              type="search"
              value={given.tool ?? ''}
              placeholder="Bash"
              onChange={({ currentTarget }) => set('tool', currentTarget.value.trim())}
            />
          </label>
          <label>
            Input of the tool, as JSON
            <input
              type="search"
              class="broad mono"
              value={given.input ?? ''}
              placeholder={'{"command":"ls"}'}
              onChange={({ currentTarget }) => set('input', currentTarget.value.trim())}
            />
          </label>
        </div>
      </form>
      {problem !== undefined && (
        <p class="banner" role="alert">
          {problem}
        </p>
      )}
      {value?.hooks.length === 0 && <p class="nothing">No hook listens to {value.event}.</p>}
      {value && value.hooks.length > 0 && <Hooks view={value} query={given} />}
    </>
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
