// What a policy in shadow mode would have changed, in lines for a person.

import { visible, visibleName } from '../../core/base/text.js'
import { localTime } from '../../core/base/time.js'
import {
  deedText,
  type ShadowExample,
  type ShadowRow,
  type ShadowTable,
  type ShadowTrial,
} from '../../fleet/shadow-table.js'
import { timeOf } from '../../store/audit/filter.js'
import { columns, counted } from '../print/lines.js'

/** As far back as people look unless they say otherwise. */
export const SHADOW_SINCE = '30d'

/** Throws for a text that is no time. */
export function sinceOf(given: string): Date {
  return new Date(timeOf(given, '--since', Date.now()))
}

/** Empty if nothing was tried. */
export function shadowLines(table: ShadowTable): readonly string[] {
  return lines(table.trials(), table.rows())
}

export function untriedLine(version: number | undefined, since: Date): string {
  const what = version === undefined ? 'no version was' : `version ${version} was not`
  return `${what} tried in shadow mode since ${localTime(since.toISOString())}`
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
