// The hooks from configuration files: creates them, admits or refuses them, and reloads the files.

import { BUSY_SCRIPT, isBusy, unlessBusy } from './config/busy-script.js'
import type { ConfiguredHook } from './config/configured-hook.js'
import { runFromCopy } from './config/copied-hook.js'
import type { ConfigSources } from './config/discovery.js'
import { KeptConfig } from './config/kept-config.js'
import { type LoadedConfig, loadConfig, loadSkills } from './config/load.js'
import { type MergedSettings, silenceText } from './config/merged-settings.js'
import { type Elsewhere, type Settled, TrustGate } from './config/trust-gate.js'
import type { ConfigWatch } from './config/watch.js'
import { callerNow } from './core/base/caller.js'
import { type Diagnostic, HookError, isHookError, textOf } from './core/base/errors.js'
import { isObject } from './core/base/json.js'
import { isPromise } from './core/base/promise.js'
import { withoutSecrets } from './core/base/secrets.js'
import { plainText } from './core/base/text.js'
import { isClosing } from './core/events/actions.js'
import type { HookResult } from './core/events/result.js'
import { isGuard } from './core/hooks/gate.js'
import { type Hook, needsTrust } from './core/hooks/hook.js'
import type { Message } from './core/hooks/outcome.js'
import type { Skip } from './core/run/plan.js'
import type { SkillHooks } from './core/session/engine.js'
import type { Skills } from './core/session/session-store.js'
import { callerFolder } from './files/caller.js'
import { fleetTrust } from './files/fleet-files.js'
import { forgetLooks, isPlanning } from './files/looks.js'
import type { Surroundings } from './runners/hook-spec.js'
import type { Keeper } from './runners/keeper.js'
import type { Runner } from './runners/kind.js'
import { type KindName, kindOf } from './runners/kinds.js'
import { startFolder } from './runners/program/environment.js'
import { diagnosticOf, type Expectation, expectationText } from './trust/expectation.js'
import { type DigestList, preTrusted } from './trust/pre-trusted.js'
import { type TrustStore, trustStore } from './trust/trust-store.js'
import type { Untrusted } from './trust/unit.js'

export interface ConfigurationOptions {
  readonly sources: ConfigSources
  /** `enforce` runs a project's hooks only if the user trusted them. A company's policy enforces it. */
  readonly trust: 'enforce' | 'all'
  /** A file of digests that are trusted without asking the user. */
  readonly preTrusted?: string | undefined
  /** Called once for each kind, when a file first names it. */
  readonly load: (kind: KindName) => Promise<Runner>
  readonly keeper: Keeper
  readonly display?: ((message: Message) => void) | undefined
}

interface InForce {
  readonly config: LoadedConfig
  readonly hooks: readonly Hook[]
  /** Problems with the files. */
  readonly diagnostics: readonly Diagnostic[]
  /** Everything that the user trusted here, and its state now. */
  readonly expectations: readonly Expectation[]
}

export class Configuration {
  readonly #options: ConfigurationOptions
  /** Whose call the files were read for. */
  readonly #caller = callerNow()
  readonly #loading = new Map<KindName, Promise<Runner>>()
  readonly #runners = new Map<KindName, Runner>()
  readonly #reloaded: KeptConfig
  #inForce: InForce
  #watch: ConfigWatch | undefined
  /** Includes hooks that a reload removed, because an event in progress may still reach them. */
  readonly #specs: Specs = new WeakMap()
  readonly #reported: Diagnostic[] = []

  /** If absent, everything may run. */
  #gate: TrustGate | undefined

  private constructor(options: ConfigurationOptions, config: LoadedConfig) {
    this.#options = options
    this.#reloaded = new KeptConfig(options.sources)
    this.#gate = options.trust === 'all' ? undefined : new TrustGate(storeOf(options))
    this.#inForce = { config, hooks: [], diagnostics: config.diagnostics, expectations: [] }
  }

  static async load(options: ConfigurationOptions): Promise<Configuration> {
    const config = await firstConfig(options)
    const configuration = new Configuration(options, config)
    await configuration.#putInForce(config)
    return configuration
  }

