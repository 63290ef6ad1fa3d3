// `carabiner replay`: what rules would have decided about the calls on record. Runs nothing.

import { visible } from '../../core/base/text.js'
import { localTime } from '../../core/base/time.js'
import { actionRow, type Verdict } from '../../core/events/actions.js'
import type { AuditRecord } from '../../core/session/audit-record.js'
import { callerEnv } from '../../files/caller.js'
import { userHome } from '../../files/homes.js'
import { settingFiles } from '../../hosts/setting-files.js'
import type { KeptCall } from '../../store/audit-calls.js'
import type { Command } from '../command.js'
import type { Output } from '../output.js'
import { fitted } from '../print/fit.js'
import { counted, nextLines, oneLine, shortPath } from '../print/lines.js'
import { withProgress } from '../print/progress.js'
import { type Paint, painter } from '../print/terminal.js'
import { EXIT } from '../refusal.js'
import { type Played, play, UNPLAYABLE, type Unplayable } from '../replay/play.js'
import { callsSince, recordsSince, SINCE_OPTION, startOf } from '../replay/recorded.js'
import { type RuleFiles, ruleFiles } from '../replay/rule-files.js'
import { PLACE_OPTIONS, projectFolder, sourcesOf } from '../sources.js'

const OPTIONS = {
  since: SINCE_OPTION,
  rules: { type: 'string', value: 'FILE', help: 'Play these rules in place of ~/.amplifier/rules.json.' },
  project: PLACE_OPTIONS.project,
} as const

export const command: Command<typeof OPTIONS> = {
  name: 'replay',
  summary: 'Show what rules would have decided about recorded calls.',
  positionals: [],
  about:
    'Runs nothing: no hook, no command, no model. Takes the tool calls of this project that the audit kept, judges each ' +
    'by the rules as they are now, and lists those that would be decided differently. Other hooks count with what they ' +
    'answered then. Scripts are read as they are on disk now. Calls that were not recorded in full cannot be judged: ' +
    'they are counted, with the reason.',
  options: OPTIONS,
  exits: [
    [0, 'played, whether or not anything would change'],
    [1, 'the rules or the recorded calls cannot be read'],
  ],
  examples: [
    { does: 'What would the rules in force change about last week?', line: 'carabiner replay' },
    {
      does: 'Try a file before you use it.',
      line: 'carabiner replay --since 30d --rules new-rules.json',
      needs: 'a rules file of that name',
    },
    { does: 'For a program.', line: 'carabiner replay --since 1d --json' },
  ],
  async run({ options }, output) {
    const since = startOf(options.since)
    const project = projectFolder(options)
    const rules = await ruleFiles(sourcesOf(options.project), options.rules)
    const found = await withProgress('playing the recorded calls', output, async () =>
      playAll(project, since, rules),
    )
    return tell(found, rules, { project, since }, output)
  },
}

// ---- the calls ------------------------------------------------------------------------------------------------

interface Found {
  /** The oldest first. */
  readonly played: readonly Played[]
  readonly unplayable: readonly { readonly kept: KeptCall; readonly why: Unplayable }[]
}

async function playAll(projectDir: string, since: number, { files }: RuleFiles): Promise<Found> {
  const played: Played[] = []
  const unplayable: { readonly kept: KeptCall; readonly why: Unplayable }[] = []
  const calls = await callsSince(projectDir, since)
  const records = await decisionsSince(projectDir, since)
  const env = callerEnv()
  const around = { projectDir, home: userHome(), env, settings: settingFiles(env) }
  for (const kept of calls) {
    const one = await play(kept, records.get(kept.id), files, around)
    if (typeof one === 'string') unplayable.push({ kept, why: one })
    else played.push(one)
  }
  return { played, unplayable }
}

type Decided = Pick<AuditRecord, 'digest' | 'hooks'>

/** By the id of the call. */
async function decisionsSince(projectDir: string, since: number): Promise<ReadonlyMap<string, Decided>> {
  const found = new Map<string, Decided>()
  for await (const record of recordsSince(projectDir, since))
    if (record.event === 'PreToolUse' && record.call !== undefined) found.set(record.call, record)
  return found
}

// ---- the answer -----------------------------------------------------------------------------------------------

