// loadConfig: every configured hook, the settings in force, and diagnostics for the user. Never throws.

import { join, resolve, sep } from 'node:path'
import { type Diagnostic, LOSSES, textOf } from '../core/base/errors.js'
import { needsTrust } from '../core/hooks/hook.js'
import type { Skill } from '../core/session/session-store.js'
import { type CompanyPolicy, companyPolicies, enforcedIn } from '../files/company-folder.js'
import { readyForPolicies } from '../files/fleet-files.js'
import { JsonText } from '../files/json-text.js'
import { type Looks, recordLooks } from '../files/looks.js'
import { isBelow, realOf } from '../files/within.js'
import { ConfigFiles } from './config-file.js'
import { type ConfiguredHook, configure, configureProcess, type Making } from './configured-hook.js'
import { type ConfigSources, companyOwner, discover } from './discovery.js'
import { type Contents, formatOfPath, type HookDocument, readDocument } from './hook-document.js'
import type { Entry, Shared } from './hook-group.js'
import { Matchers } from './matchers.js'
import {
  type GivenSetting,
  isSwitch,
  type Merge,
  type MergedSettings,
  mergeSettings,
} from './merged-settings.js'
import { Notes } from './notes.js'
import { cleanName, Names, type Owner } from './owner.js'
import type { ProcessEntry } from './process-entry.js'
import { closedBy, configureRules } from './rules-document.js'

export type { ConfigSources }

export interface LoadedConfig {
  /** In configuration order: the company's, the user's, the project's, explicit files, explicit plugins. Disabled ones too. */
  readonly specs: readonly ConfiguredHook[]
  readonly settings: MergedSettings
  /** The effect of the settings on the hooks of each scope. */
  readonly merge: Merge
  /** Each with file and line. */
  readonly diagnostics: readonly Diagnostic[]
  /** The text in force of every file, by path. A later load falls back to it. */
  readonly files: ReadonlyMap<string, string>
}

interface Read {
  readonly entries: readonly Entry[]
  readonly processes: readonly ProcessEntry[]
  readonly rules: readonly HookDocument[]
  readonly policies: readonly CompanyPolicy[]
  readonly merge: Merge
  readonly notes: Notes
  readonly names: Names
  readonly files: ConfigFiles
  /** A file may be another agent's. */
  readonly mayBeAgents: boolean
}

/**
 * With `previous`, a file that was good and cannot be read now (but was not deleted) keeps its last good text. With
 * `looks`, everything is noted there that the result depends on, apart from the sources.
 */
export async function loadConfig(
  sources: ConfigSources,
  previous?: LoadedConfig,
  looks?: Looks,
): Promise<LoadedConfig> {
  const readWith = (readAgentFile?: Shared['readAgentFile']) =>
    looks
      ? recordLooks(looks, () => readSources(sources, previous, readAgentFile))
      : readSources(sources, previous, readAgentFile)
  await readyForPolicies(sources.company?.fleet)
  const first = readWith()
  // Reading is synchronous, so it starts again with the reader of such files.
  const { entries, processes, rules, policies, merge, notes, names, files } = first.mayBeAgents
    ? readWith(await agentFileReader())
    : first
  const making = { merge, notes, names, home: sources.homeDir }
  const specs: ConfiguredHook[] = [
    ...(await configureRules(rules, making)),
    ...(await configureAll(entries, processes, making)),
  ]
  specs.unshift(...lostByCompany(policies, sources, making))
  return { specs, settings: merge.settings, merge, diagnostics: notes.all(), files: files.texts }
}

