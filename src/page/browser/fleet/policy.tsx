// Policy: which machines get which version, what each really enforces, what a shadow would have changed, and diffs.

import { useEffect, useState } from 'preact/hooks'
import type { MachineStateView, PolicyDiffView, PolicyView, RingView, ShadowsView } from '../../view/fleet.js'
import { ask } from '../ask.js'
import { counted, moment } from '../format.js'
import { useLive } from './live.js'

const FIRST_SHOWN = 60

export function Policy() {
  const { value, problem } = useLive<PolicyView>('api/policy')
  return (
    <>
      <header class="top">
        <div class="title">
          <h1>Policy</h1>
        </div>
      </header>
      {problem !== '' && (
        <p class="bad" role="alert">
          This may have changed: {problem}
        </p>
      )}
      {value && (
        <>
          <Rollout groups={value.groups} doubt={value.doubt} />
          <States machines={value.machines} isOk={value.ok} />
          <Shadows />
          {value.versions.length > 1 && <Differences versions={value.versions} />}
        </>
      )}
    </>
  )
}

function Rollout({ groups, doubt }: { groups: PolicyView['groups']; doubt: PolicyView['doubt'] }) {
  return (
    <section aria-labelledby="rollout">
      <h2 id="rollout">Roll-out</h2>
      {doubt && <p class="bad">{doubt.why}</p>}
      {groups.length === 0 ? (
        <p class="nothing">No policy is published. carabiner docs fleet-policy shows how.</p>
      ) : (
        <ul class="machines">
          {groups.flatMap(({ name, rings }) =>
            rings.map((ring) => (
              <li key={`${name} ${ring.name}`}>
                <article class="card">
                  <h3>
                    {name}, ring {ring.name}
                  </h3>
                  <p class="dim">{ring.who}</p>
                  <p>{versionsText(ring)}</p>
                </article>
              </li>
            )),
          )}
        </ul>
      )}
    </section>
  )
}

function versionsText({ enforced, shadow }: Pick<RingView, 'enforced' | 'shadow'>): string {
  const own = enforced === undefined ? 'no policy' : `version ${enforced}`
  return shadow === undefined ? own : `${own}, and version ${shadow} in shadow mode`
}

function States({
  machines,
  isOk,
}: {
  readonly machines: readonly MachineStateView[]
  readonly isOk: boolean
}) {
  const [most, setMost] = useState(FIRST_SHOWN)
  return (
    <section aria-labelledby="states">
      <h2 id="states">Machines</h2>
      <p class={isOk ? 'dim' : 'bad'}>
        {isOk ? 'Every machine enforces what it should.' : 'Not every machine enforces what it should.'}
      </p>
      <ul class="machines">
        {machines.slice(0, most).map((machine) => (
          <li key={machine.id}>
            <State machine={machine} />
          </li>
        ))}
      </ul>
      {machines.length > most && (
        <button type="button" class="more" onClick={() => setMost(most + FIRST_SHOWN)}>
          Show more machines
        </button>
      )}
    </section>
  )
}

function State({ machine }: { readonly machine: MachineStateView }) {
  const { name, seen, troubles } = machine
  return (
    <article class={`card ${troubles.some(({ isBad }) => isBad) ? 'broken' : ''}`}>
      <h3>{name}</h3>
      <p class="dim">
        {versionsText(machine)}; last contact {moment(seen)}
      </p>
      {troubles.map(({ kind, text, isBad }) => (
        <p key={kind} class={isBad ? 'bad' : 'dim'}>
          {kind}: {text}
        </p>
      ))}
    </article>
  )
}

/** Asked once and on demand: it reads many records, and changes slowly. */
function Shadows() {
  const [found, setFound] = useState<ShadowsView>()
  const [problem, setProblem] = useState('')
  const [turn, setTurn] = useState(0)
  useEffect(() => {
    let isWanted = true
    ask<ShadowsView>('api/policy/shadows').then(
      (shadows) => {
        if (!isWanted) return
        setFound(shadows)
        setProblem('')
      },
      (error: Error) => isWanted && setProblem(error.message),
    )
    return () => {
      isWanted = false
    }
  }, [turn])
  return (
    <section aria-labelledby="shadows">
      <h2 id="shadows">What the shadow would have changed</h2>
      {problem !== '' && <p class="bad">{problem}</p>}
      {found && <Found {...found} />}
      <button type="button" class="more" onClick={() => setTurn(turn + 1)}>
        Look again
      </button>
    </section>
  )
}

function Found({ trials, shadows, days, cutAt }: ShadowsView) {
  return (
    <>
      <p class="dim">
        {cutAt === undefined
          ? `In the last ${days} days.`
          : `Only events since ${moment(cutAt)} were counted. carabiner fleet shadow counts all of them.`}
      </p>
      {trials.length === 0 && <p class="nothing">No version was tried.</p>}
      {trials.map(({ version, calls, machines }) => (
        <p key={version}>
          Version {version} was tried at {counted(calls, 'event')} on {counted(machines, 'machine')}
          {shadows.some((one) => one.version === version) ? '.' : ', and would have changed nothing.'}
        </p>
      ))}
      {shadows.length > 0 && (
        <ul class="machines">
          {shadows.map((one) => (
            <li key={`${one.version} ${one.what} ${one.would}`}>
              <article class="card">
                <h3>
                  version {one.version}: {one.what}
                </h3>
                <p>
                  would {one.would} {counted(one.calls, 'call')} on {counted(one.machines, 'machine')},{' '}
                  {one.changed} of them went on
                </p>
                {one.examples.map(({ machine, time, text }) => (
                  <p key={`${machine} ${time}`} class="dim">
                    {moment(time)} {machine} {text}
                  </p>
                ))}
              </article>
            </li>
          ))}
        </ul>
      )}
    </>
  )
}

function Differences({ versions }: { readonly versions: readonly number[] }) {
  const [to, setTo] = useState(versions[0] as number)
  const [from, setFrom] = useState(versions[1] as number)
  const [found, setFound] = useState<PolicyDiffView>()
  const [problem, setProblem] = useState('')
  useEffect(() => {
    let isWanted = true
    ask<PolicyDiffView>(`api/policy/diff?from=${from}&to=${to}`).then(
      (diff) => {
        if (!isWanted) return
        setFound(diff)
        setProblem('')
      },
      (error: Error) => isWanted && setProblem(error.message),
    )
    return () => {
      isWanted = false
    }
  }, [from, to])
  const select = (label: string, value: number, set: (version: number) => void) => (
    <label>
      {label}{' '}
      <select value={value} onChange={(event) => set(Number(event.currentTarget.value))}>
        {versions.map((version) => (
          <option key={version} value={version}>
            version {version}
          </option>
        ))}
      </select>
    </label>
  )
  return (
    <section aria-labelledby="differences">
      <h2 id="differences">Differences</h2>
      <p class="acts">
        {select('From', from, setFrom)} {select('to', to, setTo)}
      </p>
      {problem !== '' && <p class="bad">{problem}</p>}
      {found?.changes.length === 0 && <p class="nothing">The same files.</p>}
      <ul>
        {found?.changes.map(({ change, path }) => (
          <li key={path}>
            {change} <code>{path}</code>
          </li>
        ))}
      </ul>
    </section>
  )
}
