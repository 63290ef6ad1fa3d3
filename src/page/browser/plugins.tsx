// Plugins and rules: what is installed, how each hook and rule stands, and switches.

import { useState } from 'preact/hooks'
import type { GroupView, PluginHookView, PluginsView, RuleView } from '../view/plugins.js'
import { useAsked } from './asked.js'
import { counted } from './format.js'
import { Shadows } from './shadows.js'
import { Switched, Switches } from './switches.js'
import { Updates } from './updates.js'

export function Plugins() {
  const [turn, setTurn] = useState(0)
  const [done, setDone] = useState('')
  const { value, problem } = useAsked<PluginsView>('api/plugins', {}, turn)
  const onDone = (text: string) => {
    setDone(text)
    setTurn(turn + 1)
  }
  const hooks = value?.groups.flatMap((group) => group.hooks) ?? []
  const rules = hooks.flatMap((hook) => hook.rules)
  return (
    <>
      <header class="top">
        <div class="title">
          <h1>Plugins and rules</h1>
        </div>
        {value && (
          <p class="dim">
            {counted(hooks.length, 'hook')}, {counted(rules.length, 'rule')}
          </p>
        )}
      </header>
      {problem !== undefined && <p class="banner">{problem}</p>}
      <p class="done" role="status">
        {done}
      </p>
      {value?.groups.length === 0 && <p class="nothing">There are no hooks and no rules here.</p>}
      <ul class="cards broad">
        {value?.groups.map((group) => (
          <li key={`${group.from} ${group.name}`}>
            <Group group={group} passkeys={value.passkeys} onDone={onDone} />
          </li>
        ))}
      </ul>
      <Shadows />
      <Updates onDone={onDone} />
    </>
  )
}

interface With {
  readonly passkeys: PluginsView['passkeys']
  readonly onDone: (text: string) => void
}

function Group({ group, passkeys, onDone }: With & { readonly group: GroupView }) {
  const { name, from, origin, target, switched, hooks } = group
  // One hook and its plugin would have two switches for the same thing.
  const isAlone = target !== undefined && hooks.length === 1
  return (
    <article class="card" aria-label={name}>
      <header class="plugin">
        <h2>{name}</h2>
        <p class="dim">{[from !== name && from, origin].filter(Boolean).join(' · ')}</p>
      </header>
      {target && switched && (
        <Switched target={target} switched={switched} passkeys={passkeys} onDone={onDone} />
      )}
      <ul class="rows">
        {hooks.map((hook) => (
          <li class="row" key={`${hook.name} ${hook.place}`}>
            <Hook hook={hook} isAlone={isAlone} passkeys={passkeys} onDone={onDone} />
          </li>
        ))}
      </ul>
      {target && !switched && (
        <Switches
          title={isAlone ? name : `all of ${name}`}
          target={target}
          passkeys={passkeys}
          onDone={onDone}
        />
      )}
    </article>
  )
}

interface HookProps extends With {
  readonly hook: PluginHookView
  /** Its plugin has no other hook. */
  readonly isAlone: boolean
}

function Hook({ hook, isAlone, passkeys, onDone }: HookProps) {
  const { name, on, command, place, standing, tone, why, target, switched, rules } = hook
  return (
    <details class="hooked">
      <summary>
        <b>{name}</b> <span>{on}</span> <span class={`chip ${tone}`}>{standing}</span>{' '}
        {rules.length > 0 && <span class="dim">{counted(rules.length, 'rule')}</span>}
      </summary>
      <div class="details">
        <p class="dim">{place}</p>
        {why !== '' && <p class="said">{why}</p>}
        {command !== '' && <pre>{command}</pre>}
        {rules.length > 0 && <Rules name={name} rules={rules} />}
        {target && switched && (
          <Switched target={target} switched={switched} passkeys={passkeys} onDone={onDone} />
        )}
        {target && !switched && !isAlone && (
          <Switches title={name} target={target} passkeys={passkeys} onDone={onDone} />
        )}
      </div>
    </details>
  )
}

function Rules({ name, rules }: { readonly name: string; readonly rules: readonly RuleView[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: on a narrow screen it is scrolled by keyboard
    <section class="wide rules" tabIndex={0} aria-label={`Rules of ${name}`}>
      <table>
        <thead>
          <tr>
            <th scope="col">Rule</th>
            <th scope="col">Follows</th>
            <th scope="col">State</th>
            <th scope="col">About</th>
            <th scope="col">Until</th>
            <th scope="col">Where</th>
          </tr>
        </thead>
        <tbody>
          {rules.map(({ id, follows, state, about, until, place }) => (
            <tr key={`${id} ${place}`}>
              <th scope="row">{id}</th>
              <td>{follows}</td>
              <td class={state === 'in force' ? '' : 'dim'}>{state}</td>
              <td class="said">{about}</td>
              <td>{until}</td>
              <td class="dim">{place}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
