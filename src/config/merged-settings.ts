// Merges the settings of all files: the company's first, then the user's, then the project's. Each may tighten what comes
// before it and never loosen it; without a company, the user decides.

import { isObject, type Json, sameJson } from '../core/base/json.js'
import { type Check, type Checks, checkOptions, isFlag, isOneOf } from '../core/base/options.js'
import { shown } from '../core/base/text.js'
import { LONGEST_TIMER_MS } from '../core/base/time.js'
import type { Recheck } from '../core/run/queue.js'
import { DEFAULT_SETTINGS, SETTINGS, type Settings } from '../core/session/embedder.js'
import type { CompanyPolicy } from '../files/company-folder.js'
import { type JsonPath, under } from '../files/json-text.js'
import { isBelow } from '../files/within.js'
import type { FileFormat } from '../runners/hook-spec.js'
import type { ReachSettings } from '../runners/kind.js'
import type { ConfigFile } from './config-file.js'
import { type Advice, changeOf, type Notes } from './notes.js'
import type { Scope } from './owner.js'
import { DEFAULT_REACH, REACH_CHECKS, reachLeft } from './reach-settings.js'
import { LONGEST, type TimeLimits } from './timeout.js'

/** Every key of a settings file, named as in the file. Timeouts are in seconds. */
export interface MergedSettings extends Settings, ReachSettings {
  readonly enabled: boolean
  readonly allow_user_hooks: boolean
  /** Also false if the project switched off its own hooks. */
  readonly allow_project_hooks: boolean
  readonly default_timeout: number
  readonly max_timeout: number
  readonly env: 'inherit' | 'minimal'
  /** How to treat gates that the user trusted and that are no longer in the project. */
  readonly trust_missing: 'keep' | 'block' | 'tell'
  /** Whether CARABINER_OFF=1 is obeyed. */
  readonly bypass: boolean
  /** Whether the command line keeps an audit log. With `fsync`, the log survives a power cut. */
  readonly audit: 'on' | 'off' | 'fsync'
}

export const DEFAULT_MERGED: MergedSettings = {
  ...DEFAULT_SETTINGS,
  ...DEFAULT_REACH,
  enabled: true,
  allow_user_hooks: true,
  allow_project_hooks: true,
  default_timeout: 30,
  max_timeout: 300,
  env: 'inherit',
  trust_missing: 'keep',
  bypass: true,
  audit: 'on',
}

/** A setting as written in a file, before any check. `disableAllHooks` is Claude Code's. */
export interface GivenSetting {
  readonly key: keyof MergedSettings | 'disableAllHooks'
  readonly value: unknown
  readonly scope: Scope
  readonly file: ConfigFile
  readonly at: JsonPath
}

export interface Merge {
  /** Whether the company has a policy. */
  readonly hasCompany: boolean
  readonly settings: MergedSettings
  /** Terms for the hooks of each scope. They differ because a project's settings must not make other gates fail. */
  readonly terms: Readonly<Record<Scope, Terms>>
  /** The setting that switches off the hooks of a scope. */
  readonly disabled: Readonly<Record<Scope, Silence | undefined>>
}

export interface Terms extends Pick<MergedSettings, 'env'>, Readonly<Record<FileFormat, TimeLimits>> {}

export function isSetting(key: string): key is keyof MergedSettings {
  return Object.hasOwn(DEFAULT_MERGED, key)
}

/** Settings that Amplifier keeps under `session`. */
export const SESSION_SETTINGS = ['injection_size_limit', 'injection_budget_per_turn'] as const

/** The settings of an embedder: keys of a settings file, and Amplifier's `session`. */
export interface EmbedderSettings extends Partial<MergedSettings> {
  readonly session?: Partial<Pick<MergedSettings, (typeof SESSION_SETTINGS)[number]>>
}

/** Moves the settings under `session` to the top level. Throws for unknown ones. */
export function withoutSession({ session, ...settings }: EmbedderSettings): Partial<MergedSettings> {
  if (session === undefined) return settings
  const { injection_size_limit, injection_budget_per_turn } = SETTINGS
  checkOptions('settings.session', session, { injection_size_limit, injection_budget_per_turn })
  return { ...session, ...settings }
}

