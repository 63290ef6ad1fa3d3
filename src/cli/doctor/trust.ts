// What may run: trust, switches, approvals and grants; and whether those records can still be read.

import { existsSync } from 'node:fs'
import type { Silence } from '../../config/merged-settings.js'
import { textOf } from '../../core/base/errors.js'
import type { MaybePromise } from '../../core/base/promise.js'
import { visible, visibleName } from '../../core/base/text.js'
import { localTime } from '../../core/base/time.js'
import { shellQuoted } from '../../effects/shell/shell-quoted.js'
import { projectKey, type Switch, SwitchStore, undoing } from '../../plugins/switches.js'
import { approvalsIn, fileStores } from '../../store/file-stores.js'
import { diagnosticOf } from '../../trust/expectation.js'
import { findUnits, show } from '../plugins/review.js'
import { counted, grouped, placeOf } from '../print/lines.js'
import { typed, typedTake, typedTrust } from '../print/next-command.js'
import { unsaid } from '../why/unmet.js'
import type { Facts } from './facts.js'
import { at, type Checked, type Finding, type FindingCode } from './finding.js'

export async function trust(facts: Facts): Promise<Checked> {
  const { hooks } = facts
  const ready = hooks.filter(({ state }) => state === 'ready').length
  return {
    what: `${ready} of ${counted(hooks.length, 'hook')} may run`,
    findings: [
      ...unmet(facts),
      ...(await waiting(facts)),
      ...bySettings(facts),
      ...(await guarded('switches-unreadable', () => bySwitch(facts))),
      ...(await answers(facts)),
    ],
  }
}

// ---- trust ----------------------------------------------------------------------------------------------------

/** Something that was trusted or listed, and is not there as such. The family of plugins tells about lock files. */
function unmet({ expectations }: Facts): readonly Finding[] {
  return expectations
    .filter(({ digest, state }) => digest !== undefined || state === 'unreadable')
    .flatMap((one) =>
      diagnosticOf(one).map(({ code }) => ({
        severity: 'broken',
        code,
        file: one.unit.path,
        text: one.why,
        fix: one.repair,
      })),
    )
}

async function waiting({ untrusted, expectations, sources, project }: Facts): Promise<readonly Finding[]> {
  if (sources['trust-all']) return []
  const units = await findUnits(sources, undefined)
  const waits = untrusted.filter(unsaid(expectations)).map(({ name, path, state, why, hooks }): Finding => {
    const unit = [...units.units.keys()].find((one) => one.path === path)
    const [problem] = unit ? show(units, unit).problems : []
    const isModified = state === 'modified'
    const todo = isModified ? typedTake(sources) : typedTrust([name], sources)
    const what = `${counted(hooks.length, 'hook')} of ${visibleName(name)} ${hooks.length === 1 ? 'does' : 'do'} not run`
    return {
      // A changed unit was relied on; an untrusted one is the user's decision.
      severity: isModified || problem !== undefined ? 'broken' : 'warning',
      code: state,
      file: path,
      text: `${what}: ${visible(problem ?? why)}`,
      fix: problem === undefined ? todo : `Fix that, then: ${todo}`,
    }
  })
  if (expectations.some(({ state }) => state === 'unreadable')) return waits
  const expected = new Set(expectations.map(({ unit }) => unit.path))
  const stale = await guarded('trust-unreadable', () =>
    staleRecords(
      units.store.records().filter(({ path }) => !expected.has(path)),
      project,
    ),
  )
  return [...waits, ...stale]
}

type Records = ReturnType<Awaited<ReturnType<typeof findUnits>>['store']['records']>

/** Records of what was named once with --plugin or --config, and is gone. */
function staleRecords(records: Records, project: string): readonly Finding[] {
  return records
    .filter((record) => record.projectDir === project && !existsSync(record.path))
    .map(({ name, path, at: since }) => ({
      severity: 'note',
      code: 'trust-stale',
      file: path,
      text: `${visibleName(name)} was trusted at ${localTime(since)}, and no longer exists`,
      fix: `carabiner untrust ${shellQuoted(visible(name))}`,
    }))
}

// ---- switched off ---------------------------------------------------------------------------------------------