  /** Reads the files again, unless nothing has changed since the last reload. A file that became unreadable keeps its last good text. */
  async reload(): Promise<void> {
    const config = await this.#reloaded.load(this.#inForce.config)
    if (config === this.#inForce.config && this.#isAllInConfig()) return
    await this.#putInForce(config)
  }

  /** Whether hooks depend on nothing but their configuration: on no trust record and no process that stays. */
  #isAllInConfig(): boolean {
    return !this.#gate && [...this.#runners.values()].every(({ renew }) => !renew)
  }

  async #putInForce(config: LoadedConfig): Promise<void> {
    await this.#makeAll(config)
    // Files may have been replaced after they were read and before they were compared with their trust record.
    const isModified = this.#inForce.expectations.some(({ state }) => state === 'modified')
    if (isModified) await this.#makeAll(await loadConfig(this.#options.sources, config))
  }

  async #makeAll(config: LoadedConfig): Promise<void> {
    if (config.merge.hasCompany || this.#isFleets()) this.#gate ??= new TrustGate(storeOf(this.#options))
    const settled = await this.#settled(config)
    await this.#loadRunners(settled)
    const make = [...this.#runners.values()].reduce<() => InForce>(
      (inner, { renew }) => (renew ? () => renew(inner) : inner),
      () => this.#made(config, settled),
    )
    this.#inForce = make()
  }

  /** Whether the fleet revoked something, which then never runs. If nobody can tell, it may have. */
  #isFleets(): boolean {
    try {
      return Object.keys(fleetTrust(this.#options.sources.company?.fleet ?? []).revoked).length > 0
    } catch {
      return true
    }
  }

  /**
   * Whether the files must be read again before these hooks are used: because a unit was changed or trusted since, or
   * because trust records can be read again.
   */
  isOutdated(hooks: () => readonly Hook[]): boolean {
    if (this.#caller === callerNow() && isPlanning()) return false
    const given = hooks().map((hook) => this.#specs.get(hook) ?? hook)
    return this.#isRepaired() || this.#gate?.isOutdated(given) === true
  }

  #isRepaired(): boolean {
    const wasClosed = this.#inForce.expectations.some(({ state }) => state === 'unreadable')
    return wasClosed && this.#gate?.canRead(this.#options.sources) === true
  }

  /** The hooks of skills, created, admitted and refused like those of files. A lost hook closes every event that it could have guarded. */
  async skillHooks({ skills, lost }: Skills): Promise<SkillHooks> {
    const { sources } = this.#options
    const { config } = this.#inForce
    const theirs = { ...config, ...(await loadSkills(skills, sources, config)) }
    const settled = await this.#settled(theirs, skills)
    await this.#loadRunners(settled)
    const { hooks, diagnostics } = this.#made(theirs, settled)
    if (lost === '') return { hooks, problems: diagnostics }
    const { closedSession, lossText } = await import('./config/closed-gate.js')
    const problem: Diagnostic = { code: 'host-failed', text: lossText(lost) }
    return { hooks: [...hooks, closedSession(lost)], problems: [...diagnostics, problem] }
  }

  async #settled(config: LoadedConfig, only?: Skills['skills']): Promise<Settled> {
    const { sources } = this.#options
    return this.#gate?.settle(config, sources, only) ?? { specs: config.specs, closed: [], expectations: [] }
  }

  /** Calls back after a file changed, until `close`. Earlier changes are not reported. */
  async watch(onChange: () => void, note: (problem: Diagnostic) => void): Promise<void> {
    const { watchConfig } = await import('./config/watch.js')
    await this.#watch?.close()
    this.#watch = await watchConfig(this.#options.sources, onChange, note)
  }

  /** Stops watching. */
  async close(): Promise<void> {
    await this.#watch?.close()
  }

  /** Settles when the runners have ended all their processes and connections. */
  async closeRunners(): Promise<void> {
    for (const runner of this.#runners.values()) await runner.close?.()
  }

  get hooks(): readonly Hook[] {
    return this.#inForce.hooks
  }

  get settings(): MergedSettings {
    return this.#inForce.config.settings
  }

  /** Files and folders that changed since they were trusted, but whose gates still count. */
  get kept(): readonly string[] {
    const { expectations } = this.#inForce
    const still = expectations.filter((one) => one.state !== 'as trusted' && one.guardedBy !== 'nothing')
    return still.map(({ unit }) => unit.path)
  }

  /** Reported once to every session: problems with the files, and trusted gates that have changed. */
  get problems(): readonly Diagnostic[] {
    const { expectations } = this.#inForce
    return [...this.#inForce.diagnostics, ...expectations.flatMap(diagnosticOf)]
  }

  /** Problems with the files, and the newest reports of hooks. */
  get diagnostics(): readonly Diagnostic[] {
    return [...this.#inForce.diagnostics, ...this.#reported]
  }

  async #loadRunners({ specs }: Settled): Promise<void> {
    for (const type of new Set(specs.map((spec) => spec.type))) {
      // One runner per kind, even if two loads ask at once: nobody would end the processes of a second one.
      const loading = this.#loading.get(type) ?? this.#options.load(type)
      this.#loading.set(type, loading)
      this.#runners.set(type, await loading)
    }
  }

  #made(config: LoadedConfig, { specs, closed, expectations }: Settled): InForce {
    const hooks: Hook[] = [...closed]
    const surroundings = { display: this.#options.display, report: (d: Diagnostic) => this.#report(d) }
    for (const given of specs) {
      const keeping = this.#gate?.keepingOf(given)
      const spec = keeping ? closing(given) : given
      for (const one of this.#make(spec, given, surroundings)) {
        if (keeping?.state === 'missing' && !isGuard(one)) continue
        const hook = keeping ? telling(one, keeping) : one
        this.#specs.set(hook, given)
        hooks.push(hook)
      }
    }
    const diagnostics = [...config.diagnostics, ...this.#powerless(hooks), ...this.#refusedTrust(config)]
    return { config, hooks, diagnostics, expectations }
  }

  #make(spec: ConfiguredHook, given: ConfiguredHook, surroundings: Surroundings): readonly Hook[] {
    const runner = this.#runners.get(spec.type) as Runner
    const problem = () => this.#gate?.problemAtStart(given, given.place.projectDir)
    const guarded = kindOf(spec).isResident
      ? (hook: Hook) => this.#closedIfBusy(this.#fromCopy(hook, given), given)
      : (hook: Hook) => this.#guarded(hook, given, surroundings)
    const hooks = runner.hooks(spec, surroundings, problem)
    // Programs forget when they start, after everything about them was looked up.
    return (spec.type === 'command' ? hooks : hooks.map(forgetting)).map(guarded)
  }

  /** Checks again just before the start, because files outside a copy can change after the plan was made. */
  #guarded(hook: Hook, spec: ConfiguredHook, surroundings: Surroundings): Hook {
    const gate = this.#gate
    if (!gate || !needsTrust(hook.origin.scope)) return hook
    const fromCopy = this.#fromCopy(hook, spec)
    const isReviewed = gate.contentOf(spec) !== undefined
    const run: Hook['run'] = (event, context) => {
      const cwd = startFolder(event, spec.place) ?? spec.place.projectDir
      const asReviewed = (problem: string) => {
        const made = gate.asReviewed(spec, cwd).then((one) => this.#hookOf(one, surroundings))
        return runAsReviewed(made, problem, (one) => one.run(event, context))
      }
      const problem = gate.problemAtStart(spec, cwd)
      if (problem !== undefined) return asReviewed(problem)
      const asItIs: Hook['run'] = (event, context) => {
        if (!gate.mayMissFiles(spec, cwd)) return fromCopy.run(event, context)
        const started = gate
          .startElsewhere(spec, cwd)
          .then((one) => this.#elsewhere(one, fromCopy, surroundings))
        return started.then((one) => one.run(event, context))
      }
      if (!isReviewed) return asItIs(event, context)
      return unlessBusy(asItIs, event, context, () => asReviewed(BUSY_SCRIPT))
    }
    return { ...hook, run }
  }

  /** The hook in a folder without files that it names. If it is a gate that might silently let things pass, it fails closed. */
  #elsewhere({ spec, lost, mayPass }: Elsewhere, hook: Hook, surroundings: Surroundings): Hook {
    if (lost === undefined) return this.#hookOf(spec, surroundings) ?? hook
    if (mayPass && isGuard(hook)) throw new HookError('HOOK_NOT_TRUSTED', lost)
    return { ...hook, run: (event, context) => runWithout(lost, () => hook.run(event, context)) }
  }

  /** The hook with another command. */
  #hookOf(spec: ConfiguredHook | undefined, surroundings: Surroundings): Hook | undefined {
    return spec && this.#runners.get(spec.type)?.hooks(spec, surroundings, () => undefined)[0]
  }

  /** A process that stays has no kept script to run instead. */
  #closedIfBusy(hook: Hook, spec: ConfiguredHook): Hook {
    if (this.#gate?.contentOf(spec) === undefined) return hook
    const failed = (error: unknown): never => {
      throw isBusy(error) ? new HookError('HOOK_NOT_TRUSTED', BUSY_SCRIPT, { cause: error }) : error
    }
    const run: Hook['run'] = (event, context) => {
      const answer = hook.run(event, context)
      return isPromise(answer) ? answer.catch(failed) : answer
    }
    return { ...hook, run }
  }

  /** Explains failures that have to do with the copy. */
  #fromCopy(hook: Hook, spec: ConfiguredHook): Hook {
    const copied = this.#gate?.copiedOf(spec)
    if (!copied) return hook
    return { ...hook, run: (event, context) => runFromCopy(hook.run, copied, event, context) }
  }

  #report(d: Diagnostic): void {
    this.#reported.push({ ...d, text: withoutSecrets(plainText(d.text)) })
    if (this.#reported.length > MAX_REPORTED) this.#reported.shift()
  }

  /** The command of a hook, as its file has it. */
  commandOf(hook: Hook): string | undefined {
    const spec = this.#specs.get(hook)
    if (!spec) return undefined
    const kind = kindOf(spec)
    return kind.listed?.(spec.handler) ?? kind.target(spec.handler)
  }

  /** Set if the hook runs as it was trusted, instead of as the project has it now. */
  keptOf(hook: Hook): 'modified' | 'missing' | undefined {
    const spec = this.#specs.get(hook)
    const { state, guardedBy } = (spec && this.#gate?.keepingOf(spec)) ?? {}
    const isKept = guardedBy === 'copy' && (state === 'modified' || state === 'missing')
    return isKept ? state : undefined
  }

  /** Whether it is a file of rules that runs without trust. */
  onlyDenies(hook: Hook): boolean {
    const spec = this.#specs.get(hook)
    return spec?.type === 'rules' && spec.handler.untrusted === true
  }

  /** Says why a hook of a file may not run; undefined if it may, or comes from elsewhere. */
  refusal(hook: Hook): Skip | undefined {
    const spec = this.#specs.get(hook)
    if (!spec) return this.#gate?.refusalOfClosed(hook)
    if (spec.disabled !== undefined && !this.#staysOn(hook, spec))
      return { why: 'disabled', detail: `it is switched off: ${silenceText(spec.disabled)}` }
    return this.#gate?.refusal(spec)
  }

  /** A project cannot switch off gates that the user trusted in it. */
  #staysOn(hook: Hook, spec: ConfiguredHook): boolean {
    const { scope } = spec.disabled ?? {}
    return (
      scope !== undefined && needsTrust(scope) && isGuard(hook) && this.#gate?.contentOf(spec) !== undefined
    )
  }

  #refusedTrust({ merge }: LoadedConfig): readonly Diagnostic[] {
    if (!merge.hasCompany || this.#options.trust !== 'all') return []
    const text =
      'this machine has a policy of its company, so hooks of the project run only if they are trusted'
    return [{ code: 'setting-ignored', text }]
  }

  #powerless(hooks: readonly Hook[]): readonly Diagnostic[] {
    const silences = hooks.flatMap((hook) => {
      const spec = this.#specs.get(hook)
      return spec?.disabled && this.#staysOn(hook, spec) ? [spec.disabled] : []
    })
    return [...new Set(silences)].map(({ setting, file, line }) => ({
      code: 'setting-ignored',
      text: `${setting} in a project does not switch off the gates that you trusted; use carabiner disable`,
      ...(file !== undefined && { file }),
      ...(line !== undefined && { line }),
    }))
  }

  /** Everything that the user had trusted here at the last load, and its state then. */
  get expectations(): readonly Expectation[] {
    return this.#inForce.expectations
  }

  /** Parts of the project that the user has not trusted yet, or that changed since. */
  untrusted(): readonly Untrusted[] {
    return this.#gate?.untrusted(this.#inForce.config.specs) ?? []
  }
}

