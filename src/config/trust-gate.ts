// The gate between files and running hooks: a project's hooks run as they were trusted, from their copy, or not at all.

import { delimiter, dirname, relative, resolve } from 'node:path'
import { textOf } from '../core/base/errors.js'
import { quoted, visible } from '../core/base/text.js'
import { type Hook, needsTrust } from '../core/hooks/hook.js'
import { kindRow } from '../core/hooks/kinds.js'
import type { Skip } from '../core/run/plan.js'
import type { Skill } from '../core/session/session-store.js'
import { callerEnv } from '../files/caller.js'
import { sharedEnv } from '../files/homes.js'
import { safePath } from '../files/search-path.js'
import { isBelow, isWithin, realOf } from '../files/within.js'
import { keyOf } from '../store/trust-records.js'
import { lostWords, scriptsChanged } from '../trust/changes.js'
import { runPlace } from '../trust/copies.js'
import {
  asTrusted,
  type Deviation,
  type Expectation,
  expectationOf,
  expectationText,
  repairOf,
  reviewCommand,
  takeCommand,
  unlisted,
  unreadable,
} from '../trust/expectation.js'
import { typeAt } from '../trust/file-reading.js'
import { programGone } from '../trust/program-search.js'
import { mayMention } from '../trust/relative-path.js'
import { placeOf } from '../trust/set-aside.js'
import type { Kept, TrustStore } from '../trust/trust-store.js'
import type { Standing, TrustedFile, TrustRecord, Unit, UnitHook, Untrusted } from '../trust/unit.js'
import { closedGate, closedToAll, wasGuard } from './closed-gate.js'
import type { ConfiguredHook } from './configured-hook.js'
import type { Copied } from './copied-hook.js'
import type { ConfigSources } from './discovery.js'
import { ExpectedUnits, isPlaceOf, loadKept, placeAt } from './kept-unit.js'
import type { LoadedConfig } from './load.js'
import type { ConfiguredRules } from './rules-document.js'
import { unitsOf } from './units.js'
import { UntrustedHooks } from './untrusted-hooks.js'

/** A unit as it was read, and its standing then. */
interface Found {
  readonly unit: Unit
  readonly standing: Standing
}

/** A hook that was admitted or refused, with the record that decided it. */
interface Held {
  readonly unit: Unit
  /** Absent if nothing is left of the unit. */
  readonly found: Found | undefined
  readonly record: TrustRecord | undefined
  /** The copy it runs from, if any. */
  readonly copied: Copied | undefined
  /** Present if it runs in place of what the project has now. */
  readonly keeping?: Expectation
  /** True if the trusted version runs until somebody reviews this one. */
  readonly waits?: boolean
  /** True if it runs without trust, because it can only refuse. */
  readonly isTame?: boolean
}

/** All hooks that may run, and what to tell the user about the rest. */
export interface Settled {
  /** Trusted hooks run from their copy, with the programs they were trusted with. */
  readonly specs: readonly ConfiguredHook[]
  /** Stand-ins for gates that cannot run. They refuse what those gates would judge. */
  readonly closed: readonly Hook[]
  readonly expectations: readonly Expectation[]
}

/** A unit that differs from what was trusted, and what is left of it. */
interface Keeper extends Pick<Deviation, 'record' | 'state' | 'why' | 'mistake' | 'alike'> {
  readonly unit: Unit
  readonly found?: Found
}

/** How to start a hook in a folder without files that it names. If empty, it runs unchanged. */
export interface Elsewhere {
  /** The hook with a command that finds them. */
  readonly spec?: ConfiguredHook
  /** Sentences about the missing file. */
  readonly lost?: string
  /** Whether the hook may start nothing and still report success. */
  readonly mayPass?: boolean
}

const NOTHING_SETTLED: Settled = { specs: [], closed: [], expectations: [] }

export class TrustGate {
  readonly #store: TrustStore
  readonly #held = new WeakMap<ConfiguredHook, Held>()
  readonly #closed = new WeakMap<Hook, Pick<Keeper, 'record' | 'found'>>()
  /** Standings from when the hooks were read, so that an unreadable record is reported only once. */
  readonly #said = new Map<string, Standing>()
  /** Standings for the hooks of one step, which are checked together. */
  readonly #now = new Map<string, Standing>()