/** Settings that the embedder gives in code, over the defaults. An unknown key or an invalid value throws OPTIONS_INVALID. */
export function embedderSettings(given: Partial<MergedSettings> = {}): MergedSettings {
  checkOptions('settings', given, OF_EMBEDDER)
  const present = Object.entries(given).filter(([, value]) => value !== undefined)
  return { ...DEFAULT_MERGED, ...Object.fromEntries(present) }
}

interface GivenByOthers {
  /** The company's policies that count, even those without settings. Those of root come first. */
  readonly policies?: readonly Pick<CompanyPolicy, 'folder' | 'isUsers'>[]
  readonly settings?: Partial<MergedSettings>
  readonly settingsTighten?: boolean
}

/** The embedder's settings override the user's files, unless they may only tighten them. A project may tighten both. */
export function mergeSettings(
  given: readonly GivenSetting[],
  { policies = [], settings: wantedByEmbedder = {}, settingsTighten }: GivenByOthers,
  userHasHooks: boolean,
  notes: Notes,
): Merge {
  const hasCompany = policies.length > 0
  const valid = given.flatMap((setting) => inOrder(setting, notes))
  const of = (wanted: Scope) => valid.filter(({ scope }) => scope === wanted)
  const values: Record<string, unknown> = { ...DEFAULT_MERGED, ...(hasCompany && { bypass: false }) }
  const off = new Map<Switch, Silence>()
  const decideBy = (settings: readonly GivenSetting[]) => {
    for (const setting of settings) {
      if (isSetting(setting.key)) values[setting.key] = setting.value
      flip(off, setting, silenceOf(setting))
    }
  }
  const company = policies.map(({ folder }) => of('company').filter(({ file }) => isBelow(file.path, folder)))
  for (const [i, settings] of company.entries()) {
    const isBelowRoots = policies[i]?.isUsers === true && policies[0]?.isUsers !== true
    const tighter = isBelowRoots ? tighterThanCompany : tighterThanPolicies
    decideBy(i === 0 ? settings : tighter(settings, company.slice(0, i).flat(), values, notes))
  }
  decideBy(hasCompany ? tighterThanCompany(of('user'), of('company'), values, notes) : of('user'))
  const mayOnlyTighten = settingsTighten || hasCompany
  const embedder = mayOnlyTighten ? withoutLooser(wantedByEmbedder, values) : wantedByEmbedder
  for (const key of Object.keys(embedder) as (keyof MergedSettings)[]) {
    if (embedder[key] === undefined) continue
    values[key] = embedder[key]
    flip(off, { key, value: embedder[key] }, { setting: `"${key}": ${embedder[key]}` })
  }
  const everybody = off.get('enabled') ?? off.get('disableAllHooks')
  const disabled: Record<Scope, Silence | undefined> = {
    company: offInAll(company),
    user: everybody ?? off.get('allow_user_hooks'),
    named: everybody,
    project: everybody ?? off.get('allow_project_hooks'),
  }
  const tightenBy = (scope: 'named' | 'project', silenced: readonly Scope[]) => {
    for (const setting of of(scope)) {
      const ignored = isSwitch(setting.key)
        ? switchProject(setting, { ...values, disableAllHooks: !off.has('disableAllHooks') }, userHasHooks)
        : tighten(setting as Tightened, values)
      if (ignored) notes.add('setting-ignored', ignored.text, setting, ignored)
      if (!silencesProject(setting)) continue
      for (const one of silenced) disabled[one] ??= silenceOf(setting)
      values.allow_project_hooks = false
    }
  }
  const userValues = { ...values }
  const claude = claudeLimits([...of('company'), ...of('user')], embedder)
  tightenBy('project', ['project'])
  tightenBy('named', ['named', 'project'])
  return {
    hasCompany,
    settings: values as unknown as MergedSettings,
    terms: {
      company: longestTerms(company),
      user: termsOf(userValues, claude),
      named: termsOf(tightened(userValues, of('named')), claude),
      project: termsOf(values, claude),
    },
    disabled,
  }
}

/** Claude Code has no such limits, so in its files only explicitly set ones count. */
function claudeLimits(settings: readonly GivenSetting[], embedder: Partial<MergedSettings> = {}): TimeLimits {
  const wanted = { ...Object.fromEntries(settings.map(({ key, value }) => [key, value])), ...embedder }
  return { usual: wanted.default_timeout, most: wanted.max_timeout ?? LONGEST }
}

