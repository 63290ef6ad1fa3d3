// `carabiner list`: every hook, where it is configured, what it runs, and whether it may.

import { isClosedGate } from '../../config/closed-gate.js'
import type { Diagnostic } from '../../core/base/errors.js'
import { plainText, visible } from '../../core/base/text.js'
import { localTime } from '../../core/base/time.js'
import type { ListedHook } from '../../hooks.js'
import { CHOICES } from '../../hosts/entries.js'
import type { Rule } from '../../rules/rule.js'
import { runsProgram } from '../../runners/kinds.js'
import type { HookStats } from '../../store/audit/stats.js'
import type { Expectation } from '../../trust/expectation.js'
import type { Untrusted } from '../../trust/unit.js'
import type { Command } from '../command.js'
import { plainData } from '../output.js'
import { fitted } from '../print/fit.js'
import {
  columns,
  counted,
  duration,
  grouped,
  indented,
  nextLines,
  noticeLines,
  oneLine,
  placeOf,
  projectLine,
  shortPath,
  waitingLines,
} from '../print/lines.js'
import { TRY_GUARD, typed, typedTake, typedTrust } from '../print/next-command.js'
import { withProgress } from '../print/progress.js'
import { severityOf } from '../print/severity.js'
import type { Paint } from '../print/terminal.js'
import { noticesOf, openHooks, projectOf, SOURCE_OPTIONS, type Sources } from '../sources.js'
import { type PackHook, packHooks, packRuns, packRunText } from '../why/first-steps.js'
import { type NotRun, notRunText } from '../why/not-run.js'
import { isReplaced, type Standing, type Startable, standingOf, withFaults } from '../why/standing.js'
import { EXITS, exitOf, hasChanged, unmetIn, unsaid } from '../why/unmet.js'

const OPTIONS = {
  stats: { type: 'boolean', help: 'Add statistics from the audit.' },
  ...SOURCE_OPTIONS,
} as const

export const command: Command<typeof OPTIONS> = {
  name: 'list',
  summary: 'List every hook: its file, what it runs, its state.',
  positionals: [],
  about:
    'Runs nothing. Broken files are reported, and do not hide the others. Hooks of the standard pack that agents run ' +
    'directly are listed last.',
  options: OPTIONS,
  exits: EXITS,
  examples: [
    { does: 'The hooks of this project and your own.', line: 'carabiner list' },
    {
      does: "The hooks in another agent's file.",
      line: 'carabiner list --config .cursor/hooks.json',
    },
    { does: 'Which of them are slow, fail, or deny?', line: 'carabiner list --stats' },
    { does: 'For a program: one entry for each hook.', line: 'carabiner list --json' },
  ],
  async run({ options }, output) {
    const hooks = await openHooks(options)
    const stats = options.stats
      ? await withProgress('reading the audit', output, () => statsIn(projectOf(options)))
      : undefined
    const all = await withFaults(hooks.list(), hooks.settings, options)
    const listed = all.map((hook) => (stats ? { ...hook, stats: stats(hook) } : hook))
    const { expectations, notices } = await unmetIn(options, hooks.expectations())
    const presets = await presetsAmong(listed)
    const found = {
      project: projectOf(options),
      hooks: listed.map((hook) => (presets.has(hook.id) ? { ...hook, preset: presets.get(hook.id) } : hook)),
      packHooks: await packHooks(projectOf(options)),
      untrusted: hooks.untrusted(),
      expectations,
      diagnostics: [...noticesOf(hooks), ...notices],
      notRun: await (await import('../why/other-agents.js')).notRunHere(options),
    }
    await hooks.close()
    return output.result(found, (paint) => listLines(found, options, paint), exitOf(found))
  },
}

/** Null if nothing is on record. */
interface Counted extends Startable {
  readonly stats?: HookStats | null
  /** The rules that come with the preset of a rules file, without those that the file changes. */
  readonly preset?: readonly Rule[] | undefined
}

/** Loads the presets only where a file has one. By the id of the hook. */
async function presetsAmong(hooks: readonly ListedHook[]): Promise<ReadonlyMap<string, readonly Rule[]>> {
  const found = new Map<string, readonly Rule[]>()
  for (const { id, kind, command = '' } of hooks) {
    const [, name] = /^preset (\S+)$/m.exec(kind === 'rules' ? command : '') ?? []
    if (name === undefined) continue
    const { presetRules } = await import('../../rules/presets.js')
    const { PRESET_NAMES } = await import('../../rules/rule.js')
    const rules = presetRules(PRESET_NAMES.find((one) => one === name))
    found.set(
      id,
      rules.filter((rule) => !command.split(/[\s:]/).includes(rule.id)),
    )
  }
  return found
}