  readonly #untrusted = new UntrustedHooks()
  /** By project and `$PATH`: what is left of it for hooks that are settled together. */
  readonly #paths = new Map<string, string>()

  /** The project that commands are typed in. */
  #here: string | undefined

  /** What the user trusts in the project and around it. */
  #expected = new ExpectedUnits()

  constructor(store: TrustStore) {
    this.#store = store
  }

  /**
   * Decides which hooks run: those that match their record, and the last trusted version of those that do not.
   * Expects everything that is trusted in the project and around it, even if nothing is left of it. With `only`, expects
   * just these skills of a session.
   */
  async settle(
    config: LoadedConfig,
    sources: ConfigSources,
    only?: readonly Pick<Skill, 'directory'>[],
  ): Promise<Settled> {
    this.#here = sources.projectDir
    this.#untrusted.begin()
    this.#paths.clear()
    const parts: Settled[] = []
    const projects = projectsOf(sources)
    if (only === undefined) this.#expected = this.#expectedIn(projects, parts)
    const found = new Set<string>()
    const strangers: Unit[] = []
    for (const [given, specs] of unitsOf(config.specs)) {
      const unit = this.#expected.asTrusted(given)
      const standing = this.#store.standingOf(unit)
      if (standing.record) found.add(placeKey(unit))
      else strangers.push(unit)
      this.#said.set(keyOf(unit), standing)
      const keeper = keeperOf({ unit, standing })
      const placed = specs.map((spec) => placeAt(spec, given, unit, sources))
      parts.push(
        keeper
          ? await this.#instead(keeper, placed, config, sources)
          : this.#asFound({ unit, standing }, placed),
      )
    }
    const isMeant = (record: TrustRecord) =>
      only ? isOfSkill(record, only) && !isPlaceOf(record, sources) : isPlaceOf(record, sources)
    for (const record of this.#expected.records) {
      if (found.has(placeKey(record)) || !isMeant(record)) continue
      const alike = strangers.find((unit) => hasSameHooks(record, unit))
      const keeper: Keeper = { unit: record, record, state: 'missing', alike, ...lossOf(record, config) }
      parts.push(await this.#instead(keeper, [], config, sources))
    }
    if (only === undefined) parts.push(this.#unlisted(parts, projects[0] ?? '', config))
    const own = config.specs.filter(({ hook }) => !needsTrust(hook.origin.scope))
    return {
      specs: [...own, ...parts.flatMap(({ specs }) => specs)],
      closed: parts.flatMap(({ closed }) => closed),
      expectations: parts.flatMap(({ expectations }) => expectations),
    }
  }

  /** Adds stand-ins for unreadable records. */
  #expectedIn(projects: readonly string[], parts: Settled[]): ExpectedUnits {
    try {
      return new ExpectedUnits(projects.flatMap((projectDir) => this.#store.expectedIn(projectDir)))
    } catch (error) {
      const expectation = unreadable(projects[0] ?? '', textOf(error))
      parts.push({ ...NOTHING_SETTLED, closed: [closedToAll(expectation)], expectations: [expectation] })
      return new ExpectedUnits()
    }
  }

  /** Whether all records of the project and of the folders around it can be read now. */
  canRead(sources: ConfigSources): boolean {
    try {
      for (const projectDir of projectsOf(sources)) this.#store.expectedIn(projectDir)
      return true
    } catch {
      return false
    }
  }

  /** Reports pre-trusted digests that nothing here has. */
  #unlisted(parts: readonly Settled[], projectDir: string, { settings }: LoadedConfig): Settled {
    const seen = new Set(parts.flatMap(({ expectations }) => expectations.map(({ digest }) => digest)))
    const expectations = [...this.#store.listed]
      .filter(([digest]) => !seen.has(digest))
      .map(([digest, name]) => unlisted(digest, name, projectDir))
    const closed = settings.trust_missing === 'block' ? expectations.map(closedToAll) : []
    return { ...NOTHING_SETTLED, closed, expectations }
  }

  #asFound(found: Found, specs: readonly ConfiguredHook[]): Settled {
    const { standing } = found
    const told = standing.state === 'trusted' ? specs : this.#untrusted.listed(specs)
    const settled = told.map((spec) =>
      spec.type === 'rules' && standing.state !== 'trusted'
        ? this.#tame(spec, found)
        : this.#settled(spec, found),
    )
    if (standing.state !== 'trusted') return { ...NOTHING_SETTLED, specs: settled }
    return {
      specs: settled,
      closed: [],
      expectations: [asTrusted(standing.record, standing.record.hooks.filter(wasGuard))],
    }
  }

  #settled(spec: ConfiguredHook, found: Found): ConfiguredHook {
    const { unit, standing } = found
    const record = standing.state === 'trusted' ? standing.record : undefined
    const place = runPlace(standing, spec.place)
    const made = record ? this.#reviewed({ ...spec, place }, record) : spec
    const copied =
      standing.state === 'trusted' && standing.copy !== undefined
        ? { copy: standing.copy, original: unit.path }
        : undefined
    this.#held.set(made, { unit, found, record, copied })
    return made
  }

  /** Rules that nobody trusted may only refuse, in our words. */
  #tame(spec: ConfiguredRules, found: Found): ConfiguredHook {
    const made: ConfiguredHook = { ...spec, handler: { ...spec.handler, untrusted: true } }
    this.#held.set(made, { unit: found.unit, found, record: undefined, copied: undefined, isTame: true })
    return made
  }