// ---- checks ---------------------------------------------------------------------------------------------------

const isTimeout: Check = [
  (value) => typeof value === 'number' && value > 0 && value <= LONGEST_TIMER_MS / 1000,
  'a number of seconds above 0',
]

export const OWN_SETTINGS: Checks<Omit<MergedSettings, keyof Settings>> = {
  ...REACH_CHECKS,
  enabled: isFlag,
  allow_user_hooks: isFlag,
  allow_project_hooks: isFlag,
  default_timeout: isTimeout,
  max_timeout: isTimeout,
  env: isOneOf('inherit', 'minimal'),
  trust_missing: isOneOf('keep', 'block', 'tell'),
  bypass: isFlag,
  audit: isOneOf('on', 'off', 'fsync'),
}

const OF_EMBEDDER = { ...SETTINGS, ...OWN_SETTINGS }

const CHECKS: Readonly<Record<GivenSetting['key'], Check>> = {
  ...SETTINGS,
  ...OWN_SETTINGS,
  disableAllHooks: isFlag,
}

/** The strict value of settings that only restrict. Whoever sets one wants the restriction, even with a typo in the value. */
const CLOSED: Partial<Record<GivenSetting['key'], unknown>> = {
  on_failure: 'block',
  audit_on_failure: 'block',
  audit_calls: false,
  bypass: false,
  recheck: 'all',
}

/** Returns the setting, or its safe part if it is malformed: a typo must not remove a restriction. */
function inOrder(setting: GivenSetting, notes: Notes): readonly GivenSetting[] {
  const { key, value } = setting
  const [accepts, wanted] = CHECKS[key]
  if (accepts(value)) return [setting]
  const problem = `"${key}" must be ${wanted}, got ${shown(value)}`
  const left = reachLeft(key, value, problem)
  if (left) {
    for (const { text, at, todo } of left.problems) {
      const where = at === undefined ? setting.at : under(setting.at, at)
      notes.add('setting-invalid', text, { file: setting.file, at: where }, { todo })
    }
    return left.value === undefined ? [] : [{ ...setting, value: left.value }]
  }
  const closed = CLOSED[key]
  const instead = closed === undefined ? 'it is ignored' : `${shown(closed)} is in force`
  notes.add('setting-invalid', `${problem}; ${instead}`, setting, changeOf(key, value, wanted))
  return closed === undefined ? [] : [{ ...setting, value: closed }]
}

/** True if a key beside `hooks` was probably meant as one of our settings. Other agents keep theirs there. */
export function looksLikeSetting(key: string, value: unknown): boolean {
  if (!isSetting(key)) return false
  return key.includes('_') || (key === 'model' && isObject(value)) || CHECKS[key][0](value)
}

// ---- switches: whose hooks run --------------------------------------------------------------------------------

type Switch = 'enabled' | 'allow_user_hooks' | 'allow_project_hooks' | 'disableAllHooks'

const SWITCHES: ReadonlySet<string> = new Set<Switch>([
  'enabled',
  'allow_user_hooks',
  'allow_project_hooks',
  'disableAllHooks',
])

export function isSwitch(key: string): key is Switch {
  return SWITCHES.has(key)
}

type Switched = Pick<GivenSetting, 'key' | 'value'>

function isOff({ key, value }: Switched): boolean {
  return key === 'disableAllHooks' ? value === true : value === false
}

function flip(off: Map<Switch, Silence>, setting: Switched, silence: Silence): void {
  if (!isSwitch(setting.key)) return
  if (isOff(setting)) off.set(setting.key, silence)
  else off.delete(setting.key)
}

function silencesProject(setting: GivenSetting): boolean {
  return isSwitch(setting.key) && setting.key !== 'allow_user_hooks' && isOff(setting)
}

