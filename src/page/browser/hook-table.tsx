// What each hook did over time: runs, failures, denies and its median, as figures and as a chart.

import { useEffect, useState } from 'preact/hooks'
import type { HistoryView, HookPart } from '../view.js'
import { ask } from './ask.js'
import { duration } from './format.js'

export function HookTable({ since, hook }: { readonly since: string; readonly hook: string }) {
  const [history, setHistory] = useState<HistoryView>()
  useEffect(() => {
    let isWanted = true
    ask<HistoryView>('api/history', { since, hook }).then(
      (found) => isWanted && setHistory(found),
      () => undefined,
    )
    return () => {
      isWanted = false
    }
  }, [since, hook])
  const hooks = history?.hooks.filter(
    ({ name }) => hook === '' || name === hook || name.startsWith(`${hook}:`),
  )
  if (!hooks || hooks.length === 0) return null
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
              <th scope="col">p95</th>
              <th scope="col" class="charts">
                Runs over time
              </th>
              <th scope="col" class="charts">
                Median over time
              </th>
            </tr>
          </thead>
          <tbody>
            {hooks
              .toSorted((a, b) => b.runs - a.runs)
              .map((one) => (
                <tr key={`${one.name} ${one.source}`}>
                  <th scope="row" title={one.source}>
                    {one.name}
                  </th>
                  <td>{one.runs.toLocaleString()}</td>
                  <td class={one.denies > 0 ? 'bad' : 'dim'}>{one.denies.toLocaleString()}</td>
                  <td class={one.failures > 0 ? 'bad' : 'dim'}>{one.failures.toLocaleString()}</td>
                  <td>{one.medianMs === undefined ? '–' : duration(one.medianMs)}</td>
                  <td>{one.p95Ms === undefined ? '–' : duration(one.p95Ms)}</td>
                  <td>
                    <Runs parts={one.parts} most={most} />
                  </td>
                  <td>
                    <Medians parts={one.parts} />
                  </td>
                </tr>
              ))}
          </tbody>
        </table>
      </section>
      {history && (
        <p class="dim">
          {new Date(history.from).toLocaleString()} to {new Date(history.to).toLocaleString()}
        </p>
      )}
    </section>
  )
}

const [STEP, HEIGHT] = [6, 22]

/** Stacked: runs, with denies and failures in red at the bottom. */
function Runs({ parts, most }: { readonly parts: readonly HookPart[]; readonly most: number }) {
  const high = (count: number) => (count === 0 ? 0 : Math.max(1, (count / most) * HEIGHT))
  return (
    <svg class="chart" viewBox={`0 0 ${parts.length * STEP} ${HEIGHT}`} aria-hidden="true">
      {parts.map(({ runs, denies, failures }, i) => (
        <g key={i * STEP}>
          <rect class="plain" x={i * STEP} y={HEIGHT - high(runs)} width={STEP - 1} height={high(runs)} />
          <rect
            class="bad"
            x={i * STEP}
            y={HEIGHT - high(denies + failures)}
            width={STEP - 1}
            height={high(denies + failures)}
          />
        </g>
      ))}
    </svg>
  )
}

function Medians({ parts }: { readonly parts: readonly HookPart[] }) {
  const most = Math.max(0.001, ...parts.map(({ medianMs = 0 }) => medianMs))
  const points = parts.flatMap(({ medianMs }, i) =>
    medianMs === undefined
      ? []
      : [`${i * STEP + STEP / 2},${(HEIGHT - 2 - (medianMs / most) * (HEIGHT - 4)).toFixed(1)}`],
  )
  return (
    <svg class="chart" viewBox={`0 0 ${parts.length * STEP} ${HEIGHT}`} aria-hidden="true">
      <polyline points={points.join(' ')} />
      {points.map((point) => {
        const [x, y] = point.split(',')
        return <circle key={point} cx={x} cy={y} r="1.4" />
      })}
    </svg>
  )
}