  /** The hooks as they were trusted, in place of the current ones. New ones wait for a review. */
  async #instead(
    keeper: Keeper,
    specs: readonly ConfiguredHook[],
    config: LoadedConfig,
    sources: ConfigSources,
  ): Promise<Settled> {
    const { record, state } = keeper
    const choice = state === 'missing' ? config.settings.trust_missing : 'keep'
    const kept: Kept = choice === 'keep' ? this.#store.keptOf(record) : { problem: '' }
    const loaded = 'problem' in kept ? [] : await loadKept(record, kept, sources, config)
    const missing = unarmed(record, loaded)
    const isClosed = missing.length > 0 || !(await this.#canStart(record, loaded))
    const guardedBy = choice === 'tell' ? 'nothing' : isClosed ? 'closed' : 'copy'
    const problem = 'problem' in kept && choice === 'keep' ? kept.problem : undefined
    const gates = record.hooks.filter(wasGuard)
    const expectation = expectationOf({ ...keeper, gates, guardedBy, problem }, sources.projectDir)
    const armed = loaded.map((spec) => this.#armed(spec, expectation, keeper, kept))
    const lost = choice === 'tell' ? [] : missing.map((one) => closedGate(one, expectation))
    for (const hook of lost) this.#closed.set(hook, keeper)
    return {
      specs: [...armed, ...this.#waiting(keeper, specs)],
      closed: lost,
      expectations: [expectation],
    }
  }

  /** Whether the gates among them could run as they were trusted, if they started in the project. */
  async #canStart(record: TrustRecord, loaded: readonly ConfiguredHook[]): Promise<boolean> {
    if ((this.#ownProblem(record) ?? scriptsChanged(record)) === undefined) return true
    const canPlace = (script: TrustedFile) => (this.#store.keepsScript(script) ? script.path : undefined)
    for (const { type, hook } of loaded) {
      const reviewed = record.hooks.find(({ hash }) => hash === hook.origin.hash)
      if (!reviewed || !wasGuard(reviewed)) continue
      if (type !== 'command' || !(await this.#lineOf(record, reviewed, record.projectDir, canPlace)))
        return false
    }
    return true
  }

  #armed(spec: ConfiguredHook, keeping: Expectation, keeper: Keeper, kept: Kept): ConfiguredHook {
    const { record, found } = keeper
    const place = 'copy' in kept ? { ...spec.place, copy: kept.copy } : spec.place
    const made = this.#reviewed({ ...spec, place }, record)
    const copied = 'copy' in kept ? { copy: kept.copy, original: record.path } : undefined
    this.#held.set(made, { unit: record, found, record, copied, keeping })
    return made
  }

  /** Gives the hook the programs it was trusted with. `sameAs` names the review: elsewhere the same command may run other scripts. */
  #reviewed(spec: ConfiguredHook, record: TrustRecord): ConfiguredHook {
    const { place, hook } = spec
    const { digest: content, scripts } = record
    const isNamed = hook.sameAs !== undefined && scripts.length > 0
    const reviewer = this.#store.reviewerOf(content)
    const made = {
      ...hook,
      content,
      ...(reviewer && { reviewer: { by: reviewer.by, at: reviewer.at } }),
      ...(isNamed && { sameAs: `${hook.sameAs}\0${content}` }),
    }
    return { ...spec, place: { ...place, path: this.#path(record, hook) }, hook: made } as ConfiguredHook
  }

  /** Hooks that differ from what was trusted. */
  #waiting({ unit, found, record }: Keeper, specs: readonly ConfiguredHook[]): readonly ConfiguredHook[] {
    const trusted = new Set(record.hooks.map(({ hash }) => hash))
    const changed = this.#untrusted.listed(specs.filter(({ hook }) => !trusted.has(hook.origin.hash ?? '')))
    return changed.flatMap((spec) => {
      if (spec.type === 'rules' && found) {
        // The trusted version judges in place of a file that cannot be used.
        return spec.handler.broken === undefined ? [this.#tame(spec, found)] : []
      }
      this.#held.set(spec, { unit, found, record: undefined, copied: undefined, waits: true })
      return [spec]
    })
  }

  #path(record: TrustRecord, { kind }: Pick<Hook, 'kind'>): string {
    // A caller of a service must not choose which programs run outside its sandbox.
    const { PATH } = kindRow(kind).isShared ? sharedEnv() : callerEnv()
    // In PATH, an empty entry means the folder that the hook starts in.
    return [this.#binFolder(record), this.#safePath(record.projectDir, PATH ?? '')]
      .filter(Boolean)
      .join(delimiter)
  }

  #safePath(projectDir: string, path: string): string {
    const key = `${projectDir}\0${path}`
    const safe = this.#paths.get(key) ?? safePath([projectDir], path)
    this.#paths.set(key, safe)
    return safe
  }

  /** If it cannot be created, the hook fails at its start and reports why. */
  #binFolder(record: TrustRecord): string {
    try {
      return this.#store.binFolder(record)
    } catch {
      return ''
    }
  }

  /**
   * Whether a unit of these hooks and stand-ins was changed or trusted since it was read. Withdrawn trust does not count:
   * `refusal` reports it. Neither do records that cannot be read: hooks run on as they were trusted.
   */
  isOutdated(those: readonly (ConfiguredHook | Hook)[]): boolean {
    const all = new Set(
      those.map((one) => ('hook' in one ? this.#held.get(one)?.found : this.#closed.get(one)?.found)),
    )
    return [...all].some((found) => {
      if (!found) return false
      const { state, record } = this.#store.standingOf(found.unit)
      const before = found.standing
      return record !== undefined && (state !== before.state || record.digest !== before.record?.digest)
    })
  }

  /** Why the hook may not run now. The user's own hooks always may; trusted versions may unless trust was withdrawn. */
  refusal(spec: ConfiguredHook): Skip | undefined {
    const held = this.#held.get(spec)
    if (!held || held.isTame) return undefined
    if (held.record) return this.#withdrawal(held.record)
    const standing = this.#standingOf(held.unit)
    if (standing.state === 'trusted')
      return { why: 'untrusted', detail: 'It was trusted after these hooks were read: reload them.' }
    const why = held.waits && standing.record ? 'modified' : 'untrusted'
    const review = (why === 'modified' ? takeCommand : reviewCommand)(held.unit, this.#here)
    return { why, detail: detailOf(spec, standing, review) }
  }

  /** The same for a stand-in. */
  refusalOfClosed(hook: Hook): Skip | undefined {
    const { record } = this.#closed.get(hook) ?? {}
    return record && this.#withdrawal(record)
  }

  /**
   * Trust may have been withdrawn, or given to other bytes, since the hooks were read. Hooks that were read right before
   * an update run as they were trusted until they are read again.
   */
  #withdrawal(record: TrustRecord): Skip | undefined {
    const trusted = this.#store.trustedNow(record)
    if (trusted === 'unknown' || trusted.includes(record.digest)) return undefined
    const detail =
      trusted.length > 0
        ? 'Another version of it was trusted after these hooks were read: reload them.'
        : (this.#store.revocationOf(record.digest) ?? 'You no longer trust it.')
    return { why: 'untrusted', detail }
  }

  /** What to tell the user when this hook stops something. */
  keepingOf(spec: ConfiguredHook): Expectation | undefined {
    return this.#held.get(spec)?.keeping
  }

  /** Checks, right before a start, that files outside the copy and programs are still those that were reviewed. */
  problemAtStart(spec: ConfiguredHook, cwd: string): string | undefined {
    const { record, keeping } = this.#held.get(spec) ?? {}
    const problem = record && (this.#ownProblem(record) ?? scriptsChanged(record, cwd))
    if (!record || problem === undefined) return undefined
    if (this.#isReplaced(record))
      return `${problem} The new version was trusted after this event began: try again.`
    return keeping?.guardedBy === 'closed'
      ? expectationText(keeping)
      : `${problem} ${repairOf(record, this.#here)}`
  }

  #isReplaced(record: TrustRecord): boolean {
    const trusted = this.#store.trustedNow(record)
    return trusted !== 'unknown' && trusted.length > 0 && trusted[0] !== record.digest
  }

  #ownProblem(record: TrustRecord): string | undefined {
    return this.#programProblem(record) ?? this.#copyProblem(record)
  }

  /** The hook with the reviewed version of its scripts, if only those have changed. Undefined if it cannot run that way. */
  async asReviewed(spec: ConfiguredHook, cwd: string): Promise<ConfiguredHook | undefined> {
    const { record, hook } = this.#reviewOf(spec)
    if (!record || !hook || spec.type !== 'command') return undefined
    const line = await this.#lineOf(record, hook, cwd, (script) => this.#store.placeScript(record, script))
    return line && { ...spec, handler: { ...spec.handler, ...line } }
  }

  async #lineOf(
    record: TrustRecord,
    hook: UnitHook,
    cwd: string,
    place: (script: TrustedFile) => string | undefined,
  ) {
    if (this.#ownProblem(record) !== undefined) return undefined
    // Loads the shell parser, which few hooks need.
    const { withKeptScripts } = await import('../trust/kept-scripts.js')
    return withKeptScripts(record, hook, cwd, place)
  }

  #reviewOf(spec: ConfiguredHook) {
    const record = this.#held.get(spec)?.record
    return { record, hook: record?.hooks.find(({ hash }) => hash === spec.hook.origin.hash) }
  }

  /** Whether files that the hook names may be missing from the folder where it starts. */
  mayMissFiles(spec: ConfiguredHook, cwd: string): boolean {
    const { record, hook } = this.#reviewOf(spec)
    if (!record || !hook || cwd === record.projectDir) return false
    const text = [hook.command, ...(hook.args ?? [])].join('\n')
    return lostWords(record, cwd).length > 0 || mayMention(text, record.projectDir)
  }

  /** How to start a hook in a folder without files that it names. */
  async startElsewhere(spec: ConfiguredHook, cwd: string): Promise<Elsewhere> {
    const { record, hook } = this.#reviewOf(spec)
    if (!record || !hook || spec.type !== 'command') return {}
    // Loads the shell parser, which few hooks need.
    const { startElsewhere } = await import('../trust/kept-scripts.js')
    const start = startElsewhere(record, hook, cwd)
    if (!start) return {}
    if ('line' in start) return { spec: { ...spec, handler: { ...spec.handler, ...start.line } } }
    const { file = '', line } = spec.hook.origin
    const { lost, mayPass } = start
    const text = `${quoted(lost)} was reviewed in ${quoted(record.projectDir)}, but this hook starts in ${quoted(cwd)}, where it does not exist. Write "$CLAUDE_PROJECT_DIR"/${lost} in ${visible(file)}:${line}, then type carabiner trust.`
    return { lost: text, mayPass }
  }

  /** Digest of what was reviewed. */
  contentOf(spec: ConfiguredHook): string | undefined {
    return this.#held.get(spec)?.record?.digest
  }

  copiedOf(spec: ConfiguredHook): Copied | undefined {
    return this.#held.get(spec)?.copied
  }

  #copyProblem(record: TrustRecord): string | undefined {
    const kept = record.kind === 'folder' ? this.#store.keptOf(record) : undefined
    return kept && 'problem' in kept ? kept.problem : undefined
  }

  /** Without the folder of programs, whatever `$PATH` has now would run. */
  #programProblem(record: TrustRecord): string | undefined {
    const gone = programGone(record)
    if (gone !== undefined) return gone
    try {
      this.#store.binFolder(record)
      return undefined
    } catch (error) {
      return `The programs of this hook cannot be set up: ${textOf(error)}.`
    }
  }

  /** The units among these hooks that may not run. */
  untrusted(specs: readonly ConfiguredHook[]): readonly Untrusted[] {
    return [...unitsOf(specs).keys()].flatMap((given) => {
      const unit = this.#expected.asTrusted(given)
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

  /** A unit that is still untrusted keeps its first reason. */
  #standingNow(unit: Unit): Standing {
    const standing = this.#store.standingOf(unit)
    const before = this.#said.get(keyOf(unit))
    return standing.state === 'untrusted' && before?.state === 'untrusted' ? before : standing
  }
}

/** Whether the record is about one of these skills. */
function isOfSkill({ kind, path }: TrustRecord, skills: readonly Pick<Skill, 'directory'>[]): boolean {
  if (kind !== 'folder') return false
  return skills.some(({ directory }) => [resolve(directory), realOf(directory)].includes(path))
}

/** Projects whose expectations count. */
function projectsOf({ projectDir, outerDirs = [], files = [], plugins = [] }: ConfigSources) {
  const folders = projectDir === undefined ? [...files, ...plugins].map((path) => dirname(path)) : outerDirs
  return [...new Set([...(projectDir === undefined ? [] : [projectDir]), ...folders])]
}

/** Equal for records of several projects about one place, even while an update moves the files there. */
function placeKey({ kind, path }: Pick<Unit, 'kind' | 'path'>): string {
  return `${kind} ${placeOf(path)}`
}

/** Gates of the record that are missing from these hooks. */
function unarmed({ hooks }: TrustRecord, armed: readonly ConfiguredHook[]): readonly UnitHook[] {
  const hashes = new Set(armed.map(({ hook }) => hook.origin.hash))
  return hooks.filter((hook) => wasGuard(hook) && !hashes.has(hook.hash))
}

/** What happened to a unit without any hooks. */
function lossOf(
  { path, projectDir }: TrustRecord,
  { diagnostics }: LoadedConfig,
): Pick<Keeper, 'why' | 'mistake'> {
  if (typeAt(path) === undefined) return { why: '' }
  const mistake = diagnostics.find(({ file }) => file !== undefined && isWithin(file, path))
  if (!mistake) return { why: 'no longer has any hooks' }
  const { file = '', line = 1, text } = mistake
  const place = `${visible(isBelow(file, projectDir) ? relative(projectDir, file) : file)}:${line}`
  const where = file === path ? `line ${line}` : place
  return { why: `has no hook that can run now (${where}: ${text})`, mistake: place }
}

function hasSameHooks(a: Unit | TrustRecord, b: Unit): boolean {
  const hashesOf = ({ hooks }: Pick<Unit, 'hooks'>) => hooks.map(({ hash }) => hash).join()
  return a.kind === b.kind && hashesOf(a) === hashesOf(b)
}

/** Undefined if the unit is as trusted, or was never trusted. */
function keeperOf(found: Found): Keeper | undefined {
  const { unit, standing } = found
  if (standing.state === 'trusted' || !standing.record) return undefined
  return { unit, found, record: standing.record, state: 'modified', why: standing.why }
}

function detailOf({ hook }: ConfiguredHook, { state, why, isRevoked }: NotTrusted, review: string): string {
  if (isRevoked) return why
  const { file = '', line } = hook.origin
  const look = state === 'modified' ? 'See what changed' : `Look at ${visible(file)}:${line}`
  return `${why} ${look}, and trust it: ${review} (or --trust-all for one call)`
}

type NotTrusted = Exclude<Standing, { readonly state: 'trusted' }>
