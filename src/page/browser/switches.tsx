// Switches of a plugin or hook: off or in shadow mode, for a while or for good, and on again.

import { useState } from 'preact/hooks'
import type { PasskeysView } from '../view/passkeys.js'
import type { SwitchedView, TargetView } from '../view/plugins.js'
import { Act } from './act.js'

const LENGTHS = [
  ['1h', 'for 1 h'],
  ['8h', 'for 8 h'],
  ['1w', 'for a week'],
  ['', 'until I switch it on'],
] as const

interface SwitchesProps {
  /** What is switched, in words. */
  readonly title: string
  readonly target: TargetView
  readonly passkeys: PasskeysView
  readonly onDone: (text: string) => void
}

export function Switches({ title, target, passkeys, onDone }: SwitchesProps) {
  const [to, setTo] = useState('off')
  const [length, setLength] = useState('1h')
  const [where, setWhere] = useState('here')
  const { plugin, from, hook = '', words } = target
  const options = [to === 'shadow' && '--shadow', length && `--for ${length}`, where === 'user' && '--user']
  const command = ['carabiner disable', words, ...options].filter(Boolean).join(' ')
  return (
    <details class="switches">
      <summary>Switch off {title}</summary>
      <div class="fieldrow">
        <label>
          To
          <select value={to} onChange={({ currentTarget }) => setTo(currentTarget.value)}>
            <option value="off">off</option>
            <option value="shadow">shadow mode</option>
          </select>
        </label>
        <label>
          How long
          <select value={length} onChange={({ currentTarget }) => setLength(currentTarget.value)}>
            {LENGTHS.map(([value, text]) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </select>
        </label>
        <label>
          Where
          <select value={where} onChange={({ currentTarget }) => setWhere(currentTarget.value)}>
            <option value="here">in this project</option>
            <option value="user">in all projects</option>
          </select>
        </label>
      </div>
      <Act
        label={to === 'off' ? 'Switch off' : 'Put into shadow mode'}
        act={{ what: 'switch', to, plugin, from, hook, where, for: length }}
        command={command}
        passkeys={passkeys}
        said={to === 'off' ? `${title} is switched off.` : `${title} is in shadow mode.`}
        onDone={onDone}
      />
    </details>
  )
}

interface SwitchedProps {
  readonly target: TargetView
  readonly switched: SwitchedView
  readonly passkeys: PasskeysView
  readonly onDone: (text: string) => void
}

export function Switched({ target, switched, passkeys, onDone }: SwitchedProps) {
  const { plugin, from, hook = '' } = target
  const { where, text, undo, onlyTightens } = switched
  return (
    <div class="switched">
      <p class="open">{text}</p>
      <Act
        label="Switch on"
        act={{ what: 'switch', to: 'on', plugin, from, hook, where, for: '' }}
        command={undo}
        passkeys={passkeys}
        onlyTightens={onlyTightens}
        said={`${hook === '' ? plugin : hook} is switched on.`}
        onDone={onDone}
      />
    </div>
  )
}
