// `carabiner learn`: proposes exceptions from your rules for what you allowed again and again.

import { rulesFileOf } from '../../config/discovery.js'
import { textOf } from '../../core/base/errors.js'
import { withoutSecrets } from '../../core/base/secrets.js'
import { visible } from '../../core/base/text.js'
import { localTime } from '../../core/base/time.js'
import { callerEnv } from '../../files/caller.js'
import { userHome } from '../../files/homes.js'
import { JsonText } from '../../files/json-text.js'
import { HOST_NAMES } from '../../hosts/hosts.js'
import { settingFiles } from '../../hosts/setting-files.js'
import { readSettings, replaceSettings, type SettingsFile } from '../../hosts/settings-file.js'
import { SetupProblem } from '../../hosts/setup-problem.js'
import { effectText } from '../../rules/effect-kinds.js'
import type { Exception } from '../../rules/rule.js'
import { readRules } from '../../rules/rules-file.js'
import { gistOf } from '../../store/audit-calls/kept-call.js'
import type { Command } from '../command.js'
import { type Decided, decidedCalls } from '../learn/decided.js'
import { type Learned, learned, type Proposal, WITHHELD } from '../learn/proposals.js'
import { withExceptions } from '../learn/rules-edit.js'
import type { Output } from '../output.js'
import { checkPerson } from '../person.js'
import { changeLines, diffOf } from '../print/diff.js'
import { fitted } from '../print/fit.js'
import { counted, nextLines, oneLine, shortPath } from '../print/lines.js'
import { withProgress } from '../print/progress.js'
import { type Paint, painter } from '../print/terminal.js'
import { auditOf } from '../project-audit.js'
import { EXIT, Refusal } from '../refusal.js'
import { callsSince, recordsSince, SINCE_OPTION, startOf } from '../replay/recorded.js'
import { ruleFiles } from '../replay/rule-files.js'
import { PLACE_OPTIONS, projectFolder, sourcesOf } from '../sources.js'

const OPTIONS = {
  since: SINCE_OPTION,
  write: { type: 'boolean', help: 'Write the exceptions; without it nothing is written.' },
  project: PLACE_OPTIONS.project,
} as const

export const command: Command<typeof OPTIONS> = {
  name: 'learn',
  summary: 'Propose exceptions from rules for what you always allow.',
  positionals: [],
  about:
    'Reads which calls of this project your rules asked about and a person then allowed, here or in the agent. If the ' +
    'same effect on the same path, host, program, branch or resource was allowed three times and never denied, it ' +
    'proposes to stop asking about exactly that, and names those calls. It proposes nothing about secrets, nothing that ' +
    'a rule or your preset forbids, and no whole kind of effect. The exceptions go into ~/.amplifier/rules.json, which ' +
    'counts in all projects, and only with --write.',
  options: OPTIONS,
  exits: [
    [0, 'done, whether or not there is something to propose'],
    [1, 'the rules or the records cannot be read, or were changed'],
  ],
  examples: [
    { does: 'What was I asked about too often in the last week?', line: 'carabiner learn' },
    { does: 'Look further back.', line: 'carabiner learn --since 30d' },
    { does: 'Take the exceptions.', line: 'carabiner learn --write' },
    { does: 'For a program.', line: 'carabiner learn --json' },
  ],
  mayRun({ options }) {
    if (options.write) checkPerson('Loosening rules')
  },
  async run({ options }, output) {
    const since = startOf(options.since)
    const projectDir = projectFolder(options)
    const { files } = await ruleFiles(sourcesOf(options.project), undefined)
    const env = callerEnv()
    const around = { projectDir, home: userHome(), env, settings: settingFiles(env) }
    const found = await withProgress('reading the records', output, async () => {
      await checkWhole(projectDir)
      const calls = await callsSince(projectDir, since)
      return learned(await decidedCalls(recordsSince(projectDir, since), calls), files, around)
    })
    const change = found.proposals.length === 0 ? undefined : changeFor(found.proposals)
    if (options.write && change) asSettings(() => replaceSettings(change.file, change.after))
    return tell(found, { projectDir, since, change, isWritten: options.write }, output)
  },
}

/** Reading more would take long, and old records do not count here. */
const MOST_BYTES = 64 * 1024 * 1024

/** A log that somebody changed may hold approvals that nobody gave. */
async function checkWhole(projectDir: string): Promise<void> {
  const log = auditOf(projectDir)
  if (await log.isEmpty()) return
  const { ok } = await log.verify({ mostBytes: MOST_BYTES })
  if (ok) return
  throw new Refusal('NO_AUDIT', 'The audit log was changed, so nothing can be learned from it', {
    hint: 'carabiner audit verify says what was changed.',
  })
}

