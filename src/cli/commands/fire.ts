// `carabiner fire`: fires one event through the hooks of a project, as a host would.

import { textOf } from '../../core/base/errors.js'
import { plainText } from '../../core/base/text.js'
import { ACTIONS } from '../../core/events/actions.js'
import { resolveEvent } from '../../core/events/events.js'
import type { Outcome } from '../../core/hooks/outcome.js'
import { HOST_NAMES } from '../../hosts/hosts.js'
import { isSignatureNeeded } from '../../store/approvers.js'
import { BYPASSED, isBypassed, isSwitchedOff } from '../bypass.js'
import { type Command, type Options, secondsOf } from '../command.js'
import type { CarriedHook } from '../fire/carried-hook.js'
import { type FiredInProject, type Firing, fireInProject, misspelt, unsaid } from '../fire/fire-event.js'
import { HostReply, lossOf } from '../fire/host-reply.js'
import { checkExact, eventOf, nearEvent, type Payload, readAsSent, readPayload } from '../fire/payload.js'
import type { Output } from '../output.js'
import { checkPerson } from '../person.js'
import { severityOf } from '../print/severity.js'
import { isTerminal, painter } from '../print/terminal.js'
import { ProjectAudit } from '../project-audit.js'
import { EXIT, Refusal, usage } from '../refusal.js'
import {
  checkEnvironment,
  listedHooks,
  lossesOf,
  openHooks,
  projectOf,
  SOURCE_OPTIONS,
  type Sources,
} from '../sources.js'

const OPTIONS = {
  payload: { type: 'string', value: 'FILE', help: 'Read the payload from a file; - is standard input.' },
  ...SOURCE_OPTIONS,
  timeout: {
    type: 'string',
    value: 'SECONDS',
    help: 'Time limit for the whole event; hooks it cuts short fail.',
  },
  ask: { type: 'boolean', help: 'Ask you at this terminal.' },
  wait: {
    type: 'string',
    value: 'SECONDS',
    help: 'Wait for an answer in `carabiner approvals`.',
  },
  record: {
    type: 'string',
    value: 'FILE',
    help: 'Add the call and its outcome to a test file.',
  },
  as: {
    type: 'string',
    value: 'AGENT',
    completes: HOST_NAMES,
    help: 'Be a hook of this agent: read and answer in its format.',
  },
  run: {
    type: 'string',
    value: 'COMMAND',
    help: 'With --as: run only this hook of another agent.',
  },
  for: {
    type: 'string',
    value: 'AGENT:EVENT',
    help: 'The agent and event that --run was written for.',
  },
  when: {
    type: 'string',
    value: 'PATTERN',
    help: 'Use --run only for shell commands that match.',
  },
  'fail-closed': { type: 'boolean', help: 'Deny if --run fails.' },
} as const

