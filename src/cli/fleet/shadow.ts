// `fleet shadow`: what a policy in shadow mode would have changed, on all machines or, without a database, on this one.

import { textOf } from '../../core/base/errors.js'
import { visible, visibleName } from '../../core/base/text.js'
import { localTime } from '../../core/base/time.js'
import { dataHome } from '../../files/homes.js'
import { shadowsIn } from '../../fleet/database/shadow-query.js'
import { logFolders } from '../../fleet/machine/log-folders.js'
import { type ShadowExample, type ShadowRow, ShadowTable } from '../../fleet/shadow-table.js'
import { filterOf, timeOf } from '../../store/audit/filter.js'
import { readEntries } from '../../store/audit/read.js'
import { columns, counted } from '../print/lines.js'
import { usage } from '../refusal.js'
import { type Given, withDatabase } from './action.js'

export async function run({ options, words: [wanted], output }: Given): Promise<number> {
  const version = wanted === undefined ? undefined : Number(wanted)
  if (version !== undefined && !Number.isSafeInteger(version))
    throw usage(`Which version? Type carabiner fleet shadow 8, not ${JSON.stringify(wanted)}`)
  const since = sinceOf(options.since ?? '30d')
  const table =
    options.database === undefined
      ? ownShadows(since, version)
      : await withDatabase(options, (database) => shadowsIn(database, since, version))
  const rows = table.rows()
  return output.result({ since: since.toISOString(), rows }, () => lines(rows))
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

const WOULD: Readonly<Record<string, string>> = {
  deny: 'deny',
  ask_user: 'ask about',
  modify: 'change',
  abort_turn: 'end the turn at',
  hard_abort: 'end the agent at',
}

function lines(rows: readonly ShadowRow[]): readonly string[] {
  if (rows.length === 0) return ['nothing in shadow mode would have changed anything']
  const table = columns(
    rows.map(({ version, what, would, calls, changed, machineCount }) => [
      `version ${version}`,
      visible(what),
      `would ${WOULD[would] ?? visible(would)} ${counted(calls, 'call')} on ${counted(machineCount, 'machine')}`,
      changed === calls ? 'which all went on' : `of which ${changed} went on`,
    ]),
  )
  return rows.flatMap(({ examples }, i) => [
    (table[i] ?? []).join('  ').trimEnd(),
    ...examples.map((one) => `  ${exampleText(one)}`),
  ])
}

function exampleText({ machine, time, tool, reason = '' }: ShadowExample): string {
  const what = [tool ?? '', reason].filter(Boolean).join(': ')
  return `${localTime(time)} ${visibleName(machine)} ${visible(what.replaceAll('\n', ' '))}`
}
