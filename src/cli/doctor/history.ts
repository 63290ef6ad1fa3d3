// The audit's view: hooks that fail, are slow, or answer in vain; and whether the log is intact.

import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Diagnostic, textOf } from '../../core/base/errors.js'
import { visible } from '../../core/base/text.js'
import { localTime } from '../../core/base/time.js'
import { resolveEvent } from '../../core/events/events.js'
import { isGate } from '../../core/hooks/gate.js'
import type { AuditedHook } from '../../core/session/audit-record.js'
import { shellQuoted } from '../../effects/shell/shell-quoted.js'
import { fleetPlace } from '../../files/fleet-places.js'
import { ifThere } from '../../files/if-there.js'
import type { ListedHook } from '../../hooks.js'
import { type HookStats, statsOf } from '../../store/audit/stats.js'
import type { AuditLog, Problem, StoredEntry } from '../../store/audit-log.js'
import { fileAuditLog } from '../../store/file-stores.js'
import { examplePayload } from '../fire/payload.js'
import { counted, duration, oneLine, placeOf } from '../print/lines.js'
import { optionOf, typed } from '../print/next-command.js'
import { severityOf } from '../print/severity.js'
import { sourcesOf, specOf } from '../sources.js'
import { takenBy } from '../why/matching.js'
import { todoOf } from './configuration.js'
import { type Facts, written } from './facts.js'
import { at, type Checked, type Finding } from './finding.js'
import { scriptFiles } from './scripts.js'

type Fire = Extract<StoredEntry, { readonly kind: 'fire' | 'late' }>

/** Only the newest runs: old ones say little about today. */
const MOST_ENTRIES = 5000

export async function history(facts: Facts): Promise<Checked> {
  if (facts.settings.audit === 'off')
    return { what: 'no audit: the settings say "audit": "off"', findings: [] }
  const audit = fileAuditLog({ projectDir: facts.project })
  const all: Fire[] = []
  for await (const entry of audit.entries({ newestFirst: true, limit: MOST_ENTRIES, filter: isFire }))
    all.push(entry as Fire)
  const entries = ofNow(all, facts.hooks)
  const stats = new Map((await statsOf(entries)).map((one) => [keyOf(one), one]))
  const last = lastRuns(entries)
  return {
    what: `${counted(all.length, 'event')} on record`,
    findings: [
      ...(await damage(audit, facts)),
      ...(await ofFleet(audit.place)),
      ...wantedHooks(facts).flatMap((hook) =>
        ofHook(hook, stats.get(keyOf(hook)), last.get(keyOf(hook)), facts),
      ),
    ],
  }
}

async function ofFleet(log: string): Promise<readonly Finding[]> {
  if (!fleetPlace()) return []
  const { fleetFindings } = await import('./fleet.js')
  return fleetFindings(log)
}

/** Only runs of the hooks as they are now: a name is a position, and a changed hook is another hook. */
function ofNow(entries: readonly Fire[], hooks: readonly ListedHook[]): readonly Fire[] {
  const now = new Map(hooks.map((hook) => [keyOf(hook), hook.content ?? hook.hash]))
  const isNow = (run: AuditedHook) => run.hash !== undefined && now.get(keyOf(run)) === run.hash
  return entries.map((entry) => ({ ...entry, hooks: hooksOf(entry).filter(isNow) }))
}

function wantedHooks({ hooks }: Facts): readonly ListedHook[] {
  return hooks.filter(({ state }) => state !== 'disabled')
}

function isFire({ kind }: { readonly kind: string }): boolean {
  return kind === 'fire' || kind === 'late'
}

function keyOf({ name, source }: { readonly name: string; readonly source: string }): string {
  return `${name}\0${source}`
}

function ofHook(
  hook: ListedHook,
  stats: HookStats | undefined,
  last: LastRun | undefined,
  { sources: { project }, specs }: Facts,
): readonly Finding[] {
  if (!stats) return []
  const look = typed(['audit', ...optionOf('--hook', hook.name)], sourcesOf(project))
  return [
    ...(last ? failing(hook, last, stats, specs, project) : []),
    ...slow(hook, stats, isAwaited(hook, specs), look),
    ...(last ? misplaced(hook, last) : []),
  ]
}

interface LastRun {
  readonly entry: Fire
  readonly run: AuditedHook
}

/** The newest runs of each hook: failures before a fix are no news. */
function lastRuns(entries: readonly Fire[]): ReadonlyMap<string, LastRun> {
  const last = new Map<string, LastRun>()
  for (const entry of entries) {
    for (const run of hooksOf(entry)) {
      const isRun = run.status === 'ran' || run.status === 'failed'
      if (isRun && !last.has(keyOf(run))) last.set(keyOf(run), { entry, run })
    }
  }
  return last
}

/** Checks what was read back: anybody may have written it. */
function hooksOf({ hooks }: Fire): readonly AuditedHook[] {
  return Array.isArray(hooks) ? hooks : []
}

