// The gate between files and running hooks: hooks of a project run as they were trusted, from their copy, or not at all.

import { delimiter } from 'node:path'
import { HookError, isHookError, textOf } from '../core/base/errors.js'
import { quoted } from '../core/base/text.js'
import type { HookContext, HookEvent, Run } from '../core/hooks/hook.js'
import type { Skip } from '../core/run/plan.js'
import { shellQuoted } from '../shell/shell-quoted.js'
import { scriptsChanged } from '../trust/changes.js'
import { runPlace } from '../trust/copies.js'
import { programGone, safePath } from '../trust/program-search.js'
import type { TrustStore } from '../trust/trust-store.js'
import type { Standing, TrustRecord, Unit, Untrusted } from '../trust/unit.js'
import type { ConfiguredHook } from './configured-hook.js'
import { unitsOf } from './units.js'

/** A hook that was admitted or refused, and by which record. */
interface Held {
  readonly unit: Unit
  readonly record: TrustRecord | undefined
  /** The copy that it runs from, if any. */
  readonly copied: Copied | undefined
}

export class TrustGate {
  readonly #store: TrustStore
  readonly #held = new WeakMap<ConfiguredHook, Held>()
  /** Standings of units when their hooks were read: an unreadable record is reported only once. */
  readonly #said = new Map<string, Standing>()
  /** Standings for the hooks of one step, which are asked about together. */
  readonly #now = new Map<string, Standing>()

  /** True if any of the hooks that were settled last were modified since they were trusted. */
  sawModified = false

  constructor(store: TrustStore) {
    this.#store = store
  }