/** Returns a message about the part of a project's switch that is ignored. A project may silence only itself. */
function switchProject(
  setting: GivenSetting,
  values: Readonly<Record<string, unknown>>,
  userHasHooks: boolean,
): Ignored | undefined {
  const { key } = setting
  const todo = `Remove "${key}".`
  if (isOff(setting)) {
    if (key === 'allow_project_hooks' || !userHasHooks) return undefined
    const own = key === 'allow_user_hooks' ? '' : '; it applies only to the project’s own'
    return { text: `"${key}" in a project does not switch off the user’s hooks${own}`, todo }
  }
  if (values[key] !== false) return undefined
  return { text: `"${key}" in a project cannot undo an earlier setting`, todo }
}

interface Ignored extends Advice {
  readonly text: string
}

function silenceOf({ key, value, scope, file, at }: GivenSetting): Silence {
  return { setting: `"${key}": ${value}`, scope, file: file.path, line: file.json.lineOf(at) }
}

// ---- values: smaller is tighter -------------------------------------------------------------------------------

type TightenedKey = Exclude<keyof MergedSettings, Switch>
type Tightened = GivenSetting & { readonly key: TightenedKey }

const larger = (wanted: unknown, now: unknown) =>
  now !== null && (wanted === null || (wanted as number) > (now as number))
/** A project may not change it at all: more stops let an agent run on, fewer disarm the user's gates, and no audit hides calls. */
const other = (wanted: unknown, now: unknown) => !sameJson(wanted as Json, now as Json)
/** From loose to tight. */
const RECHECKS: readonly Recheck[] = ['skipped', 'final', 'all']
const insteadOf = (loose: unknown) => (wanted: unknown, now: unknown) => wanted === loose && now !== loose

/** Tells whether the first value is looser than the second. Null means no limit. */
const LOOSER: { readonly [K in TightenedKey]: (wanted: unknown, now: unknown) => boolean } = {
  default_timeout: larger,
  max_timeout: larger,
  on_failure: insteadOf('continue'),
  injection_size_limit: larger,
  injection_budget_per_turn: larger,
  stop_block_cap: other,
  stop_block_total: other,
  env: insteadOf('inherit'),
  trust_missing: (wanted, now) => wanted !== 'block' && wanted !== now,
  bypass: insteadOf(true),
  recheck: (wanted, now) => RECHECKS.indexOf(wanted as Recheck) < RECHECKS.indexOf(now as Recheck),
  protect_system_messages: insteadOf(false),
  audit: other,
  allowed_http_urls: other,
  http_allowed_env_vars: other,
  allowed_private_hosts: other,
  model: other,
  mcp_servers: other,
  audit_on_failure: insteadOf('continue'),
  audit_calls: other,
}

/** The settings that would loosen those in force. Nobody but the user switches hooks on or off. */
export function looserThan(
  given: Partial<MergedSettings>,
  now: Readonly<Record<string, unknown>>,
): readonly (keyof MergedSettings)[] {
  const keys = (Object.keys(given) as (keyof MergedSettings)[]).filter((key) => given[key] !== undefined)
  return keys.filter((key) =>
    isSwitch(key) ? given[key] !== now[key] : LOOSER[key as TightenedKey](given[key], now[key]),
  )
}

function withoutLooser(
  given: Partial<MergedSettings>,
  now: Readonly<Record<string, unknown>>,
): Partial<MergedSettings> {
  const looser: readonly string[] = looserThan(given, now)
  return Object.fromEntries(Object.entries(given).filter(([key]) => !looser.includes(key)))
}

function tighten({ key, value }: Tightened, values: Record<string, unknown>): Ignored | undefined {
  if (!LOOSER[key](value, values[key])) {
    values[key] = value
    return undefined
  }
  if (USERS_OWN.has(key)) {
    const text = `"${key}" is ignored here: only ${OF_USER} may set it`
    return { text, todo: `Move "${key}" to "hooks" in ${OF_USER}, if you want it.` }
  }
  const setting = `"${key}": ${shown(value)}`
  return {
    text: `${setting} in a project would loosen ${shown(values[key])}, which stays in force`,
    todo: `Remove it; if you want it, write ${setting} under "hooks" in ${OF_USER}.`,
  }
}

const OF_USER = '~/.amplifier/settings.json'

/** A project cannot change network reach, or the user's records. */
const USERS_OWN: ReadonlySet<string> = new Set<TightenedKey>([
  'audit',
  'audit_calls',
  'model',
  'mcp_servers',
  'allowed_private_hosts',
  'allowed_http_urls',
  'http_allowed_env_vars',
])

