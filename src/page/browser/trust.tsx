// Trust: what waits for a review, the worst first, with what changed since it was trusted. A person trusts by typing.

import type { TrustView, UnitView } from '../view.js'
import { useAsked } from './asked.js'
import { DiffLines } from './diff.js'
import { counted } from './format.js'
import { Typed } from './typed.js'

export function Trust() {
  const { value, problem } = useAsked<TrustView>('api/trust')
  return (
    <>
      <header class="top">
        <div class="title">
          <h1>Trust</h1>
        </div>
        {value && <p class="dim">{counted(value.trusted, 'trusted source')}</p>}
      </header>
      {problem !== undefined && <p class="banner">{problem}</p>}
      {value?.gone.map(({ why, repair }) => (
        <p class="banner" key={why}>
          {why} {repair}
        </p>
      ))}
      {value?.waiting.length === 0 && <p class="nothing">Nothing waits for a review.</p>}
      <ol class="cards">
        {value?.waiting.map((unit) => (
          <li key={unit.path}>
            <Unit unit={unit} />
          </li>
        ))}
      </ol>
    </>
  )
}

function Unit({ unit }: { readonly unit: UnitView }) {
  const { name, path, state, why, hooks, risks, differences, programs, problems, digest } = unit
  return (
    <article class="card" aria-label={name}>
      <p class="kicker">
        <span>{state === 'modified' ? 'Changed since you trusted it, and does not run' : why}</span>
        <code class="dim">{path}</code>
      </p>
      <h2>{name}</h2>
      {risks.length > 0 && (
        <ul class="risks">
          {risks.map(({ where, text }) => (
            <li key={`${where} ${text}`}>
              <span class="bad">{text}</span> <span class="dim">{where}</span>
            </li>
          ))}
        </ul>
      )}
      {differences.map(({ text, diff }) => (
        <figure key={text}>
          <figcaption>{text}</figcaption>
          {diff.length > 0 && <DiffLines lines={diff} />}
        </figure>
      ))}
      <dl class="fields">
        {hooks.map((hook) => (
          <div key={hook.name}>
            <dt>{hook.on === '' ? hook.name : hook.on}</dt>
            <dd>
              <pre>{hook.command === '' ? hook.name : hook.command}</pre>
            </dd>
          </div>
        ))}
        {programs.map((program) => (
          <div key={program}>
            <dt>program</dt>
            <dd>{program}</dd>
          </div>
        ))}
        {digest !== undefined && (
          <div>
            <dt>digest</dt>
            <dd>
              <code>{digest}</code>
            </dd>
          </div>
        )}
      </dl>
      {problems.map((problem) => (
        <p class="dim" key={problem}>
          {problem}
        </p>
      ))}
      <Typed label="To read everything and decide, type" command="carabiner trust" />
    </article>
  )
}
