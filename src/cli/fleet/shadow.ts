// `fleet shadow`: what a policy in shadow mode would have changed, on all machines or, without a database, on this one.

import { textOf } from '../../core/base/errors.js'
import { visible, visibleName } from '../../core/base/text.js'
import { localTime } from '../../core/base/time.js'
import { dataHome } from '../../files/homes.js'
import { shadowsIn } from '../../fleet/database/shadow-query.js'
import { logFolders } from '../../fleet/machine/log-folders.js'
import {
  deedText,
  type ShadowExample,
  type ShadowRow,
  ShadowTable,
  type ShadowTrial,
} from '../../fleet/shadow-table.js'
import { filterOf, timeOf } from '../../store/audit/filter.js'
import { readEntries } from '../../store/audit/read.js'
import { columns, counted, nextLines } from '../print/lines.js'
import { usage } from '../refusal.js'
import { type Given, isAboutAll, withDatabase } from './action.js'

export async function run({ options, words: [wanted], output }: Given): Promise<number> {
  const version = wanted === undefined ? undefined : Number(wanted)
  if (version !== undefined && !Number.isSafeInteger(version))
    throw usage(`Which version? Type carabiner fleet shadow 8, not ${JSON.stringify(wanted)}`)
  const since = sinceOf(options.since ?? '30d')
  const table = isAboutAll(options)
    ? (await withDatabase(options, (database) => shadowsIn(database, { since, version }))).table
    : ownShadows(since, version)
  const [rows, trials] = [table.rows(), table.trials()]
  return output.result({ since: since.toISOString(), trials, rows }, (paint) =>
    trials.length === 0
      ? [
          `${version === undefined ? 'no version was' : `version ${version} was not`} tried in shadow mode since ${localTime(since.toISOString())}`,
          ...nextLines(['carabiner fleet policy publish FILE --ring 1 --shadow'], paint),
        ]
      : lines(trials, rows),
  )
}

function sinceOf(given: string): Date {
  try {
    return new Date(timeOf(given, 'since', Date.now()))
  } catch (error) {
    throw usage(textOf(error))
  }
}

function ownShadows(since: Date, version: number | undefined): ShadowTable {
  const table = new ShadowTable(version)
  const filter = filterOf({ since: since.toISOString(), kind: 'fire' })
  for (const folder of logFolders(dataHome()))
    for (const entry of readEntries(folder, { newestFirst: true, filter })) table.add('this machine', entry)
  return table
}

function lines(trials: readonly ShadowTrial[], rows: readonly ShadowRow[]): readonly string[] {
  return trials.flatMap(({ version, calls, machines }) => {
    const own = rows.filter((row) => row.version === version)
    const result = own.length === 0 ? 'and would have changed nothing' : 'and would have changed this'
    return [
      `version ${version} was tried at ${counted(calls, 'event')} on ${counted(machines, 'machine')}, ${result}`,
      ...rowLines(own),
    ]
  })
}

function rowLines(rows: readonly ShadowRow[]): readonly string[] {
  const table = columns(
    rows.map(({ what, would, calls, changed, machineCount }) => [
      `  ${visible(what)}`,
      `would ${visible(deedText(would))} ${counted(calls, 'call')} on ${counted(machineCount, 'machine')}`,
      changed === calls ? 'which all went on' : `of which ${changed} went on`,
    ]),
  )
  return rows.flatMap(({ examples }, i) => [
    (table[i] ?? []).join('  ').trimEnd(),
    ...examples.map((one) => `    ${exampleText(one)}`),
  ])
}

function exampleText({ machine, time, tool, reason = '' }: ShadowExample): string {
  const what = [tool ?? '', reason].filter(Boolean).join(': ')
  return `${localTime(time)} ${visibleName(machine)} ${visible(what.replaceAll('\n', ' '))}`
}
