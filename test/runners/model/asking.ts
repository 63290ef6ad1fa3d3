// Prompt and agent hooks for tests: made as configuration would, and run on an event.

import { createHooks, type Data, type Diagnostic, type Message, type Outcome } from 'carabiner'
import { type Hook, type HookEvent, HookRegistry, type HookResult } from 'carabiner/core'
import type { Printed } from '../../../src/core/hooks/hook.js'
import { type AgentHandler, agentHook } from '../../../src/runners/agent/agent-hook.js'
import { Programs } from '../../../src/runners/command/programs.js'
import type { HookSpec } from '../../../src/runners/hook-spec.js'
import type { EmbedderModel, ModelSettings, ModelSource } from '../../../src/runners/model/model-source.js'
import { type PromptHandler, promptHook } from '../../../src/runners/prompt/prompt-hook.js'
import { laneHook } from '../../core/made-hook.js'

export class Asking {
  readonly programs = new Programs()
  readonly notes: Diagnostic[] = []
  readonly shown: Message[] = []
  readonly printed: Printed[] = []
  readonly #source: () => ModelSource
  projectDir = process.cwd()

  constructor(source: () => ModelSource) {
    this.#source = source
  }

  static settings(settings: ModelSettings | null): Asking {
    return new Asking(() => ({ settings }))
  }

  static host(embedder: EmbedderModel): Asking {
    return new Asking(() => ({ embedder, settings: null }))
  }

  prompt(handler: Partial<PromptHandler> = {}, more: Partial<Hook> = {}): Hook {
    return promptHook(
      this.#spec({ prompt: 'Is it safe?', ...handler }, more),
      this.#outside,
      this.#source,
      this.programs,
    )
  }

  agent(handler: Partial<AgentHandler> = {}, more: Partial<Hook> = {}): Hook {
    return agentHook(this.#spec({ prompt: 'Is it safe?', ...handler }, more), this.#outside, this.#source)
  }

  /** What the hook answers; rejects with what it throws. */
  async run(
    hook: Hook,
    event: Partial<HookEvent> = {},
    signal = new AbortController().signal,
  ): Promise<HookResult> {
    const context = {
      signal,
      onAbort: () => {},
      session: undefined,
      outcome: undefined,
      note: (d: Diagnostic) => this.notes.push(d),
      onFailure: 'continue' as const,
      printed: (output: Printed) => this.printed.push(output),
      lastWord: () => {},
    }
    const whole = { name: 'PreToolUse', data: CALL, session: undefined, ...event }
    return (await hook.run(whole, context)) as HookResult
  }

  /** The same through the engine. */
  async fire(hook: Hook, data: Data = CALL, event = 'PreToolUse'): Promise<Outcome> {
    const registry = new HookRegistry({ scope: 'global' })
    registry.add({ ...hook, events: new Set([event]) })
    const hooks = await createHooks({ globals: registry })
    const outcome = await hooks.session({ id: 's1' }).fire(event, data)
    await hooks.close()
    return outcome
  }

  get codes(): readonly string[] {
    return this.notes.map(({ code }) => code)
  }

  #outside = { display: (message: Message) => void this.shown.push(message), report: () => {} }

  #spec<H>(handler: H, more: Partial<Hook>): HookSpec<H> {
    const { run: _, ...hook } = laneHook('judge', { kind: 'prompt', ...more })
    const { projectDir } = this
    return { hook, handler, place: { projectDir, hooksDir: projectDir }, env: 'inherit', longestMs: 300_000 }
  }
}

export const CALL: Data = { tool_name: 'Bash', tool_input: { command: 'ls' } }