/** Hooks of the company that are missing, or match something else, close every tool call: nobody knows what they guard. */
function lostByCompany(
  policies: readonly CompanyPolicy[],
  sources: ConfigSources,
  making: Pick<Making, 'merge' | 'notes' | 'names'>,
) {
  return policies.flatMap((policy) => {
    if (policy.problem !== undefined) return []
    const own = join(policy.folder, 'rules.json')
    const lost = making.notes.all().find(({ code, file }) => {
      // A file of rules closes by itself.
      const isOther = file !== undefined && file !== own && isBelow(file, policy.folder)
      return isOther && (LOSSES.has(code) || code === 'unknown-event' || code === 'matcher-invalid')
    })
    return lost ? [closedBy(companyOwner(policy, sources), lost, making)] : []
  })
}

/** All that is read from disk. */
function readSources(
  sources: ConfigSources,
  previous: LoadedConfig | undefined,
  readAgentFile: Shared['readAgentFile'],
): Read {
  const notes = new Notes()
  const names = new Names()
  const matchers = new Matchers()
  const files = new ConfigFiles(previous?.files ?? new Map(), notes)
  const entries: Entry[] = []
  const processes: ProcessEntry[] = []
  const given: GivenSetting[] = []
  // Once for each load: every file of a policy is looked at.
  const policies = sources.company ? companyPolicies(sources.company) : []
  const documents = discover(sources, files, notes, policies)
  const rules = documents.filter(({ role }) => role === 'rules')
  for (const document of documents) {
    if (document.role === 'rules') continue
    const contents = contentsOf(document, { notes, names, matchers, readAgentFile })
    // A project's switches apply to its own hooks, not to those of a project inside it.
    if (document.owner.mode !== 'shadow')
      given.push(...contents.settings.filter(({ key }) => !document.isOuter || !isSwitch(key)))
    const more = contents.entries.length + contents.processes.length
    if (!needsTrust(document.owner.scope) || entries.length + processes.length + more <= MOST_HOOKS) {
      for (const entry of contents.entries) entries.push(entry)
      for (const process of contents.processes) processes.push(process)
    } else if (more > 0) {
      notes.add(
        'config-invalid',
        `its hooks were left out: there are more than ${MOST_HOOKS} before them`,
        document,
      )
    }
  }
  const userHasHooks = [...entries, ...processes, ...rules].some(({ owner }) => !needsTrust(owner.scope))
  const enforced = { policies: enforcedIn(policies) }
  const merge = mergeSettings(given, { ...sources, ...enforced }, userHasHooks, notes)
  const mayBe = documents.some(mayBeAgents)
  return { entries, processes, rules, policies, merge, notes, names, files, mayBeAgents: mayBe }
}

/** The hooks that skills bring along, with the settings from the files. */
export async function loadSkills(
  skills: readonly Skill[],
  sources: ConfigSources,
  { merge }: LoadedConfig,
): Promise<Pick<LoadedConfig, 'specs' | 'diagnostics'>> {
  const shared = { notes: new Notes(), names: new Names(), matchers: new Matchers() }
  const entries = skills.flatMap((skill) => contentsOf(skillDocument(skill, sources), shared).entries)
  const specs = await configureAll(entries, [], { merge, ...shared, home: sources.homeDir })
  return { specs, diagnostics: shared.notes.all() }
}

/** The hooks of documents outside these sources, with the settings from the files. */
export async function loadDocuments(
  documents: readonly HookDocument[],
  sources: ConfigSources,
  { merge }: Pick<LoadedConfig, 'merge'>,
): Promise<readonly ConfiguredHook[]> {
  const readAgentFile = documents.some(mayBeAgents) ? await agentFileReader() : undefined
  const shared = { notes: new Notes(), names: new Names(), matchers: new Matchers(), readAgentFile }
  const contents = documents
    .filter(({ role }) => role !== 'rules')
    .map((document) => contentsOf(document, shared))
  const entries = contents.flatMap((one) => one.entries)
  const processes = contents.flatMap((one) => one.processes)
  const making = { merge, ...shared, home: sources.homeDir }
  const rules = documents.filter(({ role }) => role === 'rules')
  return [...(await configureRules(rules, making)), ...(await configureAll(entries, processes, making))]
}

