// Playground: an event of one's own, fired in a copy of the project, and what hooks do about it.

import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { EventHelpView, PayloadProblemView, PlayedView } from '../view/playground.js'
import type { Details } from '../view/row.js'
import { tell } from './ask.js'
import { useAsked } from './asked.js'
import { CallChoice } from './call-choice.js'
import { DetailsBody } from './details.js'
import { duration } from './format.js'
import type { ScreenProps } from './screen-props.js'

/** After the last key, before the payload is checked. */
const CHECK_MS = 300

export function Playground({ feed, route }: ScreenProps) {
  const given = Object.fromEntries(route.query) as Readonly<Record<string, string>>
  const [event, setEvent] = useState(given.event || 'PreToolUse')
  const [tool, setTool] = useState(given.tool || 'Bash')
  const begun = !given.input ? '' : payloadOf({ tool, input: given.input })
  const [payload, setPayload] = useState(begun)
  // What somebody typed is theirs: another event or tool does not replace it.
  const [isOwn, setIsOwn] = useState(begun !== '')
  const help = useAsked<EventHelpView>('api/playground', { event, tool }).value
  const events = useAsked<{ readonly events: readonly string[] }>('api/events').value?.events ?? [event]
  useEffect(() => {
    if (help && !isOwn) setPayload(help.example)
  }, [help, isOwn])
  const choose = (call: Details) => {
    setEvent(call.event)
    if (call.tool !== undefined) setTool(call.tool)
    setPayload(payloadOf(call))
    setIsOwn(true)
  }
  return (
    <>
      <header class="top">
        <div class="title">
          <h1>Playground</h1>
        </div>
      </header>
      <p class="intro">
        The event is fired in a copy of the project that is removed afterwards. The project, its sessions and
        counters, the audit and the approvals stay as they are. Hooks that run programs do run: what those do
        outside the copy, in your home folder or over the network, is real.
      </p>
      <form class="filters" onSubmit={(submit) => submit.preventDefault()}>
        <div class="fieldrow">
          <label>
            Event
            <select value={event} onChange={({ currentTarget }) => setEvent(currentTarget.value)}>
              {events.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </label>
          {help?.hasTool && (
            <label>
              Tool
              <input
                type="search"
                list="tools"
                value={tool}
                onChange={({ currentTarget }) => setTool(currentTarget.value.trim())}
              />
              <datalist id="tools">
                {help.tools.map((name) => (
                  <option key={name} value={name} />
                ))}
              </datalist>
            </label>
          )}
          <CallChoice feed={feed} onChoose={choose} />
        </div>
      </form>
      <Editor
        event={event}
        payload={payload}
        setPayload={(text) => {
          setPayload(text)
          setIsOwn(true)
        }}
        example={help?.example}
        onExample={() => setIsOwn(false)}
      >
        {help && <Help help={help} />}
      </Editor>
    </>
  )
}

/** The payload of a call on record: its tool with the input, or the fields of an event without a tool. */
function payloadOf({ tool, input, call = [] }: Pick<Details, 'tool' | 'input' | 'call'>): string {
  const fields =
    tool === undefined
      ? Object.fromEntries(call.map(({ name, value }) => [name, value]))
      : { tool_name: tool, tool_input: inputOf(input) }
  return JSON.stringify(fields, null, 2)
}

/** Empty if it was too long to keep, or is not JSON. */
function inputOf(input = '{}'): unknown {
  try {
    return JSON.parse(input)
  } catch {
    return {}
  }
}

interface EditorProps {
  readonly event: string
  readonly payload: string
  readonly setPayload: (text: string) => void
  /** A payload to begin with. */
  readonly example: string | undefined
  readonly onExample: () => void
  /** Shown beside the editor until there is a result. */
  readonly children: ComponentChildren
}

function Editor({ event, payload, setPayload, example, onExample, children }: EditorProps) {
  const [problems, setProblems] = useState<readonly PayloadProblemView[]>([])
  const [played, setPlayed] = useState<PlayedView>()
  const [problem, setProblem] = useState('')
  const [isBusy, setIsBusy] = useState(false)
  useEffect(() => {
    if (payload === '') return undefined
    let isWanted = true
    const check = () =>
      tell<{ problems: readonly PayloadProblemView[] }>('api/playground/check', { event, payload }).then(
        (found) => isWanted && setProblems(found.problems),
        () => undefined,
      )
    const timer = window.setTimeout(() => void check(), CHECK_MS)
    return () => {
      isWanted = false
      window.clearTimeout(timer)
    }
  }, [event, payload])
  const fire = (submit: Event) => {
    submit.preventDefault()
    setIsBusy(true)
    setProblem('')
    setPlayed(undefined)
    tell<PlayedView>('api/playground', { event, payload })
      .then(setPlayed, (error: Error) => setProblem(error.message))
      .finally(() => setIsBusy(false))
  }
  return (
    <div class="bench">
      <form class="editor" onSubmit={fire}>
        <label for="payload">Payload, as JSON</label>
        <textarea
          id="payload"
          class="mono"
          spellcheck={false}
          rows={Math.min(24, Math.max(8, payload.split('\n').length + 1))}
          value={payload}
          aria-describedby="payload-problems"
          aria-invalid={problems.length > 0}
          onInput={({ currentTarget }) => setPayload(currentTarget.value)}
        />
        <ul id="payload-problems" class="risks" aria-live="polite">
          {problems.map(({ line, text }) => (
            <li key={`${line} ${text}`}>
              <span class="bad">
                Line {line}: {text}
              </span>{' '}
              <code class="dim">{payload.split('\n')[line - 1]?.trim()}</code>
            </li>
          ))}
        </ul>
        <p>
          <button type="submit" class="primary" disabled={isBusy || problems.length > 0}>
            {isBusy ? 'Firing …' : 'Fire in a copy'}
          </button>{' '}
          {example !== undefined && payload !== example && (
            <button type="button" class="quiet" onClick={onExample}>
              Begin with the example
            </button>
          )}
        </p>
      </form>
      <div>
        {problem !== '' && (
          <p class="banner" role="alert">
            {problem}
          </p>
        )}
        {played && <Played played={played} />}
        {children}
      </div>
    </div>
  )
}

function Played({ played: { details, notes } }: { readonly played: PlayedView }) {
  const { said, tone, ran, of, ms } = details
  return (
    <section class="family played" aria-label="Result">
      <h2>Result</h2>
      <p role="status">
        <span class={`chip ${tone === 'plain' ? '' : tone}`}>{said}</span>{' '}
        <span class="dim">
          {ran} of {of} hooks ran{ms === undefined ? '' : `, ${duration(ms)}`}
        </span>
      </p>
      <div class="details">
        <DetailsBody details={details} />
      </div>
      {notes.map((note) => (
        <p class="dim" key={note}>
          {note}
        </p>
      ))}
    </section>
  )
}

function Help({ help: { when, deny, fields, hasTool } }: { readonly help: EventHelpView }) {
  return (
    <section class="family">
      <h2>Fields</h2>
      <p class="dim">
        When it fires: {when}.{deny !== '–' && ` A deny means: ${deny}.`}
      </p>
      <dl class="reasons">
        {fields.map(({ name, type, isRequired, values }) => (
          <div key={name}>
            <dt>
              <code>{name}</code>
            </dt>
            <dd>
              {type}
              {isRequired ? ', required' : ''}
              {values.length > 0 && <span class="dim">: {values.join(', ')}</span>}
            </dd>
          </div>
        ))}
      </dl>
      {hasTool && <p class="dim">The engine does not check the input of a tool: each agent has its own.</p>}
    </section>
  )
}
