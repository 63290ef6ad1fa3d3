// What the screen Plugins and rules shows.

import type { PasskeysView } from './passkeys.js'
import type { UnitView } from './trust.js'

export interface PluginsView {
  readonly passkeys: PasskeysView
  readonly groups: readonly GroupView[]
}

/** A plugin, a file of hooks, or the hooks that an agent runs itself. */
export interface GroupView {
  readonly name: string
  /** `user`, `project`, `named`, or the agent that runs it. */
  readonly from: string
  /** Where it was installed from, and its version. */
  readonly origin: string
  readonly target?: TargetView
  readonly switched?: SwitchedView
  readonly hooks: readonly PluginHookView[]
}

export interface PluginHookView {
  readonly name: string
  readonly on: string
  readonly command: string
  readonly place: string
  readonly standing: string
  readonly tone: 'good' | 'bad' | 'open'
  /** Why it is not ready. */
  readonly why: string
  readonly target?: TargetView
  readonly switched?: SwitchedView
  readonly rules: readonly RuleView[]
}

/** What an act names, and the words of `carabiner disable`. */
export interface TargetView {
  readonly plugin: string
  readonly from: string
  readonly hook?: string
  readonly words: string
}

export interface SwitchedView {
  readonly where: 'here' | 'user'
  readonly text: string
  /** The command that undoes it. */
  readonly undo: string
  /** Undoing it can only refuse or ask more. */
  readonly onlyTightens: boolean
}

export interface RuleView {
  readonly id: string
  readonly place: string
  readonly about: string
  /** `deny`, `ask` … */
  readonly follows: string
  readonly state: 'in force' | 'in shadow mode' | 'ended' | 'off' | 'can only deny'
  readonly until: string
}

export interface ShadowsView {
  readonly results: readonly {
    readonly name: string
    readonly count: number
    readonly newest: readonly {
      readonly seq: number
      readonly time: string
      readonly tool: string
      readonly text: string
    }[]
  }[]
  /** Only the newest were counted. */
  readonly isCut: boolean
}

export interface UpdatesView {
  readonly passkeys: PasskeysView
  readonly plugins: readonly UpdateView[]
}

export interface UpdateView {
  readonly name: string
  readonly where: 'here' | 'user'
  readonly state: string
  /** `from 1.0.0 to 1.1.0`, or why it could not be fetched. */
  readonly text: string
  readonly digest?: string
  /** All of them as they would be, whether they change or not. */
  readonly hooks: UnitView['hooks']
  readonly risks: UnitView['risks']
  readonly differences: UnitView['differences']
  readonly command: string
}
