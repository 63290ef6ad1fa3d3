// `carabiner doctor`: finds what keeps hooks from doing what their files say, and how to fix it.

import { textOf } from '../../core/base/errors.js'
import { abilityFacts } from '../../hosts/abilities.js'
import type { Host } from '../../hosts/host.js'
import { agentFiles, registrationsIn } from '../../hosts/registrations.js'
import type { Command } from '../command.js'
import { examine, type Summary, summaryOf } from '../doctor/examine.js'
import { gather } from '../doctor/facts.js'
import type { Family, Finding } from '../doctor/finding.js'
import { plainData } from '../output.js'
import { abilityBlock } from '../print/ability-lines.js'
import { fitted } from '../print/fit.js'
import { counted, nextLines, oneLine, placeOf, projectLine, todoLines } from '../print/lines.js'
import { withProgress } from '../print/progress.js'
import { severityColour } from '../print/severity.js'
import { type Paint, width } from '../print/terminal.js'
import { EXIT } from '../refusal.js'
import { installedAgents } from '../setup/installed.js'
import { SOURCE_OPTIONS } from '../sources.js'
import { packHooks, packRuns, packRunText, setupStep } from '../why/first-steps.js'
import { notRunText } from '../why/not-run.js'

const OPTIONS = {
  ...SOURCE_OPTIONS,
  fix: { type: 'boolean', help: 'Make fixes that cannot loosen anything.' },
} as const

export const command: Command<typeof OPTIONS> = {
  name: 'doctor',
  summary: 'Find what is wrong with your hooks, and how to fix it.',
  positionals: [],
  about:
    'Checks files, trust, plugins, programs, scripts, their syntax, matchers, Claude Code, duplicates, the audit, its own folders and the ' +
    'environment; runs no hook. Each finding has a place and a fix. broken: a hook does not run, or not as its file ' +
    'says. warning: it runs, but may surprise you. note: somebody chose this.',
  options: OPTIONS,
  exits: [
    [0, 'nothing is broken'],
    [1, 'something is broken'],
  ],
  examples: [
    { does: 'What is wrong here?', line: 'carabiner doctor' },
    {
      does: "Would another agent's hooks work here?",
      line: 'carabiner doctor --config .claude/settings.json',
    },
    { does: 'Fix what is safe to fix.', line: 'carabiner doctor --fix' },
    {
      does: 'For CI: one entry per finding; exits 1 if something is broken.',
      line: 'carabiner doctor --json',
    },
  ],
  async run({ options: { fix, ...options } }, output) {
    const look = async () => {
      const facts = await gather(options)
      return { facts, families: await examine(facts) }
    }
    const found = await withProgress('looking', output, look)
    const fixes = fix ? await fixed(found.families, found.facts.project) : []
    const { facts, families } = fixes.length > 0 ? await withProgress('looking again', output, look) : found
    const summary = summaryOf(families)
    const isReady = facts.hooks.some(({ state }) => state === 'ready')
    const isEmpty = facts.hooks.length === 0
    const steps = isReady || isEmpty ? await setupStep(facts.project, isReady) : []
    const isSetUp = !isEmpty || steps.length === 0
    const { notRunHere } = await import('../why/other-agents.js')
    const notRun = await notRunHere(options)
    const remarks = [...(isEmpty ? await ownRuns(facts.project) : []), ...notRun.map(notRunText)]
    const agents = await otherAgents(facts.project)
    const document = {
      project: facts.project,
      ok: summary.broken === 0,
      summary,
      checked: families.map(({ name, what }) => ({ family: name, what })),
      findings: families.flatMap(({ name, findings }) =>
        findings.map((finding) => ({ family: name, ...finding })),
      ),
      ...(fix && { fixes }),
      agents: agents.map((host) => ({ agent: host.name, abilities: abilityFacts(host) })),
      notRun,
    }
    return output.result(
      document,
      (paint) => [
        ...projectLine(options, paint),
        ...(fix ? fixLines(fixes, paint) : []),
        ...familyLines(families, paint, isSetUp || !document.ok, remarks),
        ...agents.flatMap((host) => abilityBlock(host, paint)),
        ...nextLines(document.ok ? steps : [], paint),
      ],
      document.ok ? EXIT.ok : EXIT.failed,
    )
  },
}

