// The specification that configuration hands to a runner: a hook that lacks only its way to run.

import type { Diagnostic } from '../core/base/errors.js'
import type { Hook } from '../core/hooks/hook.js'
import type { Message } from '../core/hooks/outcome.js'

/** `handler` holds the fields that only this kind of hook has. */
export interface HookSpec<H> {
  readonly hook: Omit<Hook, 'run'>
  readonly handler: H
  readonly place: Place
  /** `minimal` passes on only what programs need to start. */
  readonly env: 'inherit' | 'minimal'
  /** Decides its time-out, and which variables it expects. Default: Amplifier's. */
  readonly format?: FileFormat
  /** The longest time-out that anything may ask for. */
  readonly longestMs: number
}

/** A plugin in Claude Code's layout and a file in `.claude` are Claude Code's; all others are Amplifier's. */
export type FileFormat = 'amplifier' | 'claude'

/** Where a configured hook lives. All paths are absolute. */
export interface Place {
  readonly projectDir: string
  /** The folder that contains the plugin's folder; a root file's own folder. */
  readonly hooksDir: string
  readonly plugin?: PluginPlace
  /** The folder of the skill that brought it. */
  readonly skillDir?: string
  /** Replaces the inherited `$PATH`: it leads to the programs that were there when the hook was trusted. */
  readonly path?: string
}

export interface PluginPlace {
  readonly name: string
  readonly root: string
  /** The plugin may keep its own data here. */
  readonly dataDir: string
}

/** Everything outside that a runner may use. */
export interface Surroundings {
  /** Shows a hook's statusMessage while it runs. */
  readonly display?: ((message: Message) => void) | undefined
  /** Reports what comes to light after a hook has answered. */
  readonly report: (d: Diagnostic) => void
}

/** Why a program may not start now, because it is not what was reviewed. Asked right before each start. */
export type StartProblem = () => string | undefined
