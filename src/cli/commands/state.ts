// The bare `carabiner`: the state of this project, and the next command to type.

import { isClosedGate } from '../../config/closed-gate.js'
import { matchesNothing } from '../../config/matcher-slips.js'
import type { Diagnostic } from '../../core/base/errors.js'
import { visible } from '../../core/base/text.js'
import { resolveEvent } from '../../core/events/events.js'
import type { ListedHook } from '../../hooks.js'
import { choicesOf } from '../../hosts/entries.js'
import { diagnosticOf, type Expectation } from '../../trust/expectation.js'
import type { Untrusted } from '../../trust/unit.js'
import type { Command } from '../command.js'
import { canAsk } from '../confirm.js'
import type { Facts } from '../doctor/facts.js'
import type { Family, Finding } from '../doctor/finding.js'
import { plainData } from '../output.js'
import { isAgentShell } from '../person.js'
import { fitted } from '../print/fit.js'
import {
  counted,
  grouped,
  labelled,
  nextLines,
  noticeLines,
  oneLine,
  placeOf,
  shortPath,
  waitingLines,
} from '../print/lines.js'
import { optionOf, TRY_GUARD, typed, typedTake, typedTrust } from '../print/next-command.js'
import { severityColour } from '../print/severity.js'
import { type Paint, painter } from '../print/terminal.js'
import type { ProofState } from '../proof-state.js'
import { projectOf, SOURCE_OPTIONS, type Sources } from '../sources.js'
import { version } from '../version.js'
import { type FirstStep, type PackRun, packRunText } from '../why/first-steps.js'
import { takenBy } from '../why/matching.js'
import { type NotRun, notRunText } from '../why/not-run.js'
import { isReplaced } from '../why/standing.js'
import { EXITS, exitOf, hasChanged, unsaid } from '../why/unmet.js'

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
      does: 'Would the guard allow this command?',
      line: `echo '{"tool_name":"Bash","tool_input":{"command":"rm -rf /"}}' | carabiner hook pre-tool-use`,
      exits: 2,
    },
    {
      does: 'Would my own hooks allow it?',
      line: `echo '{"tool_name":"Bash","tool_input":{"command":"rm -rf /"}}' | carabiner fire PreToolUse`,
    },
  ],
  async run({ options }, output, context) {
    if (options.version) {
      return output.result({ version }, () => [version])
    }
    const { gather } = await import('../doctor/facts.js')
    const { examineQuickly } = await import('../doctor/examine.js')
    const facts = await gather(options)
    const state = await stateOf(facts, await examineQuickly(facts))
    if (state.isFresh && canAsk(output) && !isAgentShell()) {
      const { firstRun } = await import('../why/first-run.js')
      const paint = painter(1)
      return firstRun(titleOf(state, paint), foundLines(plainData(state), paint), output, context)
    }
    return output.result(documentOf(state), (paint) => stateLines(state, paint), exitOf(state))
  },
}

interface State {
  readonly version: string
  readonly project: string
  /** How many hooks are in each state. A changed hook that runs as it was trusted is ready, and counts once. */
  readonly hooks: Readonly<Record<ListedHook['state'] | 'closed', number>>
  /** Hooks that are ready but would fail: a script or program is missing, or cannot be executed. */
  readonly cannotStart: readonly string[]
  /** Hooks that are ready but whose matcher takes no tool or value that is known. */
  readonly matchesNothing: readonly string[]
  /** How many hooks listen to each event; `all` is every event. */
  readonly events: Readonly<Record<string, number>>
  /** Hooks of the standard pack that agents run. */
  readonly pack: readonly string[]
  /** Which agents run which of them. */
  readonly runs: readonly PackRun[]
  /** Plugins, skills and hook files that wait for trust. */
  readonly untrusted: readonly Untrusted[]
  /** What was trusted, listed or installed, and is changed or missing. */
  readonly expectations: readonly Expectation[]
  readonly diagnostics: readonly Diagnostic[]
  /** What else `doctor` finds broken or surprising, as far as it can be found quickly. */
  readonly findings: readonly Finding[]
  /** Hooks are ready, and an agent is set up for something else. */
  readonly notAsked?: string
  /** Hook files of other agents that do not run here. */
  readonly notRun: readonly NotRun[]
  /** The last proofs of `carabiner verify`. */
  readonly proofs?: readonly ProofState[]
  readonly next: readonly string[]
  /** Nothing was ever set up or written here. */
  readonly isFresh: boolean
}