  /** Returns the same hooks; trusted ones live in their copy, with the programs they were trusted with. */
  settle(specs: readonly ConfiguredHook[]): readonly ConfiguredHook[] {
    const settled = new Map<ConfiguredHook, ConfiguredHook>()
    this.sawModified = false
    for (const [unit, group] of unitsOf(specs)) {
      const standing = this.#store.standingOf(unit)
      this.#said.set(keyOf(unit), standing)
      this.sawModified ||= standing.state === 'modified'
      for (const spec of group) settled.set(spec, this.#settled(spec, unit, standing))
    }
    return specs.map((spec) => settled.get(spec) ?? spec)
  }

  #settled(spec: ConfiguredHook, unit: Unit, standing: Standing): ConfiguredHook {
    const record = standing.state === 'trusted' ? standing.record : undefined
    const place = runPlace(standing, spec.place)
    const made: ConfiguredHook = record ? { ...spec, place: { ...place, path: this.#path(record) } } : spec
    const copied =
      standing.state === 'trusted' && standing.copy !== undefined
        ? { copy: standing.copy, original: unit.path }
        : undefined
    this.#held.set(made, { unit, record, copied })
    return made
  }

  #path(record: TrustRecord): string {
    // An empty entry would mean the folder that the hook starts in.
    return [this.#store.binFolder(record), safePath(record.projectDir)].filter(Boolean).join(delimiter)
  }

  /** Says why it may not run now. The user's own may. */
  refusal(spec: ConfiguredHook): Skip | undefined {
    const held = this.#held.get(spec)
    if (!held) return undefined
    const standing = this.#standingOf(held.unit)
    if (standing.state === 'trusted' && standing.record.digest === held.record?.digest) return undefined
    if (this.#isReplaced(held)) return undefined
    if (standing.state !== 'trusted')
      return { why: standing.state, detail: detailOf(spec, held.unit, standing) }
    return { why: 'untrusted', detail: 'It was trusted after these hooks were read: reload them.' }
  }

  /**
   * Hooks that were read right before an update run as they were trusted until they are read again, if the unit that replaced
   * theirs is trusted, too.
   */
  #isReplaced({ unit, record }: Held): boolean {
    if (!record) return false
    const now = this.#store.standingOf({ ...unit, hooks: [] })
    return now.state === 'trusted' && now.record.former?.digest === record.digest
  }

  /** Checks right before a start whether files outside the copy, and programs, are still those that were reviewed. */
  problemAtStart(spec: ConfiguredHook, cwd: string): string | undefined {
    const record = this.#held.get(spec)?.record
    return record && (scriptsChanged(record, cwd) ?? programGone(record) ?? this.#binProblem(record))
  }

  /** Digest of what was reviewed. */
  contentOf(spec: ConfiguredHook): string | undefined {
    return this.#held.get(spec)?.record?.digest
  }

  copiedOf(spec: ConfiguredHook): Copied | undefined {
    return this.#held.get(spec)?.copied
  }

  /** The links to the programs may be gone: then whatever `$PATH` has now would run. */
  #binProblem(record: TrustRecord): string | undefined {
    try {
      this.#store.binFolder(record)
      return undefined
    } catch (error) {
      return `The programs of this hook cannot be told: ${textOf(error)}.`
    }
  }

  /** Units of these hooks that may not run. */
  untrusted(specs: readonly ConfiguredHook[]): readonly Untrusted[] {
    return [...unitsOf(specs).keys()].flatMap((unit) => {
      const standing = this.#standingOf(unit)
      if (standing.state === 'trusted') return []
      const { kind, name, path } = unit
      const hooks = unit.hooks.map((hook) => hook.name)
      return [{ kind, name, path, state: standing.state, why: standing.why, hooks }]
    })
  }

  #standingOf(unit: Unit): Standing {
    const key = keyOf(unit)
    const known = this.#now.get(key)
    if (known) return known
    if (this.#now.size === 0) queueMicrotask(() => this.#now.clear())
    const standing = this.#standingNow(unit)
    this.#now.set(key, standing)
    return standing
  }

  /** A unit that is still untrusted keeps the reason that was found first. */
  #standingNow(unit: Unit): Standing {
    const standing = this.#store.standingOf(unit)
    const before = this.#said.get(keyOf(unit))
    return standing.state === 'untrusted' && before?.state === 'untrusted' ? before : standing
  }
}

function keyOf({ kind, path }: Unit): string {
  return `${kind} ${path}`
}

function detailOf({ hook }: ConfiguredHook, unit: Unit, { state, why }: NotTrusted): string {
  const { file = '', line } = hook.origin
  const place = isOdd(file) ? quoted(file) : file
  const look = state === 'modified' ? 'See what changed' : `Look at ${place}:${line}`
  return `${why} ${look}, and trust it: ${trustCommand(hook.origin.scope, unit)} (or --trust-all for one call)`
}

/** True for a path with characters that are invisible or break the line. */
function isOdd(path: string): boolean {
  return /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(path)
}

/**
 * The command to type in the project. It holds a stranger's text only if no shell and no command line can take it for
 * anything but a name; otherwise the command shows everything that waits.
 */
function trustCommand(scope: string, { kind, name, path, hooksDir }: Unit): string {
  const what = /^[\w@][\w@.-]*$/.test(name) ? ` ${name}` : ''
  if (kind === 'folder' && hooksDir === path)
    return 'carabiner trust --payload FILE (with its skill:loaded event)'
  if (scope !== 'named' || isOdd(path)) return `carabiner trust${what}`
  return `carabiner trust${what} ${kind === 'folder' ? '--plugin' : '--config'} ${shellQuoted(path)}`
}

type NotTrusted = Exclude<Standing, { readonly state: 'trusted' }>

// ---- failures of hooks that ran from their copy ---------------------------------------------------------------

interface Copied {
  readonly copy: string
  /** The folder that was copied. */
  readonly original: string
}

const READ_ONLY = /\bEACCES\b|\bEROFS\b|permission denied|read-only file system/i

/** Failures of the program itself, not of the system that could not start it. */
const OF_PROGRAMS: ReadonlySet<string> = new Set(['HOOK_EXIT', 'HOOK_FAILED'])

/** Runs the hook, and explains a failure that has to do with the copy. */
export async function runFromCopy(
  run: Run,
  copied: Copied,
  event: HookEvent,
  context: HookContext,
): Promise<unknown> {
  let said = ''
  const { session, outcome, note, onAbort } = context
  try {
    return await run(event, {
      // Made when first asked for; most hooks never do.
      get signal() {
        return context.signal
      },
      onAbort,
      session,
      outcome,
      note,
      printed(output) {
        said = output.stderr ?? ''
        context.printed(output)
      },
    })
  } catch (error) {
    throw explained(error, said, copied)
  }
}

function explained(error: unknown, said: string, { copy, original }: Copied): unknown {
  if (!isHookError(error)) return error
  const text = `${error.message}\n${said}`
  const isNamed = text.includes(copy)
  const isReadOnly = OF_PROGRAMS.has(error.code) && READ_ONLY.test(text)
  if (!isNamed && !isReadOnly) return error
  const place = isNamed ? ` (${copy} is the trusted copy of ${original})` : ''
  const hint = isReadOnly
    ? `It runs from a read-only copy of its folder: let it write to "$CLAUDE_PLUGIN_DATA", which is its own and stays. ${error.hint}`
    : error.hint
  return new HookError(error.code, `${error.message}${place}`, { hint, cause: error, outcome: error.outcome })
}