/** Loads the audit only when asked for. */
async function statsIn(project: string): Promise<(hook: ListedHook) => HookStats | null> {
  const [{ auditOf }, { statsOf }] = await Promise.all([
    import('../project-audit.js'),
    import('../../store/audit/stats.js'),
  ])
  const stats = await statsOf(auditOf(project).entries())
  return ({ name, source }) => stats.find((one) => one.name === name && one.source === source) ?? null
}

interface Found {
  readonly project: string
  readonly hooks: readonly Counted[]
  /** Hooks that an agent runs itself. */
  readonly packHooks: readonly PackHook[]
  readonly untrusted: readonly Untrusted[]
  /** What was trusted, listed or installed, and is changed or missing. */
  readonly expectations: readonly Expectation[]
  readonly diagnostics: readonly Diagnostic[]
  /** Hook files of other agents. */
  readonly notRun: readonly NotRun[]
}

async function listLines(
  { hooks: all, packHooks: pack, untrusted, expectations, diagnostics, notRun }: Found,
  sources: Sources,
  paint: Paint,
): Promise<readonly string[]> {
  const hooks = all.filter((hook) => !isReplaced(hook, all))
  const first = hooks.length === 0 && diagnostics.length === 0 ? await stepsFor(sources) : []
  const broken = diagnostics.find(
    ({ code, file }) => file !== undefined && severityOf(code) === 'broken' && !code.startsWith('trust-'),
  )
  const groups = grouped(plainData(hooks), ({ file, source }) => file ?? source)
  return [
    ...projectLine(sources, paint),
    ...[...groups].flatMap(([file, group]) => [...fitted(groupLines(file, group, paint)), '']),
    ...packLines(pack, paint),
    ...fitted([summary(hooks, pack)]),
    ...fitted(notRun.map(notRunText)),
    ...untrusted.filter(unsaid(expectations)).flatMap((unit) => waitingLines(unit, paint)),
    ...noticeLines(plainData(diagnostics), paint),
    ...nextLines(hooks.length === 0 && pack.some(({ name }) => name === 'guard') ? [ASK_GUARD] : [], paint),
    ...nextLines(plainData(first), paint),
    ...(broken ? nextLines([`Correct ${placeOf(plainData(broken))}`], paint) : []),
    ...nextLines(plainData(nextOf({ hooks, untrusted, expectations }, sources)), paint),
  ]
}

const ASK_GUARD = `${TRY_GUARD}   # see the guard block a call`

async function stepsFor(sources: Sources): Promise<readonly string[]> {
  const { firstSteps } = await import('../why/first-steps.js')
  return (await firstSteps(sources)).map(({ line }) => line)
}

function nextOf(
  { hooks, untrusted, expectations }: Pick<Found, 'hooks' | 'untrusted' | 'expectations'>,
  sources: Sources,
): readonly string[] {
  const waiting = untrusted.filter(unsaid(expectations)).map(({ name }) => name)
  const next = [
    ...(hasChanged(expectations) ? [typedTake(sources)] : []),
    ...(waiting.length > 0 ? [typedTrust(waiting, sources)] : []),
  ]
  if (next.length > 0 || hooks.length === 0) return next
  const isIdle = hooks.some((hook) => IDLE.has(standingOf(hook)))
  const event = hooks.find((hook) => standingOf(hook) === 'ready' && hook.events !== 'all')?.events[0]
  return [typed(isIdle || event === undefined ? ['doctor'] : ['explain', event], sources)]
}

/** `doctor` says how to mend them. */
const IDLE: ReadonlySet<Standing> = new Set<Standing>(['cannot start', 'matches nothing'])

/** Commands are shown whole: a command that is cut off cannot be reviewed. */
function groupLines(file: string, hooks: readonly Counted[], paint: Paint): readonly string[] {
  const cells = hooks.map((hook) => [
    String(hook.line ?? '').padStart(4),
    standingOf(hook),
    visible(hook.name),
    hook.matcher === null ? '' : oneLine(hook.matcher),
  ])
  const rows = columns(cells)
  return [
    paint.bold(oneLine(shortPath(file))),
    ...hooks.flatMap((hook, i) => {
      const [line = '', state = '', name = '', matcher = ''] = rows[i] ?? []
      const head = `${paint.dim(line)}  ${stateColour(hook, state, paint)}  ${paint.cyan(name)}  ${matcher}`
      return [
        head.trimEnd(),
        ...indented(ran(hook), 6).map(paint.dim),
        ...presetLines(hook.preset ?? []).map((text) => `        ${text}`),
      ]
    }),
  ]
}

