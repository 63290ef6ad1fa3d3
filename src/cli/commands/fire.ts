// `carabiner fire`: one event through the hooks of a project, as a host would fire it.

import { resolve, sep } from 'node:path'
import { onAbort } from '../../core/abort.js'
import { type Diagnostic, isHookError } from '../../core/errors.js'
import { knownEvents, lookalikeOf, resolveEvent, slipOf } from '../../core/events.js'
import { nearest } from '../../core/nearest.js'
import type { Outcome, Verdict } from '../../core/outcome.js'
import { plainText } from '../../core/text.js'
import { FileStore } from '../../state/file-store.js'
import { BYPASSED, isBypassed, isSwitchedOff } from '../bypass.js'
import { COMMON_OPTIONS, type Command } from '../command.js'
import { goesOn, sessionOf } from '../fired-session.js'
import { HostReply, lossOf, projectOfHost } from '../host-reply.js'
import { Interruption } from '../interruption.js'
import type { Output } from '../output.js'
import { eventOf, type Payload, readPayload } from '../payload.js'
import { EXIT, Refusal, usage } from '../refusal.js'
import { noticesOf, openHooks, projectOf, SOURCE_OPTIONS, type Sources } from '../sources.js'
import { withToolName } from '../tool-names.js'

const EXITS: Readonly<Record<Verdict, number>> = {
  continue: 0,
  respond: 0,
  deny: 2,
  ask_user: 3,
  abort_turn: 4,
  hard_abort: 4,
}

const OPTIONS = {
  payload: { type: 'string', value: 'FILE', help: 'Read the payload from a file; - is standard input.' },
  ...SOURCE_OPTIONS,
  timeout: {
    type: 'string',
    value: 'SECONDS',
    help: 'Bound the whole fire; what it cuts short has failed.',
  },
  as: {
    type: 'string',
    value: 'HOST',
    help: 'Read and answer as this agent does, to be its hook.',
  },
  ...COMMON_OPTIONS,
} as const

export const command: Command<typeof OPTIONS> = {
  name: 'fire',
  summary: 'Fire one event and print what the hooks decide.',
  positionals: ['[EVENT]'],
  about:
    "Reads the payload as JSON from standard input, or from a file. Without EVENT the payload's hook_event_name " +
    'decides. Never asks anybody, waits for async hooks, and returns when every hook process is gone. With --as the ' +
    "payload, the answer and the exit code are the agent's own; what cannot be evaluated in its time, and a question " +
    'that nobody answered, is a deny.',
  options: OPTIONS,
  exits: [
    [0, 'go on (continue, respond)'],
    [1, 'could not be evaluated'],
    [2, 'denied'],
    [3, 'a person must approve'],
    [4, 'the turn or the agent is aborted'],
    [64, 'wrong usage'],
  ],
  examples: [
    {
      does: 'Would this command be allowed?',
      line: `echo '{"tool_name":"Bash","tool_input":{"command":"rm -rf /"}}' | carabiner fire PreToolUse --trust-all`,
    },
    {
      does: 'The event is in the payload; the answer is for a program.',
      line: `echo '{"hook_event_name":"Stop"}' | carabiner fire --json`,
    },
    {
      does: "Try another agent's settings, reviewed by you, on an event without a payload.",
      line: 'carabiner fire Stop --config .claude/settings.json --trust-all < /dev/null',
    },
    {
      does: 'As a hook of Claude Code: `carabiner fire --as claude-code` is its command.',
      line: `echo '{"hook_event_name":"Stop"}' | carabiner fire --as claude-code`,
    },
  ],
  async run({ options, positionals: [named] }, output) {
    const startedAt = performance.now()
    const timeout = secondsOf(options.timeout)
    if (options.as !== undefined) {
      return replyAs(new HostReply(options.as, named, output), { ...options, timeout, startedAt }, output)
    }
    if (isSwitchedOff() && (await mayBypass(options))) return bypass(options.payload, output)
    const payload = (await readPayload(options.payload)) ?? nothingSent(named)
    const event = eventOf('fire', named, payload)
    // Also for who reads only what the hooks decided: without the gates that were meant, everything goes on.
    const slips = [...slipOf(resolveEvent(event)), ...misspelt(event)]
    if (slips.length > 0) await output.complain(slips.map(({ text }) => plainText(`carabiner: ${text}`)))
    const told = (one: Fired) => report(event, one, output)
    const fired = await fire({ event, payload, sources: options, timeout, told }, output)
    return (
      EXITS[fired.outcome.action] || (lossesOf(options, fired.notices).length > 0 ? EXIT.failed : EXIT.ok)
    )
  },
}

