// `fleet audit`: searches the records of all machines; `fleet audit verify`: whether they are whole.

import { readFileSync } from 'node:fs'
import { textOf } from '../../core/base/errors.js'
import { visible, visibleName } from '../../core/base/text.js'
import { localTime } from '../../core/base/time.js'
import { callerPath } from '../../files/caller.js'
import { publicKeyFrom } from '../../files/ed25519.js'
import { readMembership } from '../../files/fleet-marker.js'
import { fleetPlace } from '../../files/fleet-places.js'
import { verifyFleet } from '../../fleet/checkpoint/verify.js'
import { type FleetEntry, searchRecords } from '../../fleet/database/audit-query.js'
import type { Database } from '../../fleet/database/connection.js'
import { type FilterOptions, filterOf } from '../../store/audit/filter.js'
import { chosen } from '../command.js'
import { columns, counted } from '../print/lines.js'
import { EXIT, usage } from '../refusal.js'
import { type Given, withDatabase } from './action.js'

export async function run(given: Given): Promise<number> {
  const verb = chosen(
    given.words[0] ?? 'search',
    ['search', 'verify'] as const,
    'carabiner fleet audit has no action',
  )
  return verb === 'verify' ? verified(given) : searched(given)
}

const FILTERS = ['session', 'hook', 'decision', 'kind', 'event', 'tool', 'since', 'until'] as const

async function searched({ options, output }: Given): Promise<number> {
  if (options.checkpoint !== undefined || options['root-key'] !== undefined)
    throw usage('--checkpoint and --root-key are for carabiner fleet audit verify')
  const filters: FilterOptions = Object.fromEntries(
    FILTERS.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name]]])),
  )
  try {
    filterOf(filters)
  } catch (error) {
    throw usage(textOf(error))
  }
  const limit = Number(options.lines ?? '20')
  if (!Number.isSafeInteger(limit) || limit < 1) throw usage('--lines must be a whole number above 0')
  const { machine } = options
  const entries = await withDatabase(options, (database) =>
    searchRecords(database, { ...filters, ...(machine !== undefined && { machine }), limit }),
  )
  return output.result({ entries }, () =>
    entries.length === 0
      ? ['no entries match']
      : columns(entries.toReversed().map(cells)).map((row) => row.join('  ').trimEnd()),
  )
}

function cells({ machine, entry }: FleetEntry): string[] {
  const { event, tool, action, decision, session, reason } = entry as unknown as Readonly<
    Record<string, unknown>
  >
  const what = [event, tool].filter((one) => typeof one === 'string').join(' ')
  const verdict = String(action ?? decision ?? entry.kind)
  return [
    localTime(entry.time),
    visibleName(machine),
    visible(what || entry.kind),
    visible(verdict),
    visible([session, reason].filter((one) => typeof one === 'string').join(' · ')),
  ]
}

async function verified({ options, output }: Given): Promise<number> {
  const given = [...FILTERS, 'machine', 'lines'].find(
    (name) => options[name as keyof typeof options] !== undefined,
  )
  if (given !== undefined) throw usage(`--${given} does not work with carabiner fleet audit verify`)
  const kept = options.checkpoint === undefined ? undefined : contentOf(options.checkpoint)
  return withDatabase(options, async (database) => {
    const { key, isPinned } = await rootKeyOf(options['root-key'], database)
    const found = await database.snapshot((client) =>
      verifyFleet(client, { rootKey: key, ...(kept !== undefined && { kept }) }),
    )
    return output.result(
      { ...found, pinned: isPinned },
      (paint) => [
        `${found.ok ? paint.green('whole') : paint.red('not whole')}: ${counted(found.records, 'record')} in ${counted(found.chains, 'chain')}, ${counted(found.checkpoints, 'checkpoint')}`,
        ...found.problems.map((one) => `  ${visible(one)}`),
        ...(found.problemCount > found.problems.length
          ? [`  and ${found.problemCount - found.problems.length} more`]
          : []),
        ...(isPinned
          ? []
          : ['  note: the key comes from the database itself; give --root-key, as fleet init printed it']),
        ...(kept === undefined
          ? [
              '  note: records after the newest checkpoint, and checkpoints that were removed, are only missed with --checkpoint FILE',
            ]
          : []),
      ],
      found.ok ? EXIT.ok : EXIT.failed,
    )
  })
}

function contentOf(file: string): string {
  try {
    return readFileSync(callerPath(file), 'utf8')
  } catch (error) {
    throw usage(`--checkpoint cannot be read: ${textOf(error)}`)
  }
}

/** Given, else known to this machine, else what the database says, which an administrator could have changed. */
async function rootKeyOf(
  text: string | undefined,
  database: Database,
): Promise<{ readonly key: Buffer; readonly isPinned: boolean }> {
  const known = text ?? (fleetPlace() ? readMembership()?.rootKey : undefined)
  const key = known === undefined ? undefined : publicKeyFrom(known)
  if (known !== undefined && !key)
    throw usage('--root-key must be the public key that carabiner fleet init printed')
  if (key) return { key, isPinned: true }
  const [row] = await database.rows<{ root_key: Buffer }>(
    'select root_key from fleet.org where org = fleet.own_org()',
  )
  return { key: row?.root_key ?? Buffer.alloc(0), isPinned: false }
}