/** One finding per setting, however many hooks it silences. */
function bySettings({ specs }: Facts): readonly Finding[] {
  const off = specs.filter(({ disabled }) => disabled !== undefined)
  return [...grouped(off, ({ disabled }) => JSON.stringify(disabled)).values()].map((some) => {
    const { setting, ...place }: Silence = some[0]?.disabled ?? { setting: '' }
    const names = some.slice(0, 5).map(({ hook }) => visibleName(hook.name))
    const what = visible(setting)
    return {
      severity: 'note',
      code: 'disabled',
      ...place,
      text: `${counted(some.length, 'hook')} ${some.length === 1 ? 'is' : 'are'} switched off by ${what}: ${names.join(', ')}`,
      fix:
        place.file === undefined
          ? `Undo ${what} in the host’s settings.`
          : `Remove ${what} at ${placeOf(place)}.`,
    }
  })
}

function bySwitch({ hooks, project }: Facts): readonly Finding[] {
  const key = projectKey(project)
  return new SwitchStore()
    .inForce(Date.now())
    .filter((one) => one.project === undefined || one.project === key)
    .map((one) => ofSwitch(one, hooks))
}

function ofSwitch(one: Switch, hooks: Facts['hooks']): Finding {
  const { plugin, hook, mode, until, reason, by, since } = one
  const about = hooks.find(({ id, source }) => (hook ? hook.ids.includes(id) : source === plugin))
  const what = hook ? `the hook ${visibleName(hook.name)}` : `all of ${visibleName(plugin)}`
  const end = until === undefined ? '' : ` until ${localTime(until)}`
  const why = reason === undefined ? '' : ` (${visible(reason)})`
  const how = mode === 'shadow' ? 'switched to shadow mode' : 'switched off'
  const is = about ? 'is' : 'which no longer exists, is'
  return {
    severity: 'note',
    code: about ? 'switched-off' : 'switch-stale',
    ...(about && hook && at(about)),
    text: `${what}${about ? '' : ','} ${is} ${how} by ${visibleName(by)} since ${localTime(since)}${end}${why}`,
    fix: undoing(one),
  }
}

// ---- answers --------------------------------------------------------------------------------------------------

async function answers(facts: Facts): Promise<readonly Finding[]> {
  const trouble: Finding[] = []
  const onTrouble = (text: string) => trouble.push(unreadable('approvals-unreadable', text))
  return [
    ...(await guarded('approvals-unreadable', () => questions(facts, onTrouble))),
    ...trouble,
    ...(await guarded('grants-unreadable', () => grants(facts))),
  ]
}

async function questions(
  { project, sources }: Facts,
  onTrouble: (text: string) => void,
): Promise<readonly Finding[]> {
  const queue = await approvalsIn({ onTrouble })
  const open = await queue.open({ project })
  const [oldest] = open
  if (!oldest) return []
  return [
    {
      severity: 'note',
      code: 'approval-waiting',
      text: `${counted(open.length, 'question')} of this project ${open.length === 1 ? 'waits' : 'wait'} for an answer, since ${localTime(oldest.asked)}`,
      fix: sources.project === undefined ? 'carabiner approvals' : typed(['approvals'], sources),
    },
  ]
}

/** Ids of hooks from files. A skill's hooks come and go with its session. */
const OF_FILES = /^(?:user|project|named):(?!skill )/

/** An "allow always" for a hook that is gone or changed allows nothing any more. */
async function grants({ hooks, project }: Facts): Promise<readonly Finding[]> {
  const ids = new Set(hooks.map(({ id }) => id))
  const all = await fileStores({ projectDir: project }).sessions.grants()
  return all
    .filter(({ hook }) => OF_FILES.test(hook) && !ids.has(hook))
    .map(({ id, tool, event, created }) => ({
      severity: 'note',
      code: 'grant-stale',
      text: `the grant of ${localTime(created)} for ${visibleName(tool || event)} belongs to a hook that is gone or has changed: a person is asked again`,
      fix: `carabiner approvals revoke ${id.slice(0, 8)}`,
      repair: { kind: 'revoke-grant', id },
    }))
}

// ---- unreadable records --------------------------------------------------------------------------------------

async function guarded(
  code: FindingCode,
  check: () => MaybePromise<readonly Finding[]>,
): Promise<readonly Finding[]> {
  try {
    return await check()
  } catch (error) {
    return [unreadable(code, textOf(error))]
  }
}

function unreadable(code: FindingCode, text: string): Finding {
  return {
    severity: 'broken',
    code,
    text: visible(text),
    fix: 'Check the folder that it names, or set CARABINER_HOME to another one.',
  }
}
