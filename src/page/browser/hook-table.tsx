// What each hook did over time: runs, failures, denies and its median, as figures and as charts.

import { useState } from 'preact/hooks'
import type { HistoryView, HookPart, HookView } from '../view/audit.js'
import { useAsked } from './asked.js'
import { duration } from './format.js'

/** Filters that choose among a hook's runs. Others choose among outcomes, and would make every run a deny. */
const COUNTED = ['since', 'until', 'event', 'tool', 'hook', 'session']

/** So that the entries below are seen without scrolling. */
const FIRST_SHOWN = 5

/** `query`: the filters of the screen. */
export function HookTable({ query }: { readonly query: string }) {
  const given = new URLSearchParams(query)
  const counted = Object.fromEntries([...given].filter(([key]) => COUNTED.includes(key)))
  const { value: history } = useAsked<HistoryView>('api/history', counted)
  const [open, setOpen] = useState('')
  const [isWhole, setIsWhole] = useState(false)
  const wanted = given.get('hook') ?? ''
  const hooks = history?.hooks.filter(
    ({ name }) => wanted === '' || name === wanted || name.startsWith(`${wanted}:`),
  )
  if (!history || !hooks || hooks.length === 0) return null
  const most = Math.max(1, ...hooks.flatMap(({ parts }) => parts.map(({ runs }) => runs)))
  return (
    <section class="hooks">
      <h2>Hooks</h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: on a narrow screen it is scrolled by keyboard */}
      <section class="wide" tabIndex={0} aria-label="Hooks over time">
        <table>
          <thead>
            <tr>
              <th scope="col">Hook</th>
              <th scope="col">Runs</th>
              <th scope="col">Denied</th>
              <th scope="col">Failed</th>
              <th scope="col">Median</th>
              <th scope="col" class="roomy">
                p95
              </th>
              <th scope="col" class="charts roomy">
                Runs over time
              </th>
            </tr>
          </thead>
          <tbody>
            {hooks
              .toSorted(worstFirst)
              .slice(0, isWhole ? hooks.length : FIRST_SHOWN)
              .map((one) => {
                const key = `${one.name} ${one.source}`
                return (
                  <HookRow
                    key={key}
                    hook={one}
                    most={most}
                    history={history}
                    isOpen={open === key}
                    onOpen={() => setOpen(open === key ? '' : key)}
                  />
                )
              })}
          </tbody>
        </table>
      </section>
      {hooks.length > FIRST_SHOWN && (
        <p>
          <button type="button" onClick={() => setIsWhole(!isWhole)}>
            {isWhole ? 'Show fewer hooks' : `Show all ${hooks.length} hooks`}
          </button>
        </p>
      )}
      <p class="dim">
        {new Date(history.from).toLocaleString()} to {new Date(history.to).toLocaleString()}. Open a hook for
        its charts.
      </p>
    </section>
  )
}

/** Hooks that denied or failed, then by their runs. */
function worstFirst(a: HookView, b: HookView): number {
  const isBad = ({ denies, failures }: HookView) => Number(denies + failures > 0)
  return isBad(b) - isBad(a) || b.runs - a.runs
}

interface RowProps {
  readonly hook: HookView
  /** Runs in the busiest part of all hooks. */
  readonly most: number
  readonly history: HistoryView
  readonly isOpen: boolean
  readonly onOpen: () => void
}

function HookRow({ hook, most, history, isOpen, onOpen }: RowProps) {
  const { name, source, runs, denies, failures, medianMs, p95Ms, parts } = hook
  return (
    <>
      <tr>
        <th scope="row" title={source}>
          <button type="button" class="quiet" aria-expanded={isOpen} onClick={onOpen}>
            {name}
          </button>
        </th>
        <td>{runs.toLocaleString()}</td>
        <td class={denies > 0 ? 'bad' : 'dim'}>{denies.toLocaleString()}</td>
        <td class={failures > 0 ? 'bad' : 'dim'}>{failures.toLocaleString()}</td>
        <td>{medianMs === undefined ? '–' : duration(medianMs)}</td>
        <td class="roomy">{p95Ms === undefined ? '–' : duration(p95Ms)}</td>
        <td class="roomy">
          <Runs parts={parts} most={most} />
        </td>
      </tr>
      {isOpen && (
        <tr>
          <td colSpan={7} class="opened">
            <div class="grid">
              {MEASURES.map((measure) => (
                <Chart key={measure.name} measure={measure} parts={parts} history={history} />
              ))}
            </div>
          </td>
        </tr>
      )}
    </>
  )
}

const [STEP, HEIGHT] = [6, 22]

/** Stacked: runs, with denies and failures in red at the bottom. */
function Runs({ parts, most }: { readonly parts: readonly HookPart[]; readonly most: number }) {
  return (
    <svg class="chart" viewBox={`0 0 ${parts.length * STEP} ${HEIGHT}`} aria-hidden="true">
      <Bars values={parts.map(({ runs }) => runs)} most={most} tone="plain" height={HEIGHT} />
      <Bars
        values={parts.map(({ denies, failures }) => denies + failures)}
        most={most}
        tone="bad"
        height={HEIGHT}
      />
    </svg>
  )
}

interface BarsProps {
  readonly values: readonly number[]
  readonly most: number
  readonly tone: string
  readonly height: number
}

function Bars({ values, most, tone, height }: BarsProps) {
  return (
    <>
      {values.map((value, i) => {
        const high = value === 0 ? 0 : Math.max(1, (value / most) * height)
        return (
          <rect key={i * STEP} class={tone} x={i * STEP} y={height - high} width={STEP - 1} height={high} />
        )
      })}
    </>
  )
}

interface Measure {
  readonly name: string
  readonly tone: 'plain' | 'bad'
  readonly of: (part: HookPart) => number | undefined
  readonly said: (value: number) => string
}

const count = (value: number) => value.toLocaleString()
const MEASURES: readonly Measure[] = [
  { name: 'Runs', tone: 'plain', of: ({ runs }) => runs, said: count },
  { name: 'Denied', tone: 'bad', of: ({ denies }) => denies, said: count },
  { name: 'Failed', tone: 'bad', of: ({ failures }) => failures, said: count },
  { name: 'Median', tone: 'plain', of: ({ medianMs }) => medianMs, said: duration },
]

const TALL = 56

/** Bars over the whole time, with the highest and when it was. */
function Chart({
  measure: { name, tone, of, said },
  parts,
  history: { from, to },
}: {
  readonly measure: Measure
  readonly parts: readonly HookPart[]
  readonly history: HistoryView
}) {
  const values = parts.map((part) => of(part) ?? 0)
  const most = Math.max(...values)
  const start = (i: number) => new Date(from + ((to - from) / parts.length) * i)
  const highest =
    most === 0 ? 'none' : `at most ${said(most)}, from ${start(values.indexOf(most)).toLocaleString()} on`
  return (
    <figure class="measure">
      <figcaption>
        {name} <span class="dim">{most === 0 ? 'none' : `at most ${said(most)}`}</span>
      </figcaption>
      <svg
        class="chart tall"
        viewBox={`0 0 ${parts.length * STEP} ${TALL}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${name} over time: ${highest}`}
      >
        <title>{highest}</title>
        <Bars values={values} most={Math.max(most, 0.001)} tone={tone} height={TALL} />
      </svg>
      <p class="ends">
        <span>{start(0).toLocaleString()}</span>
        <span>{new Date(to).toLocaleString()}</span>
      </p>
    </figure>
  )
}