/** A scope has terms of its own, so the user's do not reach the company's hooks. */
const OF_TERMS: ReadonlySet<string> = new Set<TightenedKey>(['default_timeout', 'max_timeout', 'env'])

/** The user's settings that loosen nothing of the company's. The others are reported. */
function tighterThanCompany(
  settings: readonly GivenSetting[],
  company: readonly GivenSetting[],
  values: Readonly<Record<string, unknown>>,
  notes: Notes,
): readonly GivenSetting[] {
  const isGiven = (key: string) => company.some((one) => one.key === key)
  return settings.filter((setting) => {
    const { key, value } = setting
    const isLooser = isSwitch(key)
      ? !isOff(setting) && isOff({ key, value: values[key] })
      : (isGiven(key) || !OF_TERMS.has(key)) && LOOSER[key as TightenedKey](value, values[key])
    if (!isLooser) return true
    const text = `"${key}": ${shown(value)} would loosen the company’s policy, so ${shown(values[key])} stays in force`
    notes.add('setting-ignored', text, setting, { todo: 'Remove it, or ask the people who keep the policy.' })
    return false
  })
}

/** Several policies hold together: none loosens what another says, or has as its default. */
function tighterThanPolicies(
  settings: readonly GivenSetting[],
  earlier: readonly GivenSetting[],
  values: Readonly<Record<string, unknown>>,
  notes: Notes,
): readonly GivenSetting[] {
  const isFree = ({ key }: GivenSetting) =>
    !isSwitch(key) && LOOSER[key] === other && !earlier.some((one) => one.key === key)
  const bound = settings.filter((setting) => !isFree(setting))
  return [...settings.filter(isFree), ...tighterThanCompany(bound, bound, values, notes)]
}

/** A policy may switch off its own hooks, but not those of another. */
function offInAll(policies: readonly (readonly GivenSetting[])[]): Silence | undefined {
  const silences = policies.map((settings) => {
    const off = new Map<Switch, Silence>()
    for (const setting of settings) flip(off, setting, silenceOf(setting))
    return off.get('enabled') ?? off.get('disableAllHooks')
  })
  return silences.includes(undefined) ? undefined : silences[0]
}

/** Each policy has its own terms; the hooks of all get the longest, because one that runs out of time does not judge. */
function longestTerms(policies: readonly (readonly GivenSetting[])[]): Terms {
  const all = (policies.length === 0 ? [[]] : policies).map((settings) => {
    const own = Object.fromEntries(settings.map(({ key, value }) => [key, value]))
    return termsOf({ ...DEFAULT_MERGED, ...own }, claudeLimits(settings))
  })
  const longest = (limits: readonly TimeLimits[]): TimeLimits => {
    const usual = limits.flatMap((one) => one.usual ?? [])
    const most = Math.max(...limits.map((one) => one.most))
    return { usual: usual.length < limits.length ? undefined : Math.max(...usual), most }
  }
  return {
    env: all.some(({ env }) => env === 'minimal') ? 'minimal' : 'inherit',
    amplifier: longest(all.map(({ amplifier }) => amplifier)),
    claude: longest(all.map(({ claude }) => claude)),
  }
}

function tightened(values: Readonly<Record<string, unknown>>, by: readonly GivenSetting[]): typeof values {
  const tighter = { ...values }
  for (const setting of by) if (!isSwitch(setting.key)) tighten(setting as Tightened, tighter)
  return tighter
}

function termsOf(values: Readonly<Record<string, unknown>>, claude: TimeLimits): Terms {
  const { default_timeout, max_timeout, env } = values as unknown as MergedSettings
  return { env, amplifier: { usual: default_timeout, most: max_timeout }, claude }
}

// ---- the setting that keeps a hook from running ---------------------------------------------------------------

export interface Silence {
  /** The setting as written: `"enabled": false`. */
  readonly setting: string
  /** Absent if the embedder set it. */
  readonly scope?: Scope
  readonly file?: string
  readonly line?: number
}

export function silenceText({ setting, file, line }: Silence): string {
  return `${setting} in ${file === undefined ? 'the host’s settings' : `${file}:${line}`}`
}
