// The bare `carabiner`: the state of this project, and the next command to type.

import { matchesNothing } from '../../config/matcher-slips.js'
import type { Diagnostic } from '../../core/base/errors.js'
import { resolveEvent } from '../../core/events/events.js'
import type { ListedHook } from '../../hooks.js'
import type { Expectation } from '../../trust/expectation.js'
import type { Untrusted } from '../../trust/unit.js'
import type { Command } from '../command.js'
import { plainData } from '../output.js'
import { fitted } from '../print/fit.js'
import { counted, grouped, nextLines, noticeLines, placeOf, shortPath, waitingLines } from '../print/lines.js'
import { optionOf, typed, typedTake, typedTrust } from '../print/next-command.js'
import type { Paint } from '../print/terminal.js'
import { noticesOf, openHooks, projectOf, SOURCE_OPTIONS, type Sources } from '../sources.js'
import { version } from '../version.js'
import { takenBy } from '../why/matching.js'
import { EXITS, exitOf, hasChanged, unmetIn, unsaid } from '../why/unmet.js'

const OPTIONS = {
  ...SOURCE_OPTIONS,
  version: { type: 'boolean', short: 'v', help: 'Print the version.' },
} as const

export const command: Command<typeof OPTIONS> = {
  name: '',
  summary: 'Show the state of this project, and what to type next.',
  positionals: [],
  about: '',
  options: OPTIONS,
  exits: EXITS,
  examples: [
    { does: 'What is the state of this project?', line: 'carabiner' },
    { does: 'Why does my hook not run?', line: 'carabiner explain PreToolUse --tool Bash' },
    {
      does: 'Would this command be allowed?',
      line: `echo '{"tool_name":"Bash","tool_input":{"command":"rm -rf /"}}' | carabiner fire PreToolUse`,
    },
  ],
  async run({ options }, output) {
    if (options.version) {
      return output.result({ version }, () => [version])
    }
    const hooks = await openHooks(options)
    const { cannotStart } = await import('../doctor/faults.js')
    const listed = hooks.list()
    const { expectations, notices } = await unmetIn(options, hooks.expectations())
    const found = {
      hooks: listed,
      untrusted: hooks.untrusted(),
      expectations,
      diagnostics: [...noticesOf(hooks), ...notices],
      cannotStart: (await cannotStart(listed, options, hooks.settings)).map(({ name }) => name),
      matchesNothing: listed
        .filter((hook) => hook.state === 'ready' && matchesNothing(hook))
        .map(({ name }) => name),
    }
    await hooks.close()
    const state = await stateOf(found, options)
    return output.result(state, (paint) => stateLines(state, paint), exitOf(state))
  },
}

interface State {
  readonly version: string
  readonly project: string
  /** How many hooks are in each state. */
  readonly hooks: Readonly<Record<ListedHook['state'], number>>
  /** Hooks that are ready but would fail: a script or program is missing, or cannot be executed. */
  readonly cannotStart: readonly string[]
  /** Hooks that are ready but whose matcher takes no tool or value that is known. */
  readonly matchesNothing: readonly string[]
  /** How many hooks listen to each event; `all` is every event. */
  readonly events: Readonly<Record<string, number>>
  /** Plugins, skills and hook files that wait for trust. */
  readonly untrusted: readonly Untrusted[]
  /** What was trusted, listed or installed, and is changed or missing. */
  readonly expectations: readonly Expectation[]
  readonly diagnostics: readonly Diagnostic[]
  /** Hooks are ready, and an agent is set up for something else. */
  readonly notAsked?: string
  readonly next: readonly string[]
}

interface Found
  extends Pick<State, 'untrusted' | 'expectations' | 'diagnostics' | 'cannotStart' | 'matchesNothing'> {
  readonly hooks: readonly ListedHook[]
}

async function stateOf(found: Found, sources: Sources): Promise<State> {
  const { hooks, untrusted, expectations, diagnostics, cannotStart, matchesNothing } = found
  const count = (state: ListedHook['state']) => hooks.filter((hook) => hook.state === state).length
  const events = grouped(hooks.flatMap(knownEventsOf), (event) => event)
  const { notAsked } = await import('../why/first-steps.js')
  const unasked = notAsked(projectOf(sources), count('ready'))
  return {
    version,
    project: projectOf(sources),
    hooks: {
      ready: count('ready'),
      untrusted: count('untrusted'),
      modified: count('modified'),
      disabled: count('disabled'),
    },
    cannotStart,
    matchesNothing,
    events: Object.fromEntries([...events].map(([event, some]) => [event, some.length])),
    untrusted,
    expectations,
    diagnostics,
    ...(unasked && { notAsked: unasked.text }),
    next: await nextOf(found, sources),
  }
}

