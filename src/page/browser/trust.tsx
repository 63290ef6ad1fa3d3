// Trust: what waits for a review, the worst first, with what changed since it was trusted. A person trusts with a passkey, or by typing.

import { useState } from 'preact/hooks'
import type { PasskeysView } from '../view/passkeys.js'
import type { GoneView, TrustView, UnitFilesView, UnitView } from '../view/trust.js'
import { Act } from './act.js'
import { useAsked } from './asked.js'
import { DiffLines } from './diff.js'
import { counted } from './format.js'
import { Risks } from './risks.js'
import { Typed } from './typed.js'
import { UnitHooks } from './unit-hooks.js'

export function Trust() {
  const [turn, setTurn] = useState(0)
  const [done, setDone] = useState('')
  const { value, problem } = useAsked<TrustView>('api/trust', {}, turn)
  const onDone = (text: string) => {
    setDone(text)
    setTurn(turn + 1)
  }
  return (
    <>
      <header class="top">
        <div class="title">
          <h1>Trust</h1>
        </div>
        {value && value.waiting.length > 0 && (
          <p class="dim">
            {value.waiting.length} to review{value.waiting.length > 1 && ', the worst first'}
          </p>
        )}
      </header>
      {problem !== undefined && <p class="banner">{problem}</p>}
      <p class="done" role="status">
        {done}
      </p>
      {value?.gone
        .filter(({ id }) => value.waiting.every((unit) => unit.id !== id))
        .map(({ why, repair }) => (
          <p class="banner" key={why}>
            {why} {repair}
          </p>
        ))}
      {value?.waiting.length === 0 && (
        <p class="nothing">
          Nothing waits for a review.
          {value.trusted > 0 && ` ${counted(value.trusted, 'source')} of this project may run.`}
        </p>
      )}
      <ol class="cards">
        {value?.waiting.map((unit) => (
          <li key={`${unit.path} ${unit.digest}`}>
            <Unit
              unit={unit}
              gone={value.gone.find(({ id }) => id === unit.id)}
              passkeys={value.passkeys}
              onDone={onDone}
            />
          </li>
        ))}
      </ol>
    </>
  )
}

interface UnitProps {
  readonly unit: UnitView
  /** What guards its calls meanwhile, if it was trusted before. */
  readonly gone: GoneView | undefined
  readonly passkeys: PasskeysView
  readonly onDone: (text: string) => void
}

/** What happens while nobody has looked at the change. */
const MEANWHILE: Readonly<Record<GoneView['guardedBy'], string>> = {
  copy: 'The version that you trusted still runs; this one does not.',
  closed: 'Until you decide, every call that it would judge is refused.',
  nothing: 'It does not run: calls go on without it.',
}

function Unit({ unit, gone, passkeys, onDone }: UnitProps) {
  const { id, name, path, state, why, hooks, risks, differences, programs, problems, digest } = unit
  return (
    <article class="card" aria-label={name}>
      <p class="kicker">
        <span class="dotted">{state === 'modified' ? 'Changed since you trusted it' : why}</span>
        <code class="dim">{path}</code>
      </p>
      <h2>{name}</h2>
      {state === 'modified' && <p>{gone ? MEANWHILE[gone.guardedBy] : 'This version does not run.'}</p>}
      <Risks risks={risks} />
      {differences.map(({ text, diff }) => (
        <figure key={text}>
          <figcaption>{text}</figcaption>
          {diff.length > 0 && <DiffLines lines={diff} />}
        </figure>
      ))}
      <dl class="fields">
        <UnitHooks hooks={hooks} />
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
      <Files id={id} />
      {passkeys.state === 'none' || digest === undefined || !unit.canTrust ? (
        <Typed label="To read everything and decide, type" command="carabiner trust" />
      ) : (
        <Act
          label="Trust exactly this"
          act={{ what: 'trust', id, digest }}
          command="carabiner trust"
          passkeys={passkeys}
          said={`${name} is trusted.`}
          onDone={onDone}
        />
      )}
    </article>
  )
}

/** The whole text of what would be trusted. */
function Files({ id }: { readonly id: string }) {
  const [isOpen, setIsOpen] = useState(false)
  const { value, problem } = useAsked<UnitFilesView>(isOpen ? 'api/trust/files' : '', { id })
  return (
    <details class="files" onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
      <summary>Read every file</summary>
      {problem !== undefined && <p class="bad">{problem}</p>}
      {value?.missing.map((path) => (
        <p class="bad" key={path}>
          {path} is not in PATH.
        </p>
      ))}
      {value?.files.map(({ path, text, size, link, isExecutable }) => (
        <figure key={path}>
          <figcaption>
            {path}{' '}
            <span class="dim">
              {link === undefined ? counted(size, 'byte') : `a link to ${link}`}
              {isExecutable && ', executable'}
            </span>
          </figcaption>
          {link !== undefined ? null : text === undefined ? (
            <p class="dim">
              It cannot be shown: it is not text, or is too large. The digest covers its exact bytes.
            </p>
          ) : (
            // biome-ignore lint/a11y/noNoninteractiveTabindex: it is scrolled by keyboard
            <pre class="text" tabIndex={0}>
              {text}
            </pre>
          )}
        </figure>
      ))}
    </details>
  )
}