function documentOf({ isFresh: _, ...state }: State) {
  return state
}

async function stateOf(facts: Facts, families: readonly Family[]): Promise<State> {
  const { project, untrusted, expectations } = facts
  const { firstSteps, notAsked, packHooks, packRuns, registeredIn } = await import('../why/first-steps.js')
  const packed = await packHooks(project)
  const hooks = facts.hooks.filter((hook) => !isReplaced(hook, facts.hooks))
  const ready = hooks.filter((hook) => hook.state === 'ready' && !isClosedGate(hook))
  const count = (state: ListedHook['state']) => hooks.filter((hook) => hook.state === state).length
  const events = grouped(hooks.flatMap(knownEventsOf), (event) => event)
  const told = new Set(expectations.map(({ why }) => why))
  const findings = families
    .flatMap((family) => family.findings)
    .filter((one) => isWorthALine(one) && !told.has(one.text))
  const cannotStart = namesOf(ready.filter((hook) => !hook.kept && isFaulty(hook, families)))
  const idle = namesOf(ready.filter(matchesNothing))
  const unasked = await notAsked(
    project,
    ready.filter(({ name }) => !cannotStart.includes(name) && !idle.includes(name)).length,
  )
  const { engine, pack } = await registeredIn(project)
  const { proofStates } = await import('../proof-state.js')
  const proofs = await proofStates(facts.hooks)
  const steps = facts.hooks.length === 0 ? await firstSteps(facts.sources) : []
  const { notRunHere } = await import('../why/other-agents.js')
  const notRun = await notRunHere(facts.sources)
  const waiting = await openQuestions(project)
  const found = { ready, cannotStart, matchesNothing: idle, findings, steps, waiting }
  return {
    version,
    project,
    hooks: {
      ready: ready.length,
      untrusted: count('untrusted'),
      modified: count('modified'),
      disabled: count('disabled'),
      closed: hooks.filter(isClosedGate).length,
    },
    cannotStart,
    matchesNothing: idle,
    events: Object.fromEntries([...events].map(([event, some]) => [event, some.length])),
    pack: choicesOf(packed.map(({ hook }) => hook)),
    runs: packRuns(packed),
    untrusted,
    expectations,
    diagnostics: [...facts.notices, ...expectations.flatMap(diagnosticOf)],
    findings,
    notRun,
    ...(unasked && { notAsked: unasked.text }),
    ...(proofs.length > 0 && { proofs }),
    next: await nextOf(found, facts),
    isFresh: !engine && pack === undefined && notRun.length === 0 && isFresh(found, facts),
  }
}

/** Nothing is there and nothing waits, not even hooks of another program. Findings about other people's hooks do not count. */
function isFresh(
  { findings, steps, waiting }: Before,
  { hooks, untrusted, expectations, notices }: Facts,
): boolean {
  return (
    hooks.length + untrusted.length + expectations.length + waiting === 0 &&
    !isBypassed(notices) &&
    brokenIn(notices) === undefined &&
    findings.every(({ code }) => code !== 'registration') &&
    steps.every(({ kind }) => kind === 'new')
  )
}

function isBypassed(notices: Facts['notices']): boolean {
  return notices.some(({ code }) => code === 'bypassed')
}

