// createHooks(): puts the engine together with the embedder's options and the configuration files.

import type { ConfigSources } from './config/discovery.js'
import { type EmbedderSettings, embedderSettings, withoutSession } from './config/merged-settings.js'
import type { Configuration } from './configuration.js'
import { HookError } from './core/base/errors.js'
import { isObject } from './core/base/json.js'
import {
  anything,
  type Checks,
  checkOptions,
  isFlag,
  isFunction,
  isList,
  isOneOf,
  isText,
} from './core/base/options.js'
import { keepSecret, secretsIn } from './core/base/secrets.js'
import type { Counters } from './core/hooks/count.js'
import type { Admit } from './core/run/plan.js'
import { type Embedder, isApprover } from './core/session/embedder.js'
import { Engine } from './core/session/engine.js'
import { globalHooks, HookRegistry } from './core/session/registry.js'
import type { SessionStore } from './core/session/session-store.js'
import { callerEnv, callerPath } from './files/caller.js'
import { type CompanyFolder, companyFolder, companyPolicies } from './files/company-folder.js'
import { readyForPolicies } from './files/fleet-files.js'
import { userHome } from './files/homes.js'
import { statIfThere } from './files/if-there.js'
import { foldersAround, homesOf } from './files/project-folders.js'
import { Hooks } from './hooks.js'
import { HandedOn } from './runners/command/handed-on.js'
import { Programs } from './runners/command/programs.js'
import { keeperFor } from './runners/keeper.js'
import type { Shared } from './runners/kind.js'
import { kindOf } from './runners/kinds.js'
import { type EmbedderModel, isEmbedderModel } from './runners/model/model-source.js'
import { withSpans } from './store/audit/spans.js'

export interface HooksOptions extends Embedder {
  /** The project whose configuration files are read, together with the user's. Without it, neither is read. */
  readonly projectDir?: string
  /** Other folders that the agent works in. Anything that the user trusted there, or in their parent folders, counts as well. */
  readonly workFolders?: readonly string[]
  /** Plugin folders, in addition to the project's and the user's. */
  readonly plugins?: readonly string[]
  /** Files in addition to the project's and the user's, each a hooks.json or settings.json. */
  readonly configs?: readonly string[]
  /** The user's home folder; default: that of the process. */
  readonly home?: string
  /** `enforce` (default) runs nothing from a project that the user has not trusted; `all` runs everything. */
  readonly trust?: 'enforce' | 'all'
  /** A file outside the project that lists trusted digests, one per line. For CI. */
  readonly preTrusted?: string
  /** Reloads files when they change. */
  readonly watch?: boolean
  /** The keys of a settings file; these win over the user's file. */
  readonly settings?: EmbedderSettings
  /** `settings` may only tighten the user's file, as those of a project do; what would loosen it is ignored. */
  readonly settingsTighten?: boolean
  /** The model that prompt and agent hooks ask: a function, or a LanguageModel of the AI SDK. It wins over the settings. */
  readonly model?: EmbedderModel
  /** The process-wide hooks. False leaves them out; another registry replaces them. */
  readonly globals?: boolean | HookRegistry
}

const STORE_METHODS = ['load', 'update', 'release', 'keep', 'grants', 'addGrant', 'revokeGrant'] as const

const OPTIONS: Checks<HooksOptions> = {
  approver: isApprover,
  display: isFunction,
  context: isFunction,
  wake: isFunction,
  audit: isFunction,
  auditCalls: isFunction,
  auditLater: isFunction,
  admit: isFunction,
  clock: isFunction,
  counters: [(value) => typeof (value as Counters | null)?.count === 'function', 'an object with count()'],
  store: [isStore, `a SessionStore with ${STORE_METHODS.join(', ')}`],
  projectDir: isText,
  workFolders: isList,
  plugins: isList,
  configs: isList,
  home: isText,
  trust: isOneOf('enforce', 'all'),
  preTrusted: isText,
  watch: isFlag,
  model: [isEmbedderModel, 'a function, or a LanguageModel of the AI SDK'],
  settings: anything, // checked by embedderSettings()
  settingsTighten: isFlag,
  globals: [
    (value) => typeof value === 'boolean' || isGlobal(value),
    "true, false, or a new HookRegistry({ scope: 'global' })",
  ],
}