/** Does not limit the hooks of the company and the user. */
const MOST_HOOKS = 20_000

const NOTHING: Contents = { entries: [], processes: [], settings: [] }

/** One file that breaks the reader must not affect the others. */
function contentsOf(document: HookDocument, shared: Shared): Contents {
  try {
    return readDocument(document, shared)
  } catch (error) {
    shared.notes.add('config-invalid', `the file cannot be understood: ${textOf(error)}`, document)
    return NOTHING
  }
}

/** Their reader is imported on demand: most files are ours or Claude Code's. */
function mayBeAgents({ role, file }: HookDocument): boolean {
  return role === 'explicit' || (role === 'plugin' && OF_AGENTS.test(file.json.text))
}

/** Keys and names of events in another agent's style, or its name. */
const OF_AGENTS =
  /"(?:agent"|(?:before|after)[A-Z]|(?:Before|After)[A-Z]|(?:pre|post)_|pre[A-Z]|post[A-Z]|agent[A-Z]|session[A-Z]|stop"|bash"|powershell"|timeoutSec"|timeout_ms"|trigger"|when")/

/** Imported on demand, because few files are another agent's. */
async function agentFileReader(): Promise<Shared['readAgentFile']> {
  return (await import('./agent-file.js')).agentFileReader()
}

/** Imported on demand because it loads the shell parser, which is too slow for a program that starts for every event. */
async function ifCompiler(entries: readonly Entry[]): Promise<Making['compileIf']> {
  if (entries.every(({ handler }) => handler.common.if === undefined)) return undefined
  return (await import('./if-rule.js')).compileIf
}

async function configureAll(
  entries: readonly Entry[],
  processes: readonly ProcessEntry[],
  { merge, notes, names, home }: Pick<Making, 'merge' | 'notes' | 'names' | 'home'>,
): Promise<readonly ConfiguredHook[]> {
  const compileIf = await ifCompiler(entries)
  const making: Making = { merge, notes, names, home, lanes: new Map(), compileIf }
  const specs: ConfiguredHook[] = []
  const add = (make: () => ConfiguredHook, name: string, where: Entry | ProcessEntry) => {
    try {
      specs.push(make())
    } catch (error) {
      notes.add('entry-invalid', `${name} was left out: ${textOf(error)}`, where)
    }
  }
  for (const entry of entries) add(() => configure(entry, making), entry.name, entry)
  for (const entry of processes) add(() => configureProcess(entry, making), entry.key, entry)
  return specs
}

// ---- hooks of skills ------------------------------------------------------------------------------------------

/** Folders below the home folder that hold the user's skills. */
const OF_USER = ['.amplifier', '.claude'] as const

export function skillDocument(skill: Skill, sources: ConfigSources): HookDocument {
  const directory = resolve(skill.directory)
  const value = { hooks: skill.hooks }
  const owner: Owner = {
    scope: isOfUser(directory, sources) ? 'user' : 'project',
    source: `skill ${cleanName(skill.name) ?? ''}`.trim(),
    realm: `skill\0${skill.name}`,
    place: { projectDir: sources.projectDir ?? directory, hooksDir: directory, skillDir: directory },
  }
  // Written as one line, because line numbers in the skill's file are unknown.
  const file = { path: join(directory, 'SKILL.md'), json: new JsonText(JSON.stringify(value)), value }
  return { owner, role: 'skill', file, at: null, format: formatOfPath(directory) }
}

/** A skill in the project belongs to the project, whatever its folder's name or link target. */
function isOfUser(directory: string, { homeDir, projectDir }: ConfigSources): boolean {
  if (homeDir === undefined) return false
  const real = realOf(directory)
  const inside = (folder: string) => real.startsWith(realOf(folder) + sep)
  if (projectDir !== undefined && realOf(projectDir) !== realOf(homeDir) && inside(projectDir)) return false
  return OF_USER.some((name) => inside(join(homeDir, name)))
}