interface Asked {
  readonly project: string
  readonly since: number
}

async function tell(found: Found, rules: RuleFiles, asked: Asked, output: Output): Promise<number> {
  const { played, unplayable } = found
  const { files, notes } = rules
  const document = {
    project: asked.project,
    since: new Date(asked.since).toISOString(),
    rules: files.map(({ authority }) => authority.file),
    notes,
    played: played.length,
    changed: played.filter(({ changes }) => changes),
    allowed: played.filter(({ allowed }) => allowed).length,
    unplayable: unplayable.map(({ kept: { id, time, session, call }, why }) => ({
      id,
      time,
      session,
      tool: String(call.tool_name),
      why,
    })),
  }
  if (output.json) await output.document(document)
  else await output.page(fitted(linesOf(found, rules, asked, painter(1))), false)
  return EXIT.ok
}

function linesOf(
  { played, unplayable }: Found,
  { files, notes }: RuleFiles,
  { since }: Asked,
  paint: Paint,
): readonly string[] {
  const changed = played.filter(({ changes }) => changes)
  const allowed = played.filter((one) => one.allowed).length
  const start = localTime(new Date(since).toISOString())
  if (played.length + unplayable.length === 0)
    return [
      `no tool calls of this project are on record since ${start}`,
      'Calls are recorded while a gate or a rule judges them.',
    ]
  return [
    ...(files.length === 0 ? ['there are no rules: nothing but other hooks would judge'] : []),
    ...notes.map((note) => `note: ${visible(note)}`),
    ...changed.flatMap((one) => changeLines(one, paint)),
    `${counted(played.length, 'call')} since ${start}: ${changed.length} would change`,
    ...(allowed > 0 ? [`${counted(allowed, 'call')} would go on without the agent's own question`] : []),
    ...unplayableLines(unplayable, paint),
    ...(changed.length > 0 ? nextLines(['carabiner audit   # the records of these calls'], paint) : []),
  ]
}

function changeLines({ time, tool, call, was, would, unasked }: Played, paint: Paint): readonly string[] {
  const by = would.by.map((one) => {
    if ('hook' in one) return visible(one.hook)
    const words = one.words === '' ? '' : ` (${oneLine(visible(one.words), 60)})`
    return `${one.rule} in ${visible(shortPath(one.file))}: it would ${oneLine(visible(one.effect), 100)}${words}`
  })
  const before = was.by.length === 0 ? '' : ` by ${was.by.map(visible).join(', ')}`
  const changedBefore =
    was.changedBy.length === 0 ? '' : `, changed by ${was.changedBy.map(visible).join(', ')}`
  const changedNow = would.command === undefined ? '' : ` as ${oneLine(visible(would.command), 100)}`
  return [
    `${paint.dim(localTime(time))}  ${visible(tool)}  ${oneLine(visible(call), 100)}`,
    `  then  ${toned(was.action, 'was', paint)}${before}${changedBefore}`,
    `  now   ${toned(would.action, 'now', paint)}${changedNow}`,
    ...by.map((line) => `    ${line}`),
    ...(unasked.length > 0 ? [`    not asked then: ${unasked.map(visible).join(', ')}`] : []),
  ]
}

const WORDS: Readonly<Partial<Record<Verdict, { readonly was: string; readonly now: string }>>> = {
  continue: { was: 'went on', now: 'would go on' },
  ask_user: { was: 'asked', now: 'would ask' },
  deny: { was: 'denied', now: 'would be denied' },
}

function toned(action: Verdict, when: 'was' | 'now', paint: Paint): string {
  const { tone, said = action } = actionRow(action)
  const text = WORDS[action]?.[when] ?? said
  return tone === 'bad' ? paint.red(text) : tone === 'open' ? paint.yellow(text) : text
}

function unplayableLines(unplayable: Found['unplayable'], paint: Paint): readonly string[] {
  if (unplayable.length === 0) return []
  const reasons = Object.entries(UNPLAYABLE).map(
    ([why, text]) => [unplayable.filter((one) => one.why === why).length, text] as const,
  )
  return [
    paint.yellow(`${counted(unplayable.length, 'more call')} could not be played`),
    ...reasons.filter(([count]) => count > 0).map(([count, text]) => `  ${count}: ${text}`),
  ]
}