/** Only a service keeps the first one, because noting what it depends on takes time, too. */
function firstConfig({ sources, keeper }: ConfigurationOptions): Promise<LoadedConfig> {
  if (!keeper.isWarm) return loadConfig(sources)
  return keeper.remember('config', () => new KeptConfig(sources)).load()
}

function storeOf({ sources, preTrusted: list, keeper }: ConfigurationOptions): TrustStore {
  const { dataDir, projectDir } = sources
  const data = { fleet: sources.company?.fleet ?? [], ...(dataDir !== undefined && { dataDir }) }
  if (list === undefined) return keeper.remember('trust', () => trustStore(data))
  return trustStore({ ...data, preTrusted: digestsIn(list, projectDir ?? callerFolder()) })
}

/** An unreadable list is the embedder's mistake. It must not be treated as empty. */
function digestsIn(list: string, projectDir: string): DigestList {
  try {
    return preTrusted(list, projectDir)
  } catch (error) {
    throw new HookError('OPTIONS_INVALID', textOf(error), {
      hint: 'carabiner trust --show prints the lines of such a file.',
    })
  }
}

const MAX_REPORTED = 100

type Specs = WeakMap<Hook, ConfiguredHook>

/** A gate that runs from its copy closes if it fails. */
function closing(spec: ConfiguredHook): ConfiguredHook {
  return { ...spec, hook: { ...spec.hook, onFailure: 'block' } }
}

