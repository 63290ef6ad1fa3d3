// `carabiner audit`: what happened in a project, and whether the record of it is whole.

import { textOf } from '../../core/base/errors.js'
import { visible } from '../../core/base/text.js'
import type { ShownEntry } from '../../store/audit/entry-words.js'
import { type FilterOptions, filterOf } from '../../store/audit/filter.js'
import { withCalls, withCallsSoon } from '../../store/audit-calls/entry-calls.js'
import type { AuditCalls } from '../../store/audit-calls.js'
import type {
  AuditLog,
  EntryFilter,
  Link,
  ReadOptions,
  StoredEntry,
  Verification,
} from '../../store/audit-log.js'
import { fileCalls } from '../../store/file-stores.js'
import { AUDIT_FILTERS } from '../audit-filters.js'
import { type Command, checkOwners, chosen, type Options } from '../command.js'
import { Interruption } from '../interruption.js'
import type { Output } from '../output.js'
import { fitted } from '../print/fit.js'
import { counted, nextLines, shortPath } from '../print/lines.js'
import { typed } from '../print/next-command.js'
import { entryDetails, entryLines } from '../print/print-audit.js'
import { withProgress } from '../print/progress.js'
import { type Paint, painter } from '../print/terminal.js'
import { auditOf } from '../project-audit.js'
import { EXIT, Refusal, usage } from '../refusal.js'
import { PLACE_OPTIONS, projectOf } from '../sources.js'

const OPTIONS = {
  project: PLACE_OPTIONS.project,
  lines: { type: 'string', short: 'n', value: 'N', help: 'tail: how many entries; default: 20.' },
  follow: { type: 'boolean', short: 'f', help: 'tail, export: wait for new entries.' },
  ...AUDIT_FILTERS,
  unguarded: {
    type: 'boolean',
    help: 'Only calls that an expected gate did not judge.',
  },
  to: {
    type: 'string',
    value: 'URL',
    help: 'export: the collector; default: OTEL_EXPORTER_OTLP_ENDPOINT.',
  },
  expect: {
    type: 'string',
    value: 'N:HASH',
    help: 'verify: require this entry, which you saved elsewhere.',
  },
} as const

const ACTIONS = ['tail', 'show', 'verify', 'export'] as const
type Action = (typeof ACTIONS)[number]

const OWNERS: Readonly<Record<string, readonly Action[]>> = {
  lines: ['tail'],
  follow: ['tail', 'export'],
  ...Object.fromEntries([...Object.keys(AUDIT_FILTERS), 'unguarded'].map((name) => [name, ['tail']])),
  to: ['export'],
  expect: ['verify'],
}

export const command: Command<typeof OPTIONS> = {
  name: 'audit',
  summary: 'Show what happened here, and whether the log is whole.',
  positionals: ['[tail | show | verify | export]', '[N]'],
  completes: [ACTIONS],
  about:
    'tail (the default) lists the newest entries, show prints one in full (the newest, or N), verify reads the whole log and names the ' +
    'first entry that was edited, removed, added or moved. Save the last line of verify elsewhere for --expect: ' +
    'nothing else detects a log that was replaced together with its witness. export sends what was not sent yet to an ' +
    'OpenTelemetry collector, as spans and log records.',
  options: OPTIONS,
  exits: [
    [0, 'done; verify: the log is whole'],
    [1, 'verify: it is not; show: there is no such entry'],
  ],
  examples: [
    { does: 'What was denied in the last hour?', line: 'carabiner audit --decision deny --since 1h' },
    { does: 'Which calls did a gate miss?', line: 'carabiner audit --unguarded' },
    { does: 'Follow new entries.', line: 'carabiner audit tail --follow', needs: 'patience' },
    { does: 'Show one entry in full.', line: 'carabiner audit show 1' },
    { does: 'Was the log changed?', line: 'carabiner audit verify' },
    {
      does: 'Send new entries to a collector.',
      line: 'carabiner audit export --to http://localhost:4318',
      needs: 'a collector',
    },
  ],
  async run({ options, positionals: [first = 'tail', which, ...more] }, output) {
    const action = actionOf(first)
    if (more.length > 0 || (which !== undefined && action !== 'show')) {
      const extra = more[0] ?? which ?? ''
      throw usage(`carabiner audit ${action} does not accept ${JSON.stringify(extra)}`, lines(action, extra))
    }
    checkOwners('audit', action, options, OWNERS)
    const project = projectOf(options)
    const log = auditOf(project)
    const calls = new CallsOf(project, output)
    switch (action) {
      case 'show':
        return show(log, calls, numberOf(which), output)
      case 'verify':
        return check(log, expected(options.expect), output)
      case 'export':
        return send(log, project, options, output)
      case 'tail':
        return tail(log, calls, options, output)
    }
  },
}

