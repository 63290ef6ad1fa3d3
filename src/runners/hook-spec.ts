// The specification that configuration passes to a runner: a hook that lacks only its `run` function.

import type { Diagnostic } from '../core/base/errors.js'
import type { Hook } from '../core/hooks/hook.js'
import type { Message } from '../core/hooks/outcome.js'
import type { AgentTerms } from '../hosts/hook-files/agent-call.js'

/** `handler` holds the fields that only this kind of hook has. */
export interface HookSpec<H> {
  readonly hook: Omit<Hook, 'run'>
  readonly handler: H
  readonly place: Place
  /** `minimal`: the hook only inherits variables that programs need to start. */
  readonly env: 'inherit' | 'minimal'
  /** Decides the default timeout and the variables that it expects. Default: Amplifier's. */
  readonly format?: FileFormat
  /** For a hook from another agent's file: it gets that agent's payload, and its answer is read as there. */
  readonly agent?: AgentTerms | undefined
  /** The longest timeout that anything may ask for. */
  readonly longestMs: number
}

/** A plugin in Claude Code's layout and a file in `.claude` have Claude Code's format. All others have Amplifier's. */
export type FileFormat = 'amplifier' | 'claude'

/** Where a configured hook lives. All paths are absolute. */
export interface Place {
  readonly projectDir: string
  /** The folder that contains the plugin's folder. For a root file, its own folder. */
  readonly hooksDir: string
  readonly plugin?: PluginPlace
  /** The folder of the skill that brought it. */
  readonly skillDir?: string
  /** The copy of everything that was reviewed with it, which the folders above are in. */
  readonly copy?: string
  /** Replaces the inherited `$PATH`, so that the programs reviewed with the hook are used. */
  readonly path?: string
}

export interface PluginPlace {
  readonly name: string
  readonly root: string
  /** Where the plugin may keep its own data. */
  readonly dataDir: string
}

/** What a runner may use from its surroundings. */
export interface Surroundings {
  /** Shows a hook's statusMessage while it runs. */
  readonly display?: ((message: Message) => void) | undefined
  /** Reports problems that show up after a hook has answered. */
  readonly report: (d: Diagnostic) => void
}

/** Why a program may not start now, if it differs from what was reviewed. Called right before each start. */
export type StartProblem = () => string | undefined
