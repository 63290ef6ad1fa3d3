// What hooks and rules in shadow mode would have done, counted from the record.

import type { ShadowsView } from '../view/plugins.js'
import { useAsked } from './asked.js'
import { clock, counted, day } from './format.js'
import { addressOf } from './route.js'

export function Shadows() {
  const { value, problem } = useAsked<ShadowsView>('api/shadows')
  return (
    <section class="family">
      <h2>In shadow mode, they would have</h2>
      {problem !== undefined && <p class="bad">{problem}</p>}
      {value?.results.length === 0 && (
        <p class="dim">Nothing in shadow mode would have done anything, as far as the record goes.</p>
      )}
      <ul class="rows">
        {value?.results.map(({ name, count, newest }) => (
          <li class="row" key={name}>
            <details class="hooked">
              <summary>
                <b>{name}</b>{' '}
                <span class="chip open">
                  {counted(count, 'time')}
                  {value.isCut ? ' or more' : ''}
                </span>
              </summary>
              <ul class="details nexts">
                {newest.map(({ seq, time, tool, text }) => (
                  <li key={`${seq} ${text}`}>
                    <a href={addressOf('audit', String(seq))}>
                      {day(time)} {clock(time)} {tool}
                    </a>{' '}
                    {text}
                  </li>
                ))}
              </ul>
            </details>
          </li>
        ))}
      </ul>
    </section>
  )
}
