// What the screens Live and Audit ask: rows, one entry, statistics of hooks, and whether the log is whole.

import { visible } from '../core/base/text.js'
import type { FilterOptions } from '../store/audit/filter.js'
import { type Answers, Download, NotAnswered, numberIn } from './answers.js'
import type { PageTrace } from './trace.js'
import type { HistoryView, VerifyView } from './view.js'

const USUAL_ROWS = 300
const MOST_ROWS = 2000
/** Parts of a chart. */
const PARTS = 24

const FILTERS = ['session', 'event', 'tool', 'hook', 'decision', 'kind', 'since', 'until'] as const

export function traceAnswers(trace: PageTrace): Answers {
  return {
    'GET api/rows': ({ query }) => {
      const before = numberIn(query, 'before')
      const limit = Math.min(MOST_ROWS, numberIn(query, 'limit') ?? USUAL_ROWS)
      return trace.rows({ ...filtersIn(query), limit, ...(before !== undefined && { before }) })
    },
    'GET api/entry': ({ query }) => {
      const seq = numberIn(query, 'seq')
      if (seq === undefined) throw new NotAnswered(400, 'Which entry? Give its number')
      return trace.details(seq)
    },
    'GET api/history': async ({ query }): Promise<HistoryView> => {
      const { from, to, hooks } = await trace.history(filtersIn(query), PARTS)
      const shown = hooks.map((hook) => ({ ...hook, name: visible(hook.name), source: visible(hook.source) }))
      return { from, to, hooks: shown.filter(({ runs, skipped }) => runs + skipped > 0) }
    },
    'GET api/export': async ({ query }) =>
      new Download('carabiner-audit.jsonl', 'application/x-ndjson', trace.lines(filtersIn(query))),
    'GET api/verify': async (): Promise<VerifyView> => {
      const { ok, records, last, problems, problemCount, notes } = await trace.verify()
      return {
        ok,
        records,
        last,
        problems: problems.map(({ file, line, what }) =>
          visible(line > 0 ? `${file}:${line} ${what}` : `${file} ${what}`),
        ),
        more: problemCount - problems.length,
        notes: notes.map(visible),
      }
    },
  }
}

function filtersIn(query: URLSearchParams): FilterOptions {
  const given = FILTERS.flatMap((name) => {
    const value = query.get(name)
    return value === null || value === '' ? [] : [[name, value] as const]
  })
  return { ...Object.fromEntries(given), ...(query.get('unguarded') === 'yes' && { unguarded: true }) }
}
