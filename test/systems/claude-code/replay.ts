// Replays recorded answers of hooks through decode and the kernel, and names the outcome as the corpus does.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { HookRegistry, type Json, type Outcome, resolveEvent } from 'carabiner/core'
import { decode } from '../../../src/systems/claude-code/decode.js'
import { laneHook } from '../../core/made-hook.js'

const CORPUS = fileURLToPath(new URL('../../../../shared/corpus', import.meta.url))

/** Nothing from the corpus is copied into the project, so a checkout alone does not have it. */
export const corpusIsHere = existsSync(CORPUS)

export function readCorpus<T>(path: string): T {
  return JSON.parse(readFileSync(`${CORPUS}/${path}`, 'utf8')) as T
}

export function corpusFiles(folder: string): string[] {
  return readdirSync(`${CORPUS}/${folder}`).map((file) => `${folder}/${file}`)
}

/** How one command ended. */
export interface Said {
  readonly exit: number
  readonly stdout?: string
  readonly stderr?: string
  readonly onFailure?: 'block' | 'continue'
}

/** The outcome of an event whose command hooks end like this, in this order. */
export function replay(event: string, data: object, said: readonly Said[]): Promise<Outcome> {
  const registry = new HookRegistry()
  for (const [i, { exit, stdout = '', stderr = '', onFailure = 'continue' }] of said.entries()) {
    const name = `h${i}`
    const reply = { code: exit, signal: null, stdout, stderr, cut: false }
    registry.add(
      laneHook(name, {
        events: new Set([event]),
        onFailure,
        run: (happened, { note }) => decode(happened, reply, { name, onFailure }, note),
      }),
    )
  }
  return registry.emit(event, data)
}

/** The corpus' vocabulary. */
export interface Seen {
  readonly decision: 'stop' | 'deny' | 'ask' | 'modify' | 'inject' | 'continue'
  readonly reason?: string
  readonly context?: string
  readonly permission?: string
  readonly updated?: Json
}

export function seen(event: string, outcome: Outcome): Seen {
  const told =
    resolveEvent(event).deny === 'tell'
      ? outcome.hooks.filter(({ answer, countsAs }) => answer?.action === 'deny' || countsAs === 'deny')
      : []
  const tellers = new Set(told.map(({ name }) => name))
  // A hook that denies after the fact injects its reason first, then its context.
  const reasons: string[] = []
  const contexts: string[] = []
  for (const { source, text } of outcome.injections) {
    if (tellers.delete(source)) reasons.push(text)
    else contexts.push(text)
  }
  const reason = reasons.length > 0 ? reasons.join('\n') : outcome.reason
  const updated = outcome.data.tool_response ?? outcome.data.tool_input
  return {
    decision: decisionOf(outcome, told.length > 0),
    ...(reason !== undefined && { reason }),
    ...(contexts.length > 0 && { context: contexts.join('\n') }),
    ...(outcome.permission && { permission: outcome.permission }),
    ...(outcome.modified && updated !== undefined && { updated }),
  }
}

function decisionOf(outcome: Outcome, told: boolean): Seen['decision'] {
  if (outcome.action === 'abort_turn') return 'stop'
  if (outcome.action === 'deny' || told) return 'deny'
  if (outcome.action === 'ask_user') return 'ask'
  if (outcome.modified) return 'modify'
  return outcome.injections.length > 0 ? 'inject' : 'continue'
}