/** A number after tail most likely means a count. */
function lines(action: Action, extra: string): string | undefined {
  return action === 'tail' && /^\d+$/.test(extra)
    ? `carabiner audit tail -n ${extra} lists that many; carabiner audit show ${extra} shows that entry.`
    : undefined
}

function actionOf(name: string): Action {
  const number = /^\d+$/.test(name) ? `carabiner audit show ${name} shows that entry.` : undefined
  return chosen(name, ACTIONS, 'carabiner audit has no action', number)
}

function filtered(options: Options<typeof OPTIONS>): EntryFilter {
  const { session, event, tool, hook, decision, kind, unguarded, since, until } = options
  try {
    const options = given({ session, event, tool, hook, decision, kind, unguarded, since, until })
    return filterOf(options, Date.now(), '--')
  } catch (error) {
    throw usage(textOf(error))
  }
}

function given(
  options: { readonly [K in keyof FilterOptions]: FilterOptions[K] | undefined },
): FilterOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
}

function countOf(lines = '20'): number {
  if (/^\d{1,9}$/.test(lines)) return Number(lines)
  throw usage(`--lines must be a whole number, got ${JSON.stringify(lines)}`)
}

/** Undefined: the newest. */
function numberOf(which: string | undefined): number | undefined {
  if (which === undefined) return undefined
  if (/^\d{1,15}$/.test(which)) return Number(which)
  throw usage(`${JSON.stringify(which)} is not the number of an entry`, 'carabiner audit lists them.')
}

// ---- calls ----------------------------------------------------------------------------------------------------

/** Adds the calls that are still kept to entries, or says why they cannot be shown. */
class CallsOf {
  readonly #calls: () => Promise<AuditCalls>
  readonly #output: Output

  constructor(projectDir: string, output: Output) {
    this.#calls = () => fileCalls({ projectDir })
    this.#output = output
  }

  soon(entry: StoredEntry): Promise<readonly ShownEntry[]> {
    return this.#told([entry], withCallsSoon)
  }

  with(entries: readonly StoredEntry[]): Promise<readonly ShownEntry[]> {
    return this.#told(entries, withCalls)
  }

  async #told(entries: readonly StoredEntry[], add: typeof withCalls): Promise<readonly ShownEntry[]> {
    try {
      return await add(entries, this.#calls)
    } catch (error) {
      await this.#output.complain([`carabiner: the calls cannot be shown: ${visible(textOf(error))}`])
      return entries
    }
  }
}

// ---- tail -----------------------------------------------------------------------------------------------------

async function tail(
  log: AuditLog,
  calls: CallsOf,
  options: Options<typeof OPTIONS>,
  output: Output,
): Promise<number> {
  const filter = filtered(options)
  const limit = countOf(options.lines)
  const isFollowed = options.follow
  if (isFollowed && output.json) {
    throw endless()
  }
  let damaged = 0
  const onDamaged = () => {
    damaged++
  }
  const found = (await read(log, { newestFirst: true, filter, limit, onDamaged })).reverse()
  const entries = await calls.with(found)
  if (output.json) {
    await output.document({ folder: log.place, entries, damaged })
    return EXIT.ok
  }
  const last = options.unguarded && !isFollowed ? entries.at(-1) : undefined
  const next = last === undefined ? [] : [typed(['audit', 'show', String(last.seq)], options)]
  if (entries.length > 0)
    await output.print([...entryLines(entries, painter(1)), ...nextLines(next, painter(1))])
  else if (!isFollowed) await output.print(await nothing(log, projectOf(options)))
  if (damaged > 0) {
    const what = `${counted(damaged, 'line')} of the log cannot be read`
    await output.complain([`carabiner: ${what}`, '  carabiner audit verify says which.'])
  }
  return isFollowed ? follow(log, calls, { filter, after: found.at(-1)?.seq }, output) : EXIT.ok
}

function endless(): Refusal {
  return usage('--json prints one document, and --follow has no end: use one or the other')
}

async function read(log: AuditLog, options: ReadOptions): Promise<StoredEntry[]> {
  const entries: StoredEntry[] = []
  for await (const entry of log.entries(options)) entries.push(entry)
  return entries
}