function isStore(value: unknown): boolean {
  return STORE_METHODS.every((method) => typeof (value as SessionStore | null)?.[method] === 'function')
}

function isGlobal(value: unknown): boolean {
  return value instanceof HookRegistry && value.scope === 'global'
}

/** All options are optional. An unknown one is refused, because a misspelt `approver` would never be asked. */
export async function createHooks(options: HooksOptions = {}): Promise<Hooks> {
  return hooksUnder(companyFolder(), options)
}

/** Hooks on a machine that has its company's policy, if any, in this folder. */
export async function hooksUnder(company: CompanyFolder, options: HooksOptions): Promise<Hooks> {
  checkOptions('createHooks', options, OPTIONS)
  const { trust = 'enforce', watch, globals = true, display } = options
  const settings = isObject(options.settings) ? withoutSession(options.settings) : options.settings
  checkProject(options.projectDir)
  keepSecret(secretsIn(callerEnv()))
  const given = embedderSettings(settings)
  const { store } = options
  const settingsNow = () => configuration?.settings ?? given
  await readyForPolicies(company.fleet)
  const sources = sourcesOf({ ...options, ...(settings && { settings }) }, company)
  const shared: Shared = {
    programs: new Programs(),
    handedOn: new HandedOn(store?.folderOf?.bind(store)),
    settings: settingsNow,
    models: () => ({ embedder: options.model, settings: settingsNow().model }),
    keeper: keeperFor(JSON.stringify([sources, trust, options.preTrusted])),
  }
  const configuration: Configuration | undefined =
    sources &&
    // Loaded late, because many embedders register functions and read no file.
    (await (
      await import('./configuration.js')
    ).Configuration.load({
      sources,
      trust,
      preTrusted: options.preTrusted,
      load: (type) => kindOf({ type }).load(shared),
      keeper: shared.keeper,
      display,
    }))
  const registry = typeof globals === 'boolean' ? (globals ? globalHooks : undefined) : globals
  const audit = withSpans(options.audit)
  const embedder = {
    ...options,
    ...(audit && { audit }),
    ...(configuration && { admit: admitting(configuration, options.admit) }),
  }
  const engine = new Engine(embedder, configuration?.settings ?? given, registry)
  const hooks = new Hooks(engine, shared, given, configuration)
  if (watch) await hooks.watch()
  return hooks
}

/** A misspelt path would look like a project without any gate. */
function checkProject(projectDir: string | undefined): void {
  if (projectDir === undefined || statIfThere(projectDir)?.isDirectory()) return
  throw new HookError(
    'OPTIONS_INVALID',
    `createHooks: projectDir ${JSON.stringify(projectDir)} is not a folder`,
  )
}

/** Undefined if no file is to be read. */
function sourcesOf(
  {
    projectDir,
    workFolders = [],
    plugins,
    configs,
    home = userHome(),
    settings,
    settingsTighten,
    trust,
  }: HooksOptions,
  company: CompanyFolder,
): ConfigSources | undefined {
  const hasFiles = projectDir !== undefined || plugins?.length || configs?.length
  if (!hasFiles && companyPolicies(company).length === 0) return undefined
  return {
    company,
    ...(projectDir !== undefined && { projectDir: callerPath(projectDir), homeDir: home }),
    // Trusting everything in a project does not include its parent folders.
    ...(projectDir !== undefined &&
      trust !== 'all' && {
        outerDirs: foldersAround([callerPath(projectDir), ...workFolders], homesOf(home)),
      }),
    ...(plugins && { plugins: plugins.map((path) => callerPath(path)) }),
    ...(configs && { files: configs.map((path) => callerPath(path)) }),
    ...(settings && { settings, settingsTighten: settingsTighten === true }),
  }
}

/** Files and trust decide first; the embedder may refuse what they allow, but not what the company wants. */
function admitting(configuration: Configuration, admit: Admit | undefined): Admit {
  return (hook) =>
    configuration.refusal(hook) ?? (admit && hook.origin.scope !== 'company' ? admit(hook) : true)
}
