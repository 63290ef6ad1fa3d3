// The facts of a proof: what each run shows, and what the agent's table promises.

import { can } from '../hosts/abilities.js'
import type { Ability, Host } from '../hosts/host.js'
import type { HostProof } from '../hosts/host-proof.js'
import type { RunResult } from './agent-run.js'
import { type CanaryAct, CONTEXT_EVENTS, type ContextEvent, MARKERS, WORDS } from './canary.js'

/**
 * `held`: it was seen. `failed`: it was promised, and not seen. `cannot`: the agent has no way to do it, and our table
 * says so. `unknown`: the run did not get so far.
 */
export type FactState = 'held' | 'failed' | 'cannot' | 'unknown'

export interface Fact {
  readonly name: FactName
  readonly state: FactState
  /** What was seen, for people. */
  readonly text: string
}

type FactName =
  | 'runs'
  | 'command'
  | 'reason'
  | 'file'
  | 'rewrite'
  | `context ${ContextEvent}`
  | 'subagent'
  | 'stop'
  | 'ask'
  | 'together'

/** What a run left behind. */
export interface Seen {
  readonly result: RunResult
  /** Files of the project. */
  readonly files: readonly string[]
  /** How often the hook was asked, and gave an answer. */
  readonly hookActed: number
}

/** The agent, as far as facts depend on it. */
export interface Promises {
  readonly can: (event: string, ability: Ability) => boolean
  readonly hasSubagents: boolean
  /** A refusal ends the run, so that the model is told nothing. */
  readonly endsOnRefusal: boolean
  /** Of the context that several commands give for one event, the model is told only one. */
  readonly keepsOneContext: boolean
}

export function promisesOf(
  host: Pick<Host, 'can'>,
  { calls, endsOnRefusal, keepsOneContext }: HostProof,
): Promises {
  return {
    can: (event, ability) => can(host, event, ability),
    hasSubagents: calls.subagent !== undefined,
    endsOnRefusal: endsOnRefusal ?? false,
    keepsOneContext: keepsOneContext ?? false,
  }
}

/** A run: the canaries in it, what the hook answers, and the facts that it shows. */
export interface Trial {
  readonly name: string
  /** Undefined: Carabiner is not there at all. */
  readonly act?: CanaryAct
  readonly does: readonly ('shell' | 'file' | 'guarded' | 'subagent')[]
  /** Hooks of the pack that are registered, too. */
  readonly pack?: readonly string[]
  /** Belongs to the quick proof. */
  readonly isQuick?: true
  readonly facts: (seen: Seen, promises: Promises) => readonly Fact[]
}

export const TRIALS: readonly Trial[] = [
  { name: 'without the hook', does: ['shell', 'file', 'subagent'], isQuick: true, facts: factsWithout },
  { name: 'a refused command', act: 'deny', does: ['shell'], isQuick: true, facts: factsOfCommand },
  { name: 'a refused file', act: 'deny', does: ['file'], isQuick: true, facts: factsOfFile },
  { name: 'a changed command', act: 'rewrite', does: ['shell'], facts: factsOfRewrite },
  { name: 'context', act: 'context', does: ['shell'], facts: factsOfContext },
  { name: 'a subagent', act: 'deny', does: ['subagent'], facts: factsOfSubagent },
  { name: 'a refused end', act: 'stop', does: [], facts: factsOfStop },
  { name: 'a question', act: 'ask', does: ['shell'], facts: factsOfAsk },
  {
    name: 'the guard and other hooks',
    act: 'together',
    pack: ['guard', 'preferences'],
    does: ['file', 'guarded'],
    facts: factsOfTogether,
  },
]

function factsWithout(seen: Seen): readonly Fact[] {
  const missing = (['shell', 'file'] as const).filter((kind) => !seen.files.includes(MARKERS[kind]))
  if (missing.length === 0)
    return [held('runs', 'without the hook, the command runs and the file is written')]
  const what = missing.map((kind) => (kind === 'shell' ? 'run the command' : 'write the file')).join(' or ')
  return [
    { name: 'runs', state: 'failed', text: `without the hook, the agent did not ${what}${whyNot(seen)}` },
  ]
}

function factsOfCommand(seen: Seen, { endsOnRefusal }: Promises): readonly Fact[] {
  const command = refused('command', seen, {
    marker: MARKERS.shell,
    kept: 'with the hook, the command does not run',
    lost: 'with the hook, the command ran all the same',
  })
  if (wasTold(seen, WORDS.deny)) return [command, held('reason', 'the model is told why')]
  const text = endsOnRefusal
    ? 'the model is not told why: the agent ends the task instead'
    : 'the model was not told why'
  return [command, { name: 'reason', state: endsOnRefusal ? 'cannot' : 'failed', text }]
}

function factsOfFile(seen: Seen): readonly Fact[] {
  return [
    refused('file', seen, {
      marker: MARKERS.file,
      kept: 'with the hook, the file is not written',
      lost: 'with the hook, the file was written all the same',
    }),
  ]
}

function factsOfRewrite(seen: Seen, { can, endsOnRefusal }: Promises): readonly Fact[] {
  const name = 'rewrite'
  if (seen.files.includes(MARKERS.shell))
    return [{ name, state: 'failed', text: 'the command ran as it was, though a hook changed it' }]
  if (seen.files.includes(MARKERS.rewritten)) return [held(name, 'a changed command runs instead')]
  if (seen.hookActed === 0) return [unasked(name, seen)]
  if (can('PreToolUse', 'input'))
    return [{ name, state: 'failed', text: 'a changed command did not run, though the agent can' }]
  if (wasTold(seen, WORDS.rewritten))
    return [held(name, 'a changed command is refused, and the model is told the changed one')]
  return endsOnRefusal
    ? [held(name, 'a changed command is refused, and the task ends')]
    : [{ name, state: 'failed', text: 'a changed command was refused, and the model was not told why' }]
}