/** A file that cannot be used as it is. */
function brokenIn(notices: Facts['notices']): Diagnostic | undefined {
  return notices.find(({ file, code }) => file !== undefined && !code.startsWith('trust-'))
}

function namesOf(hooks: readonly ListedHook[]): readonly string[] {
  return hooks.map(({ name }) => name)
}

function isFaulty({ name, file }: ListedHook, families: readonly Family[]): boolean {
  return families
    .filter((family) => family.name === 'programs' || family.name === 'scripts')
    .flatMap(({ findings }) => findings)
    .some((one) => one.severity === 'broken' && one.hook === name && one.file === file)
}

/** These have rows of their own, or do not keep any hook from running. */
const FOR_DOCTOR = new Set<Finding['code']>(['untrusted', 'modified', 'not-asked', 'ca-certs'])

function isWorthALine({ severity, code }: Finding): boolean {
  return severity !== 'note' && !FOR_DOCTOR.has(code)
}

/** What decides about the next command. */
interface Before extends Pick<State, 'cannotStart' | 'matchesNothing' | 'findings'> {
  readonly ready: readonly ListedHook[]
  /** None if there are hooks. */
  readonly steps: readonly FirstStep[]
  /** Questions without an answer. */
  readonly waiting: number
}

/** The worst comes first: switched off, broken, not trusted, missing. */
async function nextOf(
  { ready: all, cannotStart, matchesNothing, findings, steps, waiting }: Before,
  { hooks, untrusted, expectations, notices, sources }: Facts,
): Promise<readonly string[]> {
  if (isBypassed(notices)) return ['unset CARABINER_OFF']
  const broken = brokenIn(notices)
  const names = untrusted.filter(unsaid(expectations)).map(({ name }) => name)
  const idle = new Set([...cannotStart, ...matchesNothing])
  const ready = all.find(({ name }) => !idle.has(name))
  const isEmpty = hooks.length === 0 && !broken
  const next = [
    ...(broken ? [`Correct ${placeOf(broken)}`] : []),
    ...(findings.length > 0 ? [typed(['doctor'], sources)] : []),
    ...(hasChanged(expectations) ? [typedTake(sources)] : []),
    ...(names.length > 0 ? [typedTrust(names, sources)] : []),
    ...(ready ? [typed(['explain', ...questionAbout(ready)], sources)] : []),
    ...(waiting > 0
      ? [
          `${typed(['approvals'], { project: sources.project })}   # ${counted(waiting, 'question')} without an answer`,
        ]
      : []),
    ...(isEmpty || (ready && !broken && names.length === 0)
      ? await stepsFor(sources, isEmpty ? steps : undefined)
      : []),
  ]
  return next.length > 0 ? next : [typed(['list'], sources)]
}

/** None where they cannot be read: doctor says so. */
async function openQuestions(project: string): Promise<number> {
  const { approvalsIn } = await import('../../store/file-stores.js')
  try {
    const queue = await approvalsIn({ onTrouble: () => undefined })
    return (await queue.waiting(project)).here
  } catch {
    return 0
  }
}

/** Hooks that no agent asks guard nothing. `first`: the steps to a first hook, if there are no hooks. */
async function stepsFor(
  sources: Sources,
  first: readonly FirstStep[] | undefined,
): Promise<readonly string[]> {
  const { setupStep } = await import('../why/first-steps.js')
  const setup = await setupStep(projectOf(sources), first === undefined)
  if (first === undefined) return setup
  const attempt = setup.length > 0 ? [`${TRY_GUARD}   # see it block a call`] : []
  return [...setup, ...first.map(({ line }) => line), ...attempt]
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
  return resolveEvent(event).matcher === 'tool_name' ? [event, ...optionOf('--tool', tool)] : [event]
}

function titleOf({ project }: Pick<State, 'project'>, paint: Paint): string {
  return `${paint.bold('carabiner')} ${version}  ${visible(shortPath(project))}`
}

/** Whoever has more to correct reads `doctor`. */
const MOST_FINDINGS = 5