interface ReplyOptions extends Sources {
  readonly payload: string | undefined
  readonly timeout: number | undefined
  readonly startedAt: number
}

async function replyAs(
  reply: HostReply,
  { timeout, startedAt, ...options }: ReplyOptions,
  output: Output,
): Promise<number> {
  try {
    const here = { ...options, project: projectOfHost(options.project) }
    if (isSwitchedOff() && (await mayBypass(here))) return await reply.bypass()
    const sent = await readPayload(options.payload, timeout ?? reply.patience)
    const read = reply.read(sent ?? {})
    const { name: event, data: payload } = read
    const sources = { ...options, project: projectOfHost(options.project, read) }
    const until = { seconds: timeout ?? reply.patience, startedAt }
    const told = ({ outcome, notices }: Fired) => {
      const losses = lossesOf(sources, notices)
      // A deny stands whatever else is missing.
      const counts = losses.length === 0 || EXITS[outcome.action] !== EXIT.ok
      return counts ? reply.give(outcome) : reply.refuse(lossOf(losses))
    }
    await fire({ event, payload, sources, until, told, toolNames: reply.toolNames }, output)
  } catch (error) {
    await reply.refuse(error)
  }
  return reply.exit
}

/** Whoever names a file or a plugin means it: without its hooks the event was not evaluated as asked. */
function lossesOf({ plugin, config }: Sources, notices: readonly Diagnostic[]): readonly Diagnostic[] {
  const named = [...plugin, ...config].map((path) => resolve(path))
  const isNamed = (file = '') => named.some((path) => file === path || file.startsWith(path + sep))
  return notices.filter(({ code, file }) => LOSSES.has(code) && isNamed(file))
}

const LOSSES: ReadonlySet<string> = new Set(['config-invalid', 'entry-invalid', 'entry-unsupported'])

function secondsOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const seconds = Number(text)
  if (text.trim() !== '' && Number.isFinite(seconds) && seconds > 0) return seconds
  throw usage(`--timeout must be a number of seconds above 0, got ${JSON.stringify(text)}`)
}

/** Whoever names the event may have nothing to say about it. */
function nothingSent(named: string | undefined): Payload {
  if (named !== undefined) return {}
  throw new Refusal('PAYLOAD_INVALID', 'The payload is empty, and no EVENT was given', {
    hint: `Send it, as in: echo '{"hook_event_name":"Stop"}' | carabiner fire`,
  })
}

// ---- firing ---------------------------------------------------------------------------------------------------

interface Fired {
  readonly outcome: Outcome
  readonly notices: readonly Diagnostic[]
  readonly ms: number
}

interface Deadline {
  readonly seconds: number
  /** On the clock of performance.now(). */
  readonly startedAt: number
}

interface Firing {
  readonly event: string
  readonly payload: Payload
  /** Other names of the tool that it is about. */
  readonly toolNames?: readonly string[]
  readonly sources: Sources
  /** Seconds: hooks that are not done by then have failed. */
  readonly timeout?: number | undefined
  /** If the hooks are not done by then, nothing was decided. */
  readonly until?: Deadline
  /** As soon as there is a verdict. */
  readonly told: (fired: Fired) => Promise<void>
}

