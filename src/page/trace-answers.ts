// What the screens Live and Audit ask: rows, one entry, statistics of hooks, and whether the log is whole.

import { setTimeout } from 'node:timers/promises'
import { textOf } from '../core/base/errors.js'
import { isObject } from '../core/base/json.js'
import { visible } from '../core/base/text.js'
import { CATALOGUE } from '../core/events/catalogue.js'
import type { FireEntry } from '../store/audit/entry-words.js'
import { DECISIONS, FILTERS, type FilterOptions, KINDS } from '../store/audit/filter.js'
import type { Verification } from '../store/audit-log.js'
import { type Answers, Download, NotAnswered, numberIn, Parts, textsIn } from './answers.js'
import type { PageTrace } from './trace.js'
import type { FiltersView, HistoryView, VerifyPart, VerifyView } from './view/audit.js'
import type { ShadowsView } from './view/plugins.js'

const USUAL_ROWS = 300
const MOST_ROWS = 2000
/** Entries with something in shadow mode that are counted. */
const MOST_SHADOWS = 2000
/** Parts of a chart. */
const PARTS = 24
/** How often a long check says how far it is. */
const TELL_MS = 100

export function traceAnswers(trace: PageTrace): Answers {
  return {
    'GET api/rows': ({ query }) => {
      const before = numberIn(query, 'before')
      const limit = Math.min(MOST_ROWS, numberIn(query, 'limit') ?? USUAL_ROWS)
      return trace.rows({ ...filtersIn(query), limit, ...(before !== undefined && { before }) })
    },
    'GET api/filters': async (): Promise<FiltersView> => ({
      event: Object.keys(CATALOGUE),
      decision: DECISIONS,
      kind: KINDS,
    }),
    'GET api/entry': ({ query }) => {
      const seq = numberIn(query, 'seq')
      if (seq === undefined) throw new NotAnswered(400, 'Which entry? Give its number')
      return trace.details(seq)
    },
    'GET api/shadows': async () => shadowsView(await trace.shadows(MOST_SHADOWS)),
    'GET api/history': async ({ query }): Promise<HistoryView> => {
      const { from, to, hooks } = await trace.history(filtersIn(query), PARTS)
      const shown = hooks.map((hook) => ({ ...hook, name: visible(hook.name), source: visible(hook.source) }))
      return { from, to, hooks: shown.filter(({ runs, skipped }) => runs + skipped > 0) }
    },
    'GET api/export': async ({ query }) =>
      new Download('carabiner-audit.jsonl', 'application/x-ndjson', trace.lines(filtersIn(query))),
    'GET api/verify': async ({ signal }) => new Parts(verified(trace, signal)),
  }
}

/** The part that is done, as long as it lasts; then what was found. Ends when nobody waits any more. */
async function* verified(trace: PageTrace, signal: AbortSignal): AsyncGenerator<VerifyPart> {
  let part = 0
  const work = trace.verify({
    signal,
    onProgress: (done) => {
      part = done
    },
  })
  const found = work.then(
    (result) => ({ result: verifyView(result) }),
    (error: unknown) => ({ problem: visible(textOf(error)) }),
  )
  for (;;) {
    const last = await Promise.race([found, setTimeout(TELL_MS, undefined, { ref: false })])
    yield last ?? { part }
    if (last) return
  }
}

function verifyView({ ok, records, last, problems, problemCount, notes }: Verification): VerifyView {
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
}

const SHOWN_SHADOWS = 20

/** By the rule or hook that would have acted. Another program may have written the entries. */
function shadowsView(entries: readonly FireEntry[]): ShadowsView {
  const groups = new Map<string, ShadowsView['results'][number]['newest'][number][]>()
  for (const { seq, time, tool, diagnostics } of entries)
    for (const { code, hook, text } of diagnostics.filter(isObject)) {
      if (code !== 'shadow' || typeof text !== 'string') continue
      const [, rule] = /\bthe rule (\S+) is in shadow mode/.exec(text) ?? []
      const name = [shownText(hook), rule && visible(rule)].filter(Boolean).join(' ')
      const group = groups.get(name) ?? []
      const said = visible(text.replace(/^.*?would /, 'would '))
      group.push({ seq, time: visible(time), tool: shownText(tool), text: said })
      groups.set(name, group)
    }
  return {
    results: [...groups].map(([name, all]) => ({
      name,
      count: all.length,
      newest: all.slice(0, SHOWN_SHADOWS),
    })),
    isCut: entries.length >= MOST_SHADOWS,
  }
}

function shownText(value: unknown): string {
  return typeof value === 'string' ? visible(value) : ''
}

function filtersIn(query: URLSearchParams): FilterOptions {
  return { ...textsIn(query, FILTERS), ...(query.get('unguarded') === 'yes' && { unguarded: true }) }
}