// ---- the file -------------------------------------------------------------------------------------------------

interface Change {
  readonly file: SettingsFile
  readonly after: string
}

function changeFor(proposals: readonly Proposal[]): Change {
  const home = userHome()
  const file = asSettings(() => readSettings({ path: rulesFileOf(home), within: [home] }, false))
  const exceptions = new Map<string, Exception[]>()
  for (const { rule, exception } of proposals)
    exceptions.set(rule, [...(exceptions.get(rule) ?? []), exception])
  const after = withExceptions(file.text ?? '', exceptions)
  checkUsable(file.path, after)
  return { file, after }
}

/** A file with a mistake would close every tool call. */
function checkUsable(path: string, text: string): void {
  const parsed = new JsonText(text).parse()
  const value = 'value' in parsed ? parsed.value : undefined
  const { problems } = readRules(value, { owner: 'user', now: Date.now(), agents: HOST_NAMES })
  const first = problems.find(({ closes }) => closes)
  if (first) throw new Refusal('CONFIG_INVALID', `${path} cannot take the exceptions: ${first.text}`)
}

function asSettings<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof SetupProblem)) throw error
    const hint = error.hint === undefined ? {} : { hint: error.hint }
    throw new Refusal('SETTINGS_UNUSABLE', textOf(error), hint)
  }
}

// ---- the answer -----------------------------------------------------------------------------------------------

interface Told {
  readonly projectDir: string
  readonly since: number
  readonly change: Change | undefined
  readonly isWritten: boolean
}

async function tell(found: Learned, told: Told, output: Output): Promise<number> {
  const { proposals, withheld } = found
  const { projectDir, since, change, isWritten } = told
  if (!output.json) {
    await output.page(linesOf(found, told, painter(1)), false)
    return EXIT.ok
  }
  await output.document({
    project: projectDir,
    since: new Date(since).toISOString(),
    file: rulesFileOf(userHome()),
    proposals: proposals.map(({ rule, exception, effect, approved }) => ({
      rule,
      exception,
      effect: withoutSecrets(effectText(effect)),
      approved: approved.length,
      calls: approved.map(({ kept, answered }) => ({
        id: kept.id,
        time: kept.time,
        session: kept.session,
        tool: String(kept.call.tool_name),
        call: withoutSecrets(gistOf(kept)),
        answered,
      })),
    })),
    withheld: Object.fromEntries(withheld),
    diff: change ? diffOf(change) : [],
    written: isWritten && change !== undefined,
  })
  return EXIT.ok
}

function linesOf({ proposals, withheld }: Learned, told: Told, paint: Paint): readonly string[] {
  const { since, change, isWritten } = told
  const start = localTime(new Date(since).toISOString())
  const rest = [...withheld].map(
    ([why, count]) =>
      `nothing proposed for ${counted(count, 'allowed call')}: ${count === 1 ? 'its' : 'their'} effects ${WITHHELD[why]}`,
  )
  if (!change) return fitted([`nothing to propose since ${start}`, ...rest])
  const name = visible(shortPath(change.file.path))
  return [
    ...fitted(proposals.flatMap((proposal) => proposalLines(proposal, paint))),
    ...changeLines(change, paint),
    ...fitted([
      ...rest,
      isWritten ? `wrote ${name}, which counts in all projects` : `${name} counts in all projects`,
    ]),
    ...nextLines(isWritten ? ['carabiner list   # the rules in force'] : ['carabiner learn --write'], paint),
  ]
}

/** So many calls are shown as evidence. */
const MOST_SHOWN = 3

function proposalLines({ rule, effect, approved }: Proposal, paint: Paint): readonly string[] {
  const more = approved.length - MOST_SHOWN
  return [
    `${paint.cyan(rule)} would no longer ask to ${oneLine(visible(withoutSecrets(effectText(effect))), 200)}`,
    `  allowed ${counted(approved.length, 'time')}:`,
    ...approved.slice(-MOST_SHOWN).map((one) => `    ${callLine(one, paint)}`),
    ...(more > 0 ? [`    and ${more} before`] : []),
  ]
}

function callLine({ kept, answered }: Decided, paint: Paint): string {
  const where = answered === 'agent' ? ', answered in the agent' : ''
  const text = oneLine(visible(withoutSecrets(gistOf(kept))), 100)
  return `${paint.dim(localTime(kept.time))}  ${visible(String(kept.call.tool_name))}  ${text}${where}`
}