function stateLines(given: State, paint: Paint): readonly string[] {
  const state = plainData(given)
  const untold = state.untrusted.filter(unsaid(state.expectations))
  const waiting = untold.length
  return [
    ...fitted([
      titleOf(state, paint),
      ...rowsOf(state, paint).map((row) => `  ${row}`),
      ...(waiting > 0 ? [paint.yellow(`  ${waiting} ${waiting === 1 ? 'waits' : 'wait'} for trust`)] : []),
    ]),
    ...untold.flatMap((unit) => waitingLines(unit, paint, 4)),
    ...noticeLines(state.expectations.flatMap(diagnosticOf), paint, 2),
    ...foundLines(state, paint),
    ...fitted(state.notRun.map((one) => `  ${notRunText(one)}`)),
    ...nextLines(state.next, paint),
  ]
}

function foundLines({ findings }: State, paint: Paint): readonly string[] {
  const more = findings.length - MOST_FINDINGS
  return [
    ...findings.slice(0, MOST_FINDINGS).flatMap((one) => findingLines(one, paint)),
    ...(more > 0 ? [`  and ${more} more: carabiner doctor`] : []),
  ]
}

function rowsOf(state: State, paint: Paint): readonly string[] {
  const { ready, untrusted, modified, disabled, closed } = state.hooks
  const proofs = (state.proofs ?? []).map((proof) => proofRow(proof, paint))
  if (state.isFresh) return ['Nothing is set up here yet.', ...proofs]
  const faulty = state.cannotStart.length
  const idle = state.matchesNothing.filter((name) => !state.cannotStart.includes(name)).length
  const events = Object.entries(state.events).map(([event, count]) => `${event} ${count}`)
  return [
    `${counted(ready - faulty - idle, 'hook')} ready`,
    ...(faulty > 0 ? [paint.red(`${faulty} cannot start`)] : []),
    ...(idle > 0 ? [paint.red(`${idle} ${idle === 1 ? 'matches' : 'match'} nothing`)] : []),
    ...(closed > 0
      ? [
          paint.red(
            `${counted(closed, 'gate')} closed: what ${closed === 1 ? 'it' : 'they'} would judge is refused`,
          ),
        ]
      : []),
    ...(untrusted > 0 ? [paint.yellow(`${untrusted} untrusted: not run until trusted`)] : []),
    ...(modified > 0
      ? [paint.red(`${modified} modified since you trusted them: not run until trusted`)]
      : []),
    ...(disabled > 0 ? [paint.yellow(`${disabled} disabled`)] : []),
    ...(events.length > 0 ? [paint.dim(events.join(', '))] : []),
    ...state.runs.map((run) => `${packRunText(run)} of the standard pack`),
    ...(state.notAsked === undefined ? [] : [paint.yellow(state.notAsked)]),
    ...proofs,
  ]
}

function proofRow({ host, title, version, at, ok, quick, held, stale }: ProofState, paint: Paint): string {
  const agent = version === undefined ? title : `${title} ${version}`
  const when = `${agent}, ${at.slice(0, 10)}`
  const again = `carabiner verify ${host}`
  if (!ok) return paint.red(`not proven: ${when}; ${again} shows why`)
  if (stale.length > 0) return paint.yellow(`stale proof: ${when}; since then ${stale.join(', ')}: ${again}`)
  const more = quick ? `; only a quick proof: ${again} shows the rest` : ''
  return `${paint.green('proven')}: ${when}, ${counted(held, 'fact')} held${more}`
}

function findingLines(finding: Finding, paint: Paint): readonly string[] {
  const { severity, code, hook, text } = finding
  const place = [placeOf(finding), hook].filter(Boolean).join(' ')
  const said = place === '' ? text : `${place}: ${text}`
  return labelled(`${severity} ${code}`, oneLine(said), severityColour(severity, paint), 2)
}