async function fire(
  { event, payload, toolNames = [], sources, timeout, until, told }: Firing,
  output: Output,
): Promise<Fired> {
  const interruption = new Interruption()
  const project = projectOf(sources)
  const options = sessionOf(event, payload, project)
  const troubles: Diagnostic[] = []
  const onTrouble = (text: string) => troubles.push({ code: 'host-failed', text })
  // A session without a name has no next event.
  const store = options.id === undefined ? undefined : new FileStore({ projectDir: project, onTrouble })
  const hooks = await openHooks(sources, store)
  const notices = () => [...misspelt(event), ...noticesOf(hooks), ...troubles]
  const signal =
    until === undefined ? interruption.signal : AbortSignal.any([interruption.signal, late(until)])
  const stopListening = onAbort(signal, () => void hooks.close({ abort: true }))
  const startedAt = performance.now()
  let early = false
  try {
    const session = hooks.session(options)
    const data = withToolName(payload, toolNames, (one) => session.explain(event, one))
    const outcome = await session.fire(event, data, { timeout, signal })
    const ms = performance.now() - startedAt
    // A verdict does not wait for those whose verdict does not count: a host that loses patience has it by then.
    early = outcome.hooks.some(({ status }) => status === 'detached')
    const atOnce = early ? notices() : []
    if (early) await told({ outcome, notices: atOnce, ms })
    await (store && goesOn(event) ? session.leave() : session.close())
    await hooks.close()
    const fired = { outcome, notices: notices(), ms }
    if (early) await reportLate([...atOnce, ...outcome.diagnostics], fired.notices, output)
    else await told(fired)
    return fired
  } catch (error) {
    throw isHookError(error, 'PAYLOAD_INVALID') ? await withExample(event, error) : error
  } finally {
    await hooks.close()
    stopListening()
    interruption.end(early)
  }
}

function late({ seconds, startedAt }: Deadline): AbortSignal {
  const controller = new AbortController()
  const why = new Refusal('ABORTED', `The hooks were not done within ${seconds} seconds`)
  const left = startedAt + seconds * 1000 - performance.now()
  setTimeout(() => controller.abort(why), Math.max(left, 0)).unref()
  return controller.signal
}

/** A misspelt name is an event of its own, which goes on without the gates it was meant for. */
function misspelt(event: string): readonly Diagnostic[] {
  if (!resolveEvent(event).custom || lookalikeOf(event)) return []
  const meant = nearest(
    event,
    knownEvents().map(({ name }) => name),
  )
  if (meant === undefined) return []
  return [{ code: 'lookalike-event', text: `${event} is an event of your own here; did you mean ${meant}?` }]
}

async function withExample(event: string, error: Error): Promise<Refusal> {
  const { examplePayload } = await import('../example-payload.js')
  return new Refusal('PAYLOAD_INVALID', error.message, {
    hint: `A payload of ${resolveEvent(event).name}: ${examplePayload(resolveEvent(event))}`,
  })
}

// ---- telling --------------------------------------------------------------------------------------------------

async function report(event: string, { outcome, notices, ms }: Fired, output: Output): Promise<void> {
  const said = new Set(outcome.diagnostics.map(keyOf))
  const diagnostics = [...notices.filter((one) => !said.has(keyOf(one))), ...outcome.diagnostics]
  if (output.json) return output.document({ ...outcome, diagnostics })
  const { outcomeLines } = await import('../print-outcome.js')
  await output.print(outcomeLines(resolveEvent(event).name, { ...outcome, diagnostics }, ms))
}

/** The document is out: what came to light since goes to standard error. */
async function reportLate(
  told: readonly Diagnostic[],
  notices: readonly Diagnostic[],
  output: Output,
): Promise<void> {
  const said = new Set(told.map(keyOf))
  const late = notices.filter((one) => !said.has(keyOf(one)))
  if (late.length > 0) await output.complain(late.map(({ code, text }) => plainText(`note ${code} ${text}`)))
}

function keyOf({ code, text, ...where }: Diagnostic): string {
  return JSON.stringify([code, text, where])
}

async function mayBypass(sources: Sources): Promise<boolean> {
  return isBypassed(await openHooks(sources))
}

/** Whatever the payload is, the switch lets it pass; the payload is still read, so that its sender is not cut off. */
async function bypass(file: string | undefined, output: Output): Promise<number> {
  const data = (await readPayload(file).catch(() => undefined)) ?? {}
  await output.complain([`carabiner: ${BYPASSED.text}`])
  const outcome = { action: 'continue', data, modified: false, injections: [], messages: [], hooks: [] }
  if (output.json) await output.document({ ...outcome, diagnostics: [BYPASSED] })
  else await output.print(['went on: no hook was asked'])
  return EXIT.ok
}