function forgetting(hook: Hook): Hook {
  const run: Hook['run'] = (event, context) => {
    forgetLooks()
    return hook.run(event, context)
  }
  return { ...hook, run }
}

/** Tells the user when the hook that stopped them is no longer in the project as it was trusted. */
function telling(hook: Hook, keeping: Expectation): Hook {
  const text = expectationText(keeping)
  const run: Hook['run'] = async (event, context) => {
    const answer = (await hook.run(event, context)) as HookResult | undefined
    if (answer?.action === undefined || !isClosing(answer.action)) return answer
    const userMessage = answer.userMessage ? `${answer.userMessage}\n${text}` : text
    return { ...answer, userMessage, userMessageLevel: answer.userMessageLevel ?? 'warning' }
  }
  return { ...hook, run }
}

/** Runs the hook with the scripts that were reviewed. A script that needs other files fails and closes its gate. */
async function runAsReviewed<T>(
  reviewed: Promise<Hook | undefined>,
  problem: string,
  run: (hook: Hook) => T,
): Promise<Awaited<T>> {
  const hook = await reviewed
  if (!hook) throw new HookError('HOOK_NOT_TRUSTED', problem)
  try {
    return await run(hook)
  } catch (error) {
    const text = `${problem} The reviewed version was run instead, and failed: ${textOf(error)}`
    // Its exit code 2 blocks where no other failure does.
    const code = isHookError(error, 'HOOK_BROKEN') ? error.code : 'HOOK_NOT_TRUSTED'
    throw new HookError(code, text, { cause: error })
  }
}

const NO_FILE = /no such file|cannot open|can't open/i

/** Runs the hook as it is, because it may not need the script. If a gate fails, it closes. */
async function runWithout<T>(lost: string, run: () => T): Promise<Awaited<T>> {
  try {
    const answer = await run()
    // Some shells exit with 2 if a file is missing, which would count as a deny.
    if (isObject(answer) && answer.action === 'deny' && NO_FILE.test(String(answer.reason)))
      throw new Error(String(answer.reason))
    return answer
  } catch (error) {
    throw new HookError('HOOK_NOT_TRUSTED', `${lost} It failed: ${textOf(error)}`, { cause: error })
  }
}