/** `deny    standard/disks  write, delete` */
function presetLines(rules: readonly Rule[]): readonly string[] {
  const rows = rules.map(({ id, then, redact, effects, mode }) => [
    redact ? 'redact' : then,
    id,
    redact ? `secrets in ${redact.join(' and ')}` : effects === '*' ? 'everything' : effects.join(', '),
    mode === 'shadow' ? 'in shadow mode' : '',
  ])
  return columns(rows).map((cells) => cells.join('  ').trimEnd())
}

function ran(hook: Counted): string {
  const { command, kind, state, why, kept, mode, role, stats, cannotStart, writtenFor, reviewer } = hook
  if (isClosedGate(hook)) return 'refuses every call that it would judge'
  const asks = runsProgram(kind) ? '' : `${kind}: `
  const what = command === undefined ? `a hook of kind ${kind}` : `${asks}${command}`
  const aside = role === 'intercept' ? '' : ` (${role})`
  const as = writtenFor ? `\nas in ${writtenFor.agent}: ${oneLine(writtenFor.event)}` : ''
  const by = reviewer ? `\ntrusted for the fleet by ${plainText(reviewer.by)}, ${localTime(reviewer.at)}` : ''
  const off = state === 'disabled' && why ? `\n${why}` : ''
  const shadow = mode === undefined ? '' : `\n${IN_SHADOW}`
  const fault = cannotStart === undefined ? '' : `\n${plainText(cannotStart)}`
  const instead = kept === undefined ? '' : `\nas you trusted it: ${KEPT[kept]}`
  return `${what}${aside}${as}${by}${off}${shadow}${fault}${instead}${stats === undefined ? '' : `\n${statsText(stats)}`}`
}

const IN_SHADOW = 'in shadow mode: it runs, and only says what it would have done'

const KEPT = { modified: 'it has changed since', missing: 'the project no longer has it' } as const

/** `12 runs, 1 failure, 3 denies, median 14 ms, last 2026-01-31 12:00:00`. */
function statsText(stats: HookStats | null): string {
  if (!stats) return 'no runs on record'
  const { runs, failures, denies, asks, skipped, medianMs, last } = stats
  const counts = [
    counted(runs, 'run'),
    failures > 0 && counted(failures, 'failure'),
    denies > 0 && (denies === 1 ? '1 deny' : `${denies} denies`),
    asks > 0 && counted(asks, 'ask'),
    skipped > 0 && `${skipped} skipped`,
    medianMs !== undefined && `median ${duration(medianMs)}`,
    `last ${localTime(last)}`,
  ]
  return counts.filter((one) => one !== false).join(', ')
}

function stateColour(hook: Counted, text: string, paint: Paint): string {
  const standing = standingOf(hook)
  if (standing === 'closed' || IDLE.has(standing)) return paint.red(text)
  return standing === 'ready' ? paint.green(text) : paint.yellow(text)
}

function packLines(pack: readonly PackHook[], paint: Paint): readonly string[] {
  return [...grouped(plainData(pack), ({ file }) => file)].flatMap(([file, hooks]) => {
    const rows = columns(
      hooks.map(({ line, name, event }) => [String(line).padStart(4), name, event, CHOICES[name].does]),
    )
    return [
      ...fitted([
        `${paint.bold(oneLine(shortPath(file)))}  run by ${hooks[0]?.agent}`,
        ...rows.map(
          ([line = '', name = '', event = '', does = '']) =>
            `${paint.dim(line)}  ${paint.cyan(name)}  ${event}  ${paint.dim(does)}`,
        ),
      ]),
      '',
    ]
  })
}

/** `3 hooks: 2 ready, 1 untrusted; Claude Code runs guard and stop`. */
function summary(hooks: readonly Counted[], pack: readonly PackHook[]): string {
  const parts = [...grouped(hooks, standingOf)].map(
    ([standing, { length }]) => `${length} ${worded(standing, length)}`,
  )
  const own = hooks.length === 0 ? 'no hooks' : `${counted(hooks.length, 'hook')}: ${parts.join(', ')}`
  if (pack.length === 0) return own
  const others = packRuns(pack).map(packRunText)
  return `${hooks.length === 0 ? 'no other hooks' : own}; ${others.join('; ')} of the standard pack`
}

function worded(standing: Standing, count: number): string {
  return standing === 'matches nothing' && count > 1 ? 'match nothing' : standing
}