const PLACES: Readonly<Record<ContextEvent, string>> = {
  UserPromptSubmit: 'with the prompt',
  SessionStart: 'at the start',
  PostToolUse: 'after a tool',
  PreToolUse: 'before a tool',
}

function factsOfContext(seen: Seen, { can }: Promises): readonly Fact[] {
  return CONTEXT_EVENTS.map((event): Fact => {
    const name = `context ${event}` as const
    const where = PLACES[event]
    if (wasTold(seen, WORDS[event], 0)) return held(name, `context ${where} reaches the model`)
    return can(event, 'context')
      ? { name, state: 'failed', text: `context ${where} did not reach the model` }
      : { name, state: 'cannot', text: `context ${where} cannot reach the model` }
  })
}

function factsOfSubagent(seen: Seen, { hasSubagents }: Promises): readonly Fact[] {
  const name = 'subagent'
  if (!hasSubagents) return [{ name, state: 'cannot', text: 'there are no subagents to ask' }]
  return [
    refused(name, seen, {
      marker: MARKERS.subagent,
      kept: "a subagent's command does not run",
      lost: "a subagent's command ran all the same",
    }),
  ]
}

function factsOfStop(seen: Seen, { can }: Promises): readonly Fact[] {
  const name = 'stop'
  const times = seen.result.requests.filter(({ role }) => role === 'main').length - 1
  if (!wasTold(seen, WORDS.stop))
    return can('Stop', 'block')
      ? [{ name, state: 'failed', text: `a refused end did not keep the agent going${whyNot(seen)}` }]
      : [{ name, state: 'cannot', text: 'the end of a turn cannot be refused' }]
  if (seen.result.ended === 'limit')
    return [{ name, state: 'failed', text: `a hook that refuses every end kept the agent going for ever` }]
  return [held(name, `a refused end keeps the agent going; it ended after ${times} of them`)]
}

function factsOfAsk(seen: Seen): readonly Fact[] {
  return [
    refused('ask', seen, {
      marker: MARKERS.shell,
      kept: 'a command that needs a person does not run without one',
      lost: 'a command that needs a person ran without one',
    }),
  ]
}

/** Several commands for one event: an agent, or what setup wrote for it, may lose the answers of all but one. */
function factsOfTogether(seen: Seen, { can, endsOnRefusal, keepsOneContext }: Promises): readonly Fact[] {
  const name = 'together'
  const failed = (text: string): readonly Fact[] => [{ name, state: 'failed', text }]
  if (seen.files.includes(MARKERS.file)) return failed('beside the guard, a hook could not refuse a file')
  if (seen.files.includes(MARKERS.guarded))
    return failed('beside other hooks, the guard could not refuse a command')
  if (seen.hookActed === 0) return [unasked(name, seen)]
  if (!endsOnRefusal && !wasTold(seen, WORDS.deny)) return failed('beside the guard, a hook was not asked')
  if (!endsOnRefusal && !wasTold(seen, WORDS.guard))
    return failed('beside other hooks, the guard was not asked')
  const contexts = can('UserPromptSubmit', 'context') ? [WORDS.preferences, WORDS.UserPromptSubmit] : []
  const told = contexts.filter((word) => wasTold(seen, word, 0))
  if (keepsOneContext && told.length === 1)
    return [held(name, 'the guard and other hooks work side by side, but one context at a time')]
  if (told.length < contexts.length)
    return failed('of the context of two hooks, only a part reached the model')
  return [held(name, 'the guard and other hooks work side by side')]
}

// ---- what was seen --------------------------------------------------------------------------------------------

/** Something did not happen. That proves nothing if the hook was never asked about it. */
function refused(
  name: FactName,
  seen: Seen,
  { marker, kept, lost }: { readonly marker: string; readonly kept: string; readonly lost: string },
): Fact {
  if (seen.files.includes(marker)) return { name, state: 'failed', text: lost }
  return seen.hookActed > 0 ? held(name, kept) : unasked(name, seen)
}

function held(name: FactName, text: string): Fact {
  return { name, state: 'held', text }
}

function unasked(name: FactName, seen: Seen): Fact {
  return { name, state: 'unknown', text: `the agent never asked the hook${whyNot(seen)}` }
}

/** Whether a later request of any talk had the word. `from`: the turn that it may stand in first. */
function wasTold({ result }: Seen, word: string, from = 1): boolean {
  return result.requests.some(({ turn, words }) => turn >= from && words.includes(word))
}

/** The likely reason, in a few words. */
function whyNot({ result }: Seen): string {
  const { ended, exit, requests, unknown, output } = result
  const said = lastLine(output)
  const quote = said === '' ? '' : `: ${said}`
  if (ended === 'not-started') return ` (it could not be started${quote})`
  if (requests.length === 0 && unknown.length > 0)
    return ` (it asked for ${unknown[0]}, which the model does not have)`
  if (requests.length === 0)
    return ` (it never reached the model${exit ? `, and exited with ${exit}` : ''}${quote})`
  if (ended === 'limit') return ` (it did not end in ${Math.round(result.ms / 1000)} s${quote})`
  return exit === 0 || exit === null ? '' : ` (it exited with ${exit}${quote})`
}

function lastLine(output: string): string {
  const lines = output.split('\n').map((line) => line.trim())
  return (lines.filter((line) => line !== '').at(-1) ?? '').slice(0, 200)
}
