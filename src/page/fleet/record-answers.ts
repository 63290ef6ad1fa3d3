// What the screen Audit asks: records of all machines, page by page, and one of them with all that it says.

import { textOf } from '../../core/base/errors.js'
import { visible } from '../../core/base/text.js'
import { CATALOGUE } from '../../core/events/catalogue.js'
import {
  type FleetEntry,
  type FleetQuery,
  oneRecord,
  positionIn,
  searchPage,
} from '../../fleet/database/audit-query.js'
import type { Database } from '../../fleet/database/connection.js'
import { retiredAmong, retiredWords, unknownName } from '../../fleet/database/machine-names.js'
import { DECISIONS, FILTERS, filterOf, KINDS } from '../../store/audit/filter.js'
import { NotAnswered, textsIn } from '../answers.js'
import { detailsOf, rowOf } from '../row.js'
import type { FiltersView } from '../view/audit.js'
import type { FleetDetails, FleetRow, FleetRows } from '../view/fleet.js'
import type { FleetAnswers } from './asked.js'

const PAGE_ROWS = 100
/** A filter that matches little is looked for in so many records at once. */
const MOST_LOOKED_AT = 20_000

export function recordAnswers(database: Database): FleetAnswers {
  return {
    'GET api/records': {
      role: 'viewer',
      answer: async ({ query }): Promise<FleetRows> => {
        const filters = { ...filtersIn(query), limit: PAGE_ROWS, lookAt: MOST_LOOKED_AT }
        const unknown =
          filters.machine === undefined ? undefined : await unknownName(database, filters.machine)
        if (unknown !== undefined) throw new NotAnswered(400, unknown)
        const { entries, next } = await searchPage(database, filters)
        const retired = await retiredAmong(database, entries)
        return {
          rows: entries.map((one) => fleetRow(one, retired.get(one.chain))),
          ...(next !== undefined && { next }),
        }
      },
    },
    'GET api/record': {
      role: 'viewer',
      answer: async ({ query }): Promise<FleetDetails> => {
        const [, chain, seq] = RECORD.exec(query.get('id') ?? '') ?? []
        const found = chain && seq ? await oneRecord(database, chain, seq) : undefined
        if (!found) throw new NotAnswered(404, 'There is no such record')
        const retired = await retiredAmong(database, [found])
        return { ...detailsOf(found.entry), machine: machineWords(found.machine, retired.get(chain ?? '')) }
      },
    },
    'GET api/filters': {
      role: 'viewer',
      answer: async (): Promise<FiltersView> => ({
        event: Object.keys(CATALOGUE),
        decision: DECISIONS,
        kind: KINDS,
      }),
    },
  }
}

const RECORD = /^(\d{1,15})\.(-?\d{1,15})$/

function fleetRow({ machine, chain, entry }: FleetEntry, retired: string | undefined): FleetRow {
  return { ...rowOf(entry), id: `${chain}.${entry.seq}`, machine: machineWords(machine, retired) }
}

function machineWords(name: string, retired: string | undefined): string {
  return `${visible(name)}${retiredWords(retired)}`
}

function filtersIn(query: URLSearchParams): Omit<FleetQuery, 'limit'> {
  const given = textsIn(query, ['machine', ...FILTERS, 'after'])
  if (given.after !== undefined && !positionIn(given.after))
    throw new NotAnswered(400, 'There is no such page of records')
  try {
    filterOf(given)
  } catch (error) {
    throw new NotAnswered(400, visible(textOf(error)))
  }
  return given
}