type Fix = { readonly code: Finding['code'] } & ({ readonly done: string } | { readonly problem: string })

/** One that fails does not stop the others. */
async function fixed(families: readonly Family[], project: string): Promise<readonly Fix[]> {
  const { repair } = await import('../doctor/repairs.js')
  const fixes: Fix[] = []
  for (const finding of families.flatMap(({ findings }) => findings)) {
    if (!finding.repair) continue
    const { code } = finding
    const tried = repair(finding, project)
    fixes.push(
      await tried.then(
        ({ text }) => ({ code, done: text }),
        (error: unknown) => ({ code, problem: textOf(error) }),
      ),
    )
  }
  return fixes
}

function fixLines(fixes: readonly Fix[], paint: Paint): readonly string[] {
  if (fixes.length === 0) return ['nothing can be fixed safely without you']
  return fitted(
    fixes.map((one) =>
      'done' in one
        ? `${paint.green('fixed')} ${one.code} ${one.done}`
        : `${paint.red('not fixed')} ${one.code} ${one.problem}`,
    ),
  )
}

/** Those that ask Carabiner, or are found on this machine. */
async function otherAgents(project: string): Promise<readonly Host[]> {
  const asking = registrationsIn(await agentFiles(project), project)
  const hosts = new Set([...asking, ...(await installedAgents())].map(({ host }): Host => host))
  return [...hosts].filter(({ name }) => name !== 'claude-code')
}

// ---- printing -------------------------------------------------------------------------------------------------

/** Without it, a guard that works would look as if nothing were there. */
async function ownRuns(project: string): Promise<readonly string[]> {
  return packRuns(await packHooks(project)).map((run) => {
    const said =
      run.hooks.length === 1 ? 'It is not counted above, and its' : 'They are not counted above, and their'
    return `${packRunText(run)} directly. ${said} calls are not in the audit.`
  })
}

/** `isSetUp`: there is something that could be wrong. `remarks`: what explains the counts. */
export function familyLines(
  found: readonly Family[],
  paint: Paint,
  isSetUp = true,
  remarks: readonly string[] = [],
): readonly string[] {
  const families = plainData(found)
  const summary = summaryOf(families)
  return [
    ...families.flatMap((family) => linesOf(family, paint)),
    ...fitted(remarks),
    ...(isSetUp ? [] : ['nothing is set up here yet']),
    ...(isSetUp || summary.broken + summary.warning + summary.note > 0 ? [verdict(summary, paint)] : []),
  ]
}

function linesOf({ name, what, findings }: Family, paint: Paint): readonly string[] {
  if (findings.length === 0) return fitted([`${paint.green('ok')} ${paint.bold(name)}  ${paint.dim(what)}`])
  return [
    ...fitted([`${paint.bold(name)}  ${paint.dim(what)}`]),
    ...findings.slice(0, MOST).flatMap((finding) => findingLines(finding, paint)),
    ...(findings.length > MOST ? [`  and ${findings.length - MOST} more; --json has all`] : []),
  ]
}

/** Nobody reads more findings of one family. */
const MOST = 100

function findingLines(finding: Finding, paint: Paint): readonly string[] {
  const { severity, code, hook, text, fix } = finding
  const place = [placeOf(finding), hook].filter(Boolean).join(' ')
  const head = oneLine(place === '' ? text : `${place}: ${text}`)
  return [
    // Indented deeper than the fix, so that no part of it can pass for one.
    ...fitted([`  ${severityColour(severity, paint)(`${severity} ${code}`)} ${head}`], width(), 6),
    ...todoLines('fix', fix, paint, 4),
  ]
}

/** `1 broken, 2 warnings`. */
function verdict({ broken, warning, note }: Summary, paint: Paint): string {
  const parts = [
    broken > 0 && paint.red(`${broken} broken`),
    warning > 0 && paint.yellow(counted(warning, 'warning')),
    note > 0 && counted(note, 'note'),
  ].filter((part) => part !== false)
  if (parts.length === 0) return paint.green('nothing is wrong')
  return broken > 0 ? parts.join(', ') : `nothing is broken: ${parts.join(', ')}`
}