export const command: Command<typeof OPTIONS> = {
  name: 'fire',
  summary: 'Fire one event and print what the hooks decide.',
  positionals: ['[EVENT]'],
  about:
    "Reads the payload as JSON from standard input or from a file. EVENT defaults to the payload's hook_event_name. " +
    'Waits for async hooks, and returns when every hook process has ended. Without --ask it does not ask you: a question ' +
    'waits in `carabiner approvals`, and its answer counts when the same call is fired again. With --as, the payload, the ' +
    "answer and the exit code are in the agent's format; an agent that can ask its user asks your hooks' questions; a call " +
    `that cannot be evaluated in time, and a question that nobody answers, are denied. AGENT is one of ${HOST_NAMES.join(', ')}.`,
  options: OPTIONS,
  exits: [
    [ACTIONS.continue.exit, 'go on (continue, respond)'],
    [1, 'could not be evaluated'],
    [ACTIONS.deny.exit, 'denied'],
    [ACTIONS.ask_user.exit, 'a person must approve'],
    [ACTIONS.abort_turn.exit, 'the turn or the agent is aborted'],
    [64, 'wrong usage (2 with --as, so that nothing passes by mistake)'],
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
  mayRun({ options }) {
    if (options.ask) checkPerson('Answering')
  },
  async run({ options, positionals: [named] }, output, { stdin, signal, answered }) {
    const startedAt = performance.now()
    checkAsking(options)
    const carried = await carriedIn(options)
    const timeout = secondsOf('timeout', options.timeout)
    const wait = secondsOf('wait', options.wait)
    if (options.as !== undefined) {
      if (options.record !== undefined)
        throw usage('--record is for people, and --as for agents: use one or the other')
      const reply = new HostReply(options.as, named, output)
      const how = { named, timeout, wait, startedAt, stdin, signal, answered, carried }
      return replyAs(reply, { ...options, ...how }, output)
    }
    const passed = await bypassed(() => ({ ...options, stdin }), named, output)
    if (passed) return passThrough(passed, output)
    const sent = await readPayload(options.payload, { stdin, seconds: timeout })
    const payload = readAsSent(sent.payload ?? nothingSent(named), named)
    const event = eventOf('fire', named, payload)
    checkExact(event, sent.inexact)
    await checkSpelling(named, payload, options)
    // A program that reads only the decision must not miss that the intended gates were not asked.
    const slips = misspelt(event)
    if (output.json) await output.complain(slips.map(({ text }) => plainText(`carabiner: ${text}`)))
    const told = (one: FiredInProject) => report(event, one, output, options)
    const toldLater = lateReport(output)
    const custom = named !== undefined && named === payload.hook_event_name
    const how = {
      sources: options,
      timeout,
      wait,
      ask: options.ask,
      toPerson: !output.json,
      told,
      toldLater,
      signal,
    }
    const fired = await fireInProject({ event, payload, custom, ...how, onWaiting: waitingOn(output) })
    if (options.record !== undefined) {
      const { recordFired } = await import('../fire/record-fired.js')
      const call = { event, payload, outcome: fired.outcome }
      await output.complain((await recordFired(options.record, call, options)).map(plainText))
    }
    return (
      ACTIONS[fired.outcome.action].exit ||
      (lossesOf(options, fired.notices).length > 0 ? EXIT.failed : EXIT.ok)
    )
  },
}

function checkAsking({
  ask,
  wait,
  as,
}: {
  ask?: boolean | undefined
  wait?: string | undefined
  as?: string | undefined
}): void {
  if (ask && as !== undefined) throw usage('--ask is for people, and --as for agents: use one or the other')
  if (ask && wait !== undefined)
    throw usage(
      '--ask asks at this terminal, and --wait waits for an answer from another: use one or the other',
    )
}

/** The program of --run. Loaded on demand: few calls name one. */
async function carriedIn(options: Options<typeof OPTIONS>): Promise<CarriedHook | undefined> {
  const { run, for: writtenFor, when, 'fail-closed': closes } = options
  if (run === undefined && writtenFor === undefined && when === undefined && !closes) return undefined
  if (options.as === undefined) throw usage('--run needs --as AGENT, which gets its answer')
  if (options.config.length + options.plugin.length > 0)
    throw usage('--run asks only its own program: leave out --config and --plugin')
  const { checkedCarried } = await import('../fire/carried-hook.js')
  return checkedCarried(options)
}

/** Shown while fire waits. Loaded then: most events end without a question. */
function waitingOn(output: Output): Firing['onWaiting'] {
  return async (pending, until) => {
    const { showWaiting } = await import('../fire/waiting.js')
    return showWaiting(pending, until, output)
  }
}

interface ReplyOptions extends Sources {
  readonly as?: string | undefined
  readonly named: string | undefined
  readonly payload: string | undefined
  readonly timeout: number | undefined
  readonly wait: number | undefined
  readonly startedAt: number
  readonly stdin: string | undefined
  readonly signal: AbortSignal | undefined
  readonly answered: ((exit: number) => void) | undefined
  readonly carried: CarriedHook | undefined
}

async function replyAs(
  reply: HostReply,
  { named, timeout, wait, startedAt, signal, answered, carried, ...options }: ReplyOptions,
  output: Output,
): Promise<number> {
  try {
    checkEnvironment()
    const here = () => ({ ...options, ...reply.placesOf(options.project) })
    if (await bypassed(here, named, output, timeout ?? reply.patience)) return await reply.bypass()
    const seconds = timeout ?? reply.patience
    const sent = await readPayload(options.payload, { stdin: options.stdin, seconds })
    const { name: event, data: payload, calls } = reply.read(sent.payload ?? {})
    checkExact(event, sent.inexact)
    // The service leaves such an event to a process, and a test waits for it.
    if (reply.isUnawaited && options.stdin === undefined && options.payload === undefined) {
      const { goOnDetached, isDetached } = await import('../fire/detached.js')
      if (!isDetached()) {
        await goOnDetached(sent.payload ?? {})
        return await reply.passOn()
      }
    }
    const cwd = typeof payload.cwd === 'string' ? payload.cwd : undefined
    checkEnvironment(cwd)
    const sources = { ...options, ...reply.placesOf(options.project, cwd) }
    const until = { seconds, startedAt }
    // Whoever waits for an answer in `carabiner approvals` wants it from there.
    // And so does a machine on which whoever allows has to sign: anybody could click in a dialog.
    const dialog = wait === undefined && reply.hasDialog && !isSignatureNeeded()
    const told = async ({ outcome, notices }: FiredInProject) => {
      const losses = lossesOf(sources, notices)
      // A deny stands, even if some hooks are missing.
      const counts = losses.length === 0 || ACTIONS[outcome.action].exit !== EXIT.ok
      await (counts ? reply.give(outcome, dialog) : reply.refuse(lossOf(losses)))
      answered?.(reply.exit)
    }
    const toldLater = lateReport(output)
    // An agent may show the model whatever is on standard error.
    const onWaiting = isTerminal(2) ? waitingOn(output) : undefined
    const { contextLater } = reply
    const open = carried && openerOf(carried)
    const firing = {
      event,
      agent: options.as,
      payload,
      calls,
      sources,
      open,
      until,
      wait,
      dialog,
      contextLater,
      told,
      toldLater,
    }
    await fireInProject({ ...firing, onWaiting, signal })
  } catch (error) {
    await reply.refuse(error)
  }
  return reply.exit
}

function openerOf(carried: CarriedHook): Firing['open'] {
  return async (embedder, project) => {
    const { openCarried } = await import('../fire/carried-hook.js')
    return openCarried(carried, project, embedder)
  }
}

/** A misspelt event passes every gate. A name that the payload repeats, or that a hook listens to, is meant. */
async function checkSpelling(named: string | undefined, payload: Payload, sources: Sources): Promise<void> {
  const meant = named === undefined || payload.hook_event_name ? undefined : nearEvent(named)
  if (named === undefined || meant === undefined) return
  const hooks = await listedHooks(sources)
  if (hooks.some(({ events }) => events !== 'all' && events.includes(named))) return
  throw usage(
    `There is no event ${JSON.stringify(named)}; did you mean ${meant}?`,
    `To fire an event of your own, name it in the payload: ${JSON.stringify({ hook_event_name: named })}`,
  )
}

/** An event that is named may have an empty payload. */
function nothingSent(named: string | undefined): Payload {
  if (named !== undefined) return {}
  throw new Refusal('PAYLOAD_INVALID', 'The payload is empty, and no EVENT was given', {
    hint: `For example: echo '{"hook_event_name":"Stop"}' | carabiner fire`,
  })
}

// ---- telling --------------------------------------------------------------------------------------------------

async function report(
  event: string,
  { outcome, notices, ms }: FiredInProject,
  output: Output,
  sources: Sources,
): Promise<void> {
  const diagnostics = [...unsaid(notices, outcome.diagnostics), ...outcome.diagnostics]
  if (output.json) return output.document({ ...outcome, diagnostics })
  const { outcomeLines } = await import('../fire/print-outcome.js')
  const { name } = resolveEvent(event)
  const lines = outcomeLines(
    name,
    { ...outcome, diagnostics },
    ms,
    await elsewhere(name, outcome.hooks.length > 0, sources),
  )
  await output.print([...lines, ...(isTerminal(1) ? await nextOf(name, outcome, sources) : [])])
}

/** What to type next, for a person. */
async function nextOf(event: string, { hooks, data }: Outcome, sources: Sources): Promise<readonly string[]> {
  const { nextLines } = await import('../print/lines.js')
  const { optionOf, typed, typedTrust } = await import('../print/next-command.js')
  const untrusted = hooks.filter(({ why }) => why === 'untrusted').map(({ source }) => source)
  const tool = typeof data.tool_name === 'string' ? optionOf('--tool', data.tool_name) : []
  const next =
    untrusted.length > 0
      ? typedTrust(untrusted, sources)
      : hooks.length === 0
        ? `${typed(['list'], sources)}   # the hooks there are`
        : `${typed(['explain', event, ...tool], sources)}   # why each hook runs or does not`
  return nextLines([next], painter(1))
}

/** Only for a person: an agent and a program would wait for files that they have no use for. */
async function elsewhere(event: string, isHeard: boolean, sources: Sources) {
  const { alsoAsked, notAskedHere, notCarried, packHooks } = await import('../why/first-steps.js')
  const project = projectOf(sources)
  const pack = await packHooks(project)
  return {
    also: alsoAsked(pack, event),
    notAsked: isHeard ? await notAskedHere(pack, project) : undefined,
    notCarried: isHeard ? undefined : await notCarried(event, sources),
  }
}

/** The document is already out, so later notices go to standard error. */
function lateReport(output: Output): Firing['toldLater'] {
  return (late) =>
    output.complain(late.map(({ code, text }) => plainText(`${severityOf(code)} ${code} ${text}`)))
}

// ---- the switch -----------------------------------------------------------------------------------------------

interface Switched extends Sources {
  readonly payload: string | undefined
  readonly stdin: string | undefined
}

/**
 * The payload, if CARABINER_OFF lets the event pass. It is read even so, so that its sender is not cut off, and the audit
 * records that nothing was judged.
 */
async function bypassed(
  switched: () => Switched,
  named: string | undefined,
  output: Output,
  seconds?: number,
): Promise<Payload | undefined> {
  if (!isSwitchedOff()) return undefined
  const { payload: file, stdin, ...sources } = switched()
  const hooks = await openHooks(sources)
  const { settings } = hooks
  const isPassed = isBypassed(hooks)
  await hooks.close()
  if (!isPassed) return undefined
  const sent = await readPayload(file, { stdin, seconds }).catch(() => undefined)
  const payload = sent?.payload ?? {}
  const { hook_event_name: name, session_id: session } = payload
  const event = named ?? (typeof name === 'string' ? name : 'unknown')
  try {
    await new ProjectAudit(projectOf(sources), () => settings).write({
      kind: 'bypass',
      time: new Date().toISOString(),
      ...(typeof session === 'string' && { session }),
      event,
      action: 'continue',
    })
  } catch (error) {
    const isNeeded = settings.audit_on_failure === 'block'
    const then = isNeeded ? 'so CARABINER_OFF=1 has no effect' : 'and nothing is guarded'
    await output.complain([
      plainText(`carabiner: the bypass could not be recorded, ${then}: ${textOf(error)}`),
    ])
    if (isNeeded)
      throw new Refusal('NOT_RECORDED', 'The bypass could not be recorded, and the settings require that')
  }
  return payload
}

async function passThrough(data: Payload, output: Output): Promise<number> {
  await output.complain([`carabiner: ${BYPASSED.text}`])
  const outcome = { action: 'continue', data, modified: false, injections: [], messages: [], hooks: [] }
  return output.result({ ...outcome, diagnostics: [BYPASSED] }, () => ['went on: no hook was asked'])
}