async function nothing(log: AuditLog, project: string): Promise<readonly string[]> {
  const [any] = await read(log, { limit: 1 })
  if (any) return ['no entries match']
  if (!(await log.isEmpty()))
    return ['entries are missing', ...nextLines(['carabiner audit verify'], painter(1))]
  const { packHooks, packRuns, packRunText } = await import('../why/first-steps.js')
  return [
    'no entries for this project yet',
    ...packRuns(await packHooks(project)).map(
      (run) => `${packRunText(run)} directly: those decisions are not in this log`,
    ),
    ...nextLines([`echo '{"hook_event_name":"Stop"}' | carabiner fire`], painter(1)),
  ]
}

async function follow(
  log: AuditLog,
  calls: CallsOf,
  { filter, after }: { readonly filter: EntryFilter; readonly after: number | undefined },
  output: Output,
): Promise<number> {
  const interruption = new Interruption()
  const { signal } = interruption
  for await (const entry of log.follow({ filter, signal, ...(after !== undefined && { after }) })) {
    await output.print(entryLines(await calls.soon(entry), painter(1)))
    if (output.failure) return EXIT.ok
  }
  return EXIT.ok
}

// ---- show -----------------------------------------------------------------------------------------------------

async function show(log: AuditLog, calls: CallsOf, seq: number | undefined, output: Output): Promise<number> {
  const wanted: EntryFilter = (entry) => seq === undefined || (entry as StoredEntry).seq === seq
  const [entry] = await calls.with(await read(log, { newestFirst: true, filter: wanted, limit: 1 }))
  if (!entry) {
    throw new Refusal(
      'UNKNOWN_ENTRY',
      seq === undefined ? 'There are no entries' : `There is no entry ${seq}`,
      {
        hint: 'carabiner audit lists the newest.',
      },
    )
  }
  return output.result(entry, (paint) => entryDetails(entry, paint))
}

// ---- verify ---------------------------------------------------------------------------------------------------

function expected(text: string | undefined): Link | undefined {
  if (text === undefined) return undefined
  const [, seq, hash] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text.trim()) ?? []
  if (seq && hash) return { seq: Number(seq), hash }
  throw usage(`--expect must be N:HASH, as verify prints it, got ${JSON.stringify(text)}`)
}

async function check(log: AuditLog, expect: Link | undefined, output: Output): Promise<number> {
  const found = await withProgress('reading the log', output, () => log.verify({ ...(expect && { expect }) }))
  const document = { folder: log.place, ...found }
  const word = found.ok ? 'whole' : (await log.isEmpty()) ? 'nothing to verify' : 'not whole'
  return output.result(
    document,
    (paint) => verdictLines(log.place, found, word, paint),
    found.ok ? EXIT.ok : EXIT.failed,
  )
}

type Word = 'whole' | 'not whole' | 'nothing to verify'

function verdictLines(folder: string, found: Verification, word: Word, paint: Paint): readonly string[] {
  const { ok, records, last, problems, problemCount, torn, notes } = found
  const where = visible(shortPath(folder))
  const size = records === 1 ? '1 entry' : `${records} entries`
  const more = problemCount - problems.length
  const lines = [
    `${ok ? paint.green(word) : word === 'not whole' ? paint.red(word) : word}: ${size} in ${where}`,
    ...problems.map(
      ({ file, line, what }) => `  ${visible(line > 0 ? `${file}:${line}` : file)} ${visible(what)}`,
    ),
    ...(more > 0 ? [`  and ${more} more`] : []),
    ...notes.map((note) => `  note: ${visible(note)}`),
    ...(torn ? [`  note: ${visible(torn.file)} ends with ${torn.bytes} bytes of an unfinished record`] : []),
  ]
  // Not folded, so that it can be copied.
  const anchor = ok && last ? [paint.dim(`  save this elsewhere for --expect: ${last.seq}:${last.hash}`)] : []
  return [...fitted(lines), ...anchor]
}

// ---- export ---------------------------------------------------------------------------------------------------

async function send(
  log: AuditLog,
  project: string,
  { to, follow }: Options<typeof OPTIONS>,
  output: Output,
): Promise<number> {
  if (follow && output.json) throw endless()
  const { exportEntries } = await import('../audit-export.js')
  const signal = follow ? { follow: new Interruption().signal } : {}
  return exportEntries(log, { project, ...(to !== undefined && { to }), ...signal }, output)
}
