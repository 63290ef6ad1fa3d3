// An opened row: what ran on one time axis, what changed, and what did not run, and why.

import { useEffect, useState } from 'preact/hooks'
import type { Details, NotRun, Row } from '../view/row.js'
import { ask } from './ask.js'
import { CallFields } from './call-fields.js'
import { Diff } from './diff.js'
import { counted, duration } from './format.js'
import { addressOf } from './route.js'

interface Props {
  readonly seq: number
  /** The row may be newer than the details: a call becomes known later. */
  readonly row: Row
  readonly id: string
}

export function DetailsView({ seq, row, id }: Props) {
  const [details, setDetails] = useState<Details>()
  const [problem, setProblem] = useState('')
  useEffect(() => {
    let isWanted = true
    ask<Details>('api/entry', { seq })
      .then((found) => isWanted && setDetails(found))
      .catch((error: Error) => isWanted && setProblem(error.message))
    return () => {
      isWanted = false
    }
  }, [seq, row])
  return (
    <div class="details" id={id}>
      {problem !== '' && <p class="problem">{problem}</p>}
      {details && (
        <>
          <DetailsBody details={details} />
          <Footer details={details} />
        </>
      )}
    </div>
  )
}

export function DetailsBody({ details }: { readonly details: Details }) {
  const { reason, tone, missed, asked, answer, notes } = details
  return (
    <>
      {reason !== undefined && <p class={`reason ${tone}`}>{reason}</p>}
      {missed.map((one) => (
        <p class="reason bad" key={one}>
          Went on without a gate. {one}
        </p>
      ))}
      {asked.map((one) => (
        <p class="reason open" key={one}>
          {one}
        </p>
      ))}
      {answer !== undefined && <p class="reason">{answer}</p>}
      {details.ranHooks.length > 0 && <Axis details={details} />}
      <Call details={details} />
      {details.changes.length > 0 && (
        <Part title="Changed">
          {details.changes.map(({ hook, path, before = '', after = '' }) => (
            <figure key={`${hook} ${path}`}>
              <figcaption>
                {hook} changed <code>{path}</code>
              </figcaption>
              <Diff before={before} after={after} />
            </figure>
          ))}
        </Part>
      )}
      {details.injections.length > 0 && (
        <Part title="Told the model">
          {details.injections.map(({ source, text, bytes }) => (
            <figure key={source}>
              <figcaption>
                {source}, {counted(bytes, 'byte')}
              </figcaption>
              {text !== '' && <pre>{text}</pre>}
            </figure>
          ))}
        </Part>
      )}
      {details.failures.length > 0 && (
        <Part title="Printed by hooks that failed">
          {details.failures.map(({ hook, stderr }) => (
            <figure key={hook}>
              <figcaption>{hook}</figcaption>
              <pre>{stderr}</pre>
            </figure>
          ))}
        </Part>
      )}
      {details.notRun.length > 0 && (
        <Part title="Did not run, and why">
          <dl class="reasons">
            {details.notRun.map(({ why, hooks }) => (
              <div key={why}>
                <dt>{why}</dt>
                <dd>
                  {[...byDetail(hooks)].map(([detail, names]) => (
                    <p key={detail}>
                      {names.join(', ')} <span class="dim">{detail}</span>
                    </p>
                  ))}
                </dd>
              </div>
            ))}
          </dl>
        </Part>
      )}
      {notes.length > 0 && (
        <Part title="Notes">
          {notes.map((note) => (
            <p class="note" key={note}>
              {note}
            </p>
          ))}
        </Part>
      )}
    </>
  )
}

function Part({ title, children }: { readonly title: string; readonly children: preact.ComponentChildren }) {
  return (
    <section class="part">
      <h2>{title}</h2>
      {children}
    </section>
  )
}

/** One bar a hook. Hooks that began together lie below each other. */
function Axis({ details: { ranHooks: hooks, ms = 0, reason } }: { readonly details: Details }) {
  const end = Math.max(ms, ...hooks.map((hook) => hook.at + hook.ms), 0.001)
  const percent = (value: number) => `${((value / end) * 100).toFixed(2)}%`
  return (
    <table class="axis">
      <thead>
        <tr>
          <th scope="col">Hook</th>
          <th scope="col" class="scale">
            <div>
              <span>0</span>
              <span>{duration(end / 2)}</span>
              <span>{duration(end)}</span>
            </div>
          </th>
          <th scope="col" class="ms">
            Time
          </th>
          <th scope="col">Did</th>
        </tr>
      </thead>
      <tbody>
        {hooks.map((hook, i) => (
          <tr key={`${hook.name} ${i}`} class={hook.tone}>
            <th scope="row" title={`${hook.kind}, ${hook.source}`}>
              <HookName name={hook.name} />
            </th>
            <td class="lane">
              <span class="bar" style={{ left: percent(hook.at), width: percent(hook.ms) }} />
            </td>
            <td class="ms">{duration(hook.ms)}</td>
            <td class="did">
              {hook.did}
              {[hook.reason, hook.detail]
                .filter((text) => text !== undefined && text !== reason)
                .map((text) => (
                  <small key={text}>{text}</small>
                ))}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** Names of hooks by what more is known about why they did not run. */
function byDetail(hooks: NotRun['hooks']): ReadonlyMap<string, readonly string[]> {
  const names = new Map<string, string[]>()
  for (const { name, detail = '' } of hooks) names.set(detail, [...(names.get(detail) ?? []), name])
  return names
}

/** The plugin matters more than the rest of the name. */
function HookName({ name }: { readonly name: string }) {
  const [plugin = '', ...rest] = name.split(':')
  return (
    <>
      {plugin}
      {rest.length > 0 && (
        <>
          <wbr />
          <span class="dim">:{rest.join(':')}</span>
        </>
      )}
    </>
  )
}

function Call({ details: { call, exact, kind } }: { readonly details: Details }) {
  if (!call || call.length === 0) return null
  return (
    <Part title={kind === 'fire' || kind === 'late' ? 'The call' : 'The entry'}>
      <CallFields call={call} />
      {exact === false && <p class="note">Not exact: secrets were taken out, or long texts were cut.</p>}
    </Part>
  )
}

function Footer({ details }: { readonly details: Details }) {
  const { seq, digest, prev, turn, session, kind, event, tool = '', input = '' } = details
  const asked = new URLSearchParams({ event, tool, input }).toString()
  const parts = [
    digest && `call ${digest.slice(0, 12)}…`,
    `record ${seq}`,
    `follows ${prev.slice(0, 8)}…`,
    turn,
    session && `session ${session}`,
  ]
  return (
    <p class="foot">
      {parts.filter(Boolean).join(' · ')} · <code>carabiner audit show {seq}</code>
      {kind === 'fire' && (
        <>
          {' · '}
          <a href={addressOf('why', String(seq))}>Why did a hook not run?</a>
          {' · '}
          <a href={addressOf('playground', '', asked)}>Try it again in a copy</a>
        </>
      )}
    </p>
  )
}