/** The worst comes first: switched off, broken, not trusted, missing. */
async function nextOf(
  { hooks, untrusted, expectations, diagnostics, cannotStart, matchesNothing }: Found,
  sources: Sources,
): Promise<readonly string[]> {
  if (diagnostics.some(({ code }) => code === 'bypassed')) return ['unset CARABINER_OFF']
  const broken = diagnostics.find(({ file, code }) => file !== undefined && !code.startsWith('trust-'))
  const names = untrusted.filter(unsaid(expectations)).map(({ name }) => name)
  const idle = new Set([...cannotStart, ...matchesNothing])
  const ready = hooks.find(({ state, name }) => state === 'ready' && !idle.has(name))
  const isEmpty = hooks.length === 0 && !broken
  const waiting = await openQuestions(projectOf(sources))
  const next = [
    ...(broken ? [`Correct ${placeOf(broken)}`] : []),
    ...(cannotStart.length > 0 ? [typed(['doctor'], sources)] : []),
    ...(hasChanged(expectations) ? [typedTake(sources)] : []),
    ...(names.length > 0 ? [typedTrust(names, sources)] : []),
    ...(ready ? [typed(['explain', ...questionAbout(ready)], sources)] : []),
    ...(waiting > 0
      ? [
          `${typed(['approvals'], { project: sources.project })}   # ${counted(waiting, 'question')} without an answer`,
        ]
      : []),
    ...(isEmpty || (ready && !broken && names.length === 0) ? await stepsFor(sources, isEmpty) : []),
  ]
  return next.length > 0 ? next : [typed(['list'], sources)]
}

/** None where they cannot be read: doctor says so. */
async function openQuestions(project: string): Promise<number> {
  const { approvalsIn } = await import('../../store/file-stores.js')
  try {
    const queue = await approvalsIn({ onTrouble: () => undefined })
    return (await queue.open()).filter((one) => one.project === project).length
  } catch {
    return 0
  }
}

/** Hooks that no agent asks guard nothing. */
async function stepsFor(sources: Sources, isEmpty: boolean): Promise<readonly string[]> {
  const { firstSteps, setupStep } = await import('../why/first-steps.js')
  return [...(isEmpty ? firstSteps(sources) : []), ...setupStep(projectOf(sources), !isEmpty)]
}

/** Without custom events. */
function knownEventsOf({ events }: ListedHook): readonly string[] {
  return events === 'all' ? ['all'] : events.filter((event) => !resolveEvent(event).custom)
}

/** The hook's event, and a tool that its matcher takes. */
function questionAbout(hook: ListedHook): readonly string[] {
  const { matcher } = hook
  const event = hook.events === 'all' ? 'PreToolUse' : (knownEventsOf(hook)[0] ?? 'PreToolUse')
  const tool = (matcher && takenBy(matcher)) || 'Bash'
  return /ToolUse|Permission/.test(event) ? [event, ...optionOf('--tool', tool)] : [event]
}

function stateLines(given: State, paint: Paint): readonly string[] {
  const state = plainData(given)
  const { ready, untrusted, modified, disabled } = state.hooks
  const faulty = state.cannotStart.length
  const idle = state.matchesNothing.filter((name) => !state.cannotStart.includes(name)).length
  const untold = state.untrusted.filter(unsaid(state.expectations))
  const waiting = untold.length
  const events = Object.entries(state.events).map(([event, count]) => `${event} ${count}`)
  const rows = [
    `${counted(ready - faulty - idle, 'hook')} ready`,
    ...(faulty > 0 ? [paint.red(`${faulty} cannot start`)] : []),
    ...(idle > 0 ? [paint.red(`${idle} ${idle === 1 ? 'matches' : 'match'} nothing`)] : []),
    ...(untrusted > 0 ? [paint.yellow(`${untrusted} untrusted: not run until trusted`)] : []),
    ...(modified > 0
      ? [paint.red(`${modified} modified since you trusted them: not run until trusted`)]
      : []),
    ...(disabled > 0 ? [paint.yellow(`${disabled} disabled`)] : []),
    ...(events.length > 0 ? [paint.dim(events.join(', '))] : []),
    ...(state.notAsked === undefined ? [] : [paint.yellow(state.notAsked)]),
  ]
  return [
    ...fitted([
      `${paint.bold('carabiner')} ${state.version}  ${shortPath(state.project)}`,
      ...rows.map((row) => `  ${row}`),
      ...(waiting > 0 ? [paint.yellow(`  ${waiting} ${waiting === 1 ? 'waits' : 'wait'} for trust`)] : []),
    ]),
    ...untold.flatMap((unit) => waitingLines(unit, paint, 4)),
    ...noticeLines(state.diagnostics, paint, 2),
    ...nextLines(state.next, paint),
  ]
}