function failing(
  hook: ListedHook,
  { run, entry }: LastRun,
  { failures, runs }: HookStats,
  specs: Facts['specs'],
  project: string | undefined,
): readonly Finding[] {
  if (run.status !== 'failed' && failures * 10 < runs) return []
  if (failures === 0) return []
  const isLast = run.status === 'failed'
  const isChanged = isLast && isChangedSince(entry.time, specOf(specs, hook))
  const why =
    isLast && run.detail !== undefined
      ? `: ${oneLine(visible(String(run.detail)), 300).replace(/\.$/, '')}`
      : ''
  const what = isLast ? `it failed when it last ran (${localTime(entry.time)})${why}` : 'it works now'
  const look = typed(['audit', ...optionOf('--hook', hook.name), '--decision', 'failed'], sourcesOf(project))
  return [
    {
      severity: isLast && !isChanged ? 'broken' : 'warning',
      code: 'failing',
      ...at(hook),
      text: `${what}${isChanged ? '; its script has changed since' : ''}; ${failures} of ${counted(runs, 'run')} failed`,
      fix: isLast
        ? `${again(hook, entry, project)}   # tries it again: the next good run clears this; ${look} lists what failed`
        : `${look}   # lists what failed`,
    },
  ]
}

/** A reviewed hook is identified by its content, a hook in the user's own files by the file's time. */
function isChangedSince(time: string, spec: Facts['specs'][number] | undefined): boolean {
  return (spec ? scriptFiles(written(spec)) : []).some((path) => {
    const changed = ifThere(() => statSync(path))?.ctimeMs ?? 0
    return changed > Date.parse(time)
  })
}

/** A command that fires the same event with an example payload. */
function again({ matcher }: ListedHook, { event, tool }: Fire, project: string | undefined): string {
  const payload = examplePayload(resolveEvent(event), tool ?? takenBy(matcher ?? ''))
  return visible(`echo ${shellQuoted(payload)} | ${typed(['fire', event], sourcesOf(project))}`)
}

/** Agents wait for a gate at every call. */
const SLOW_GATE_MS = 1000

/** Whether calls wait for it as for a gate. They also do if it is a logger (`observe`). */
function isAwaited(hook: ListedHook, specs: Facts['specs']): boolean {
  const { role, events } = hook
  const { kind = 'command', detached = false } = specOf(specs, hook)?.hook ?? {}
  return events !== 'all' && events.some((event) => isGate(resolveEvent(event), { kind, role, detached }))
}

function slow(
  hook: ListedHook,
  { medianMs, p95Ms, runs }: HookStats,
  isAwaited: boolean,
  look: string,
): readonly Finding[] {
  if (medianMs === undefined || p95Ms === undefined || hook.role === 'observe') return []
  const timeoutMs = hook.timeout * 1000
  const usually = `it takes ${duration(medianMs)} (median of ${counted(runs, 'run')})`
  if (p95Ms > timeoutMs * 0.8) {
    const text = `${usually}, and sometimes ${duration(p95Ms)} of its timeout of ${hook.timeout} s`
    const fix = `Make it faster, or write "timeout": ${Math.ceil(p95Ms / 500)} at ${placeOf(at(hook))}, in seconds.`
    return [{ severity: 'warning', code: 'slow', ...at(hook), text, fix }]
  }
  if (!isAwaited || medianMs <= SLOW_GATE_MS) return []
  const text = `${usually}, and every call that it matches waits for it`
  return [
    {
      severity: 'warning',
      code: 'slow',
      ...at(hook),
      text,
      fix: `Make it faster, or match fewer calls; ${look} lists them`,
    },
  ]
}

/** Answers that did not count as intended. */
const MISPLACED: ReadonlySet<string> = new Set([
  'answer-misplaced',
  'verdict-ignored',
  'async-verdict-ignored',
  'unknown-answer-key',
  'malformed-field',
  'owned-field',
])

function misplaced(hook: ListedHook, { entry }: LastRun): readonly Finding[] {
  const all: readonly Diagnostic[] = Array.isArray(entry.diagnostics) ? entry.diagnostics : []
  return all
    .filter((one) => MISPLACED.has(one.code) && one.hook === hook.name)
    .map(({ code, text, todo }) => ({
      severity: severityOf(code),
      code,
      ...at(hook),
      text: `when it last ran (${localTime(entry.time)}), its answer did not count as written: ${oneLine(visible(withoutName(hook.name, String(text))), 300)}`,
      fix: todo === undefined ? todoOf(code) : oneLine(visible(String(todo)), 400),
    }))
}

/** The finding names the hook already. */
function withoutName(name: string, text: string): string {
  return text.startsWith(`${name}: `) ? text.slice(name.length + 2) : text
}

// ---- the log itself -------------------------------------------------------------------------------------------

/** Only `audit verify` reads a longer log to its end. */
const MOST_BYTES = 32 * 1024 * 1024

async function damage(audit: AuditLog, { sources }: Facts): Promise<readonly Finding[]> {
  const problem = await problemIn(audit)
  if (problem === undefined) return []
  if ('unwitnessed' in problem)
    return [
      {
        severity: 'warning',
        code: 'audit-unwitnessed',
        file: audit.place,
        text: visible(problem.unwitnessed),
        fix: 'Fix what it says: make sure that it is a folder, and that only you can write there.',
      },
    ]
  const { project } = sources
  return [
    {
      severity: 'broken',
      code: 'audit-broken',
      file: resolve(audit.place, problem.file),
      ...(problem.line > 0 && { line: problem.line }),
      text: `the audit was changed or damaged: ${problem.what}`,
      fix: typed(['audit', 'verify'], sourcesOf(project)),
    },
  ]
}

async function problemIn(audit: AuditLog): Promise<Problem | { readonly unwitnessed: string } | undefined> {
  try {
    if (await audit.isEmpty()) return undefined
    const { problems, unwitnessed } = await audit.verify({ mostBytes: MOST_BYTES })
    return problems[0] ?? (unwitnessed === undefined ? undefined : { unwitnessed })
  } catch (error) {
    return { file: audit.place, line: 0, what: textOf(error) }
  }
}
