// Where a command looks for hooks: the options that several commands share, and the hooks they lead to.

import { isAbsolute } from 'node:path'
import type { ConfiguredHook } from '../config/configured-hook.js'
import type { ConfigSources } from '../config/load.js'
import { type Diagnostic, LOSSES } from '../core/base/errors.js'
import { quoted } from '../core/base/text.js'
import type { Origin } from '../core/hooks/hook.js'
import type { Embedder } from '../core/session/embedder.js'
import { callerEnv, callerFolder, callerPath } from '../files/caller.js'
import { companyFolder } from '../files/company-folder.js'
import { isFolder } from '../files/folder.js'
import { userHome } from '../files/homes.js'
import { foldersAround, homesOf } from '../files/project-folders.js'
import { projectAround } from '../files/which-project.js'
import { isBelow, realOf } from '../files/within.js'
import { FleetCounters } from '../fleet/machine/counters.js'
import type { ListedHook } from '../hooks.js'
import { movedDecisions, projectEnvOf, trustGivenBy } from '../pack/deciding-variables.js'
import { switches } from '../plugins/switches.js'
import type { createHooks, HooksOptions } from '../runtime.js'
import { bypassNotices } from './bypass.js'
import type { OptionTable } from './command.js'
import { Refusal } from './refusal.js'

export const PLACE_OPTIONS = {
  project: { type: 'string', value: 'DIR', help: 'The project; default: the one this folder belongs to.' },
  plugin: {
    type: 'string',
    multiple: true,
    value: 'DIR',
    help: 'A Claude Code plugin to add. Repeatable.',
  },
  config: {
    type: 'string',
    multiple: true,
    value: 'FILE',
    help: 'A hook file to add, of any agent. Repeatable.',
  },
  'pre-trusted': {
    type: 'string',
    value: 'FILE',
    help: 'Digests trusted without a review, for CI.',
  },
} as const satisfies OptionTable

export const SOURCE_OPTIONS = {
  ...PLACE_OPTIONS,
  'trust-all': { type: 'boolean', help: 'Also run hooks of the project that you have not reviewed.' },
} as const satisfies OptionTable

export interface Places {
  readonly project: string | undefined
  readonly plugin: readonly string[]
  readonly config: readonly string[]
  readonly 'pre-trusted': string | undefined
}

export interface Sources extends Places {
  readonly 'trust-all': boolean
  /** Folders that the agent works in, which may lie outside the project. */
  readonly workFolders?: readonly string[]
}

/** As if no option was given but the project. */
export function sourcesOf(project: string | undefined): Sources {
  return { project, plugin: [], config: [], 'pre-trusted': undefined, 'trust-all': false }
}

export type OpenHooks = Awaited<ReturnType<typeof createHooks>>

const projects = new WeakMap<Pick<Places, 'project'>, string>()

/** The named project, else the one around the current directory. A command looks once. */
export function projectOf(places: Pick<Places, 'project'>): string {
  const known = projects.get(places) ?? projectNow(places)
  projects.set(places, known)
  return known
}

function projectNow({ project }: Pick<Places, 'project'>): string {
  try {
    return project === undefined ? projectAround(callerFolder()) : realOf(callerPath(project))
  } catch {
    throw new Refusal('PROJECT_NOT_FOUND', 'The current directory is gone', {
      hint: 'Change into a folder that exists, or give the full path with --project DIR.',
    })
  }
}

/** Like projectOf(), but throws where it is not a folder. */
export function projectFolder(places: Pick<Places, 'project'>): string {
  const folder = projectOf(places)
  if (isFolder(folder)) return folder
  throw new Refusal('PROJECT_NOT_FOUND', `There is no folder ${folder}`, {
    hint: 'Give the folder of the project with --project DIR, or change into it.',
  })
}

/** Throws if the variable for it may be a project's: an agent hands on what the project's settings set. */
export function preTrustedFile(places: Pick<Places, 'pre-trusted' | 'project'>): string | undefined {
  const { CARABINER_PRE_TRUSTED: file } = callerEnv()
  if (places['pre-trusted'] !== undefined || !file) return places['pre-trusted']
  const given = trustGivenBy(projectEnvOf(projectOf(places), callerEnv(), userHome()))
  if (given !== undefined) throw new Refusal('PRE_TRUSTED_INVALID', given)
  if (isAbsolute(file)) return file
  throw new Refusal(
    'PRE_TRUSTED_INVALID',
    `CARABINER_PRE_TRUSTED must be an absolute path, got ${quoted(file)}`,
    {
      hint: 'Give the full path of a list outside every project.',
    },
  )
}

type OpenOptions = Embedder & Pick<HooksOptions, 'settings' | 'settingsTighten' | 'watch'>

/** Broken files end up in the diagnostics, and do not keep the others from opening. */
export async function openHooks(sources: Sources, options: OpenOptions = {}): Promise<OpenHooks> {
  const preTrusted = preTrustedFile(sources)
  const projectDir = projectFolder(sources)
  // Commands that open no hooks start without the engine.
  const { createHooks } = await import('../runtime.js')
  return createHooks({
    projectDir,
    workFolders: sources.workFolders ?? [],
    admit: switches({ projectDir }),
    plugins: sources.plugin,
    configs: sources.config,
    trust: sources['trust-all'] ? 'all' : 'enforce',
    ...(preTrusted !== undefined && { preTrusted }),
    globals: false,
    counters: new FleetCounters(),
    ...options,
  })
}

export async function listedHooks(sources: Sources): Promise<readonly ListedHook[]> {
  const hooks = await openHooks(sources)
  try {
    return hooks.list()
  } finally {
    await hooks.close()
  }
}

/** A project that moves the user's trust and settings would decide about itself. */
export function checkEnvironment(cwd?: string): void {
  const env = callerEnv()
  const moved = movedDecisions(projectEnvOf(cwd, env, userHome()), env)
  if (moved.length > 0) throw new Refusal('CONFIG_INVALID', moved.join('; '))
}

/** Files and plugins that were named must load: without their hooks an event is not evaluated as asked. */
export function lossesOf({ plugin, config }: Sources, notices: readonly Diagnostic[]): readonly Diagnostic[] {
  const named = [...plugin, ...config].map((path) => callerPath(path))
  const isNamed = (file = '') => named.some((path) => isBelow(file, path))
  return notices.filter(({ code, file }) => LOSSES.has(code) && isNamed(file))
}

/** Troubles outside any outcome, and the bypass. */
export function noticesOf(hooks: OpenHooks): readonly Diagnostic[] {
  return [...bypassNotices(hooks), ...hooks.diagnostics]
}

// ---- files as they are written ---------------------------------------------------------------------------------

/** For readers of the files themselves, which have more than a list or a plan carries. */
export function configSources(places: Places): ConfigSources & { readonly projectDir: string } {
  const projectDir = projectFolder(places)
  return {
    company: companyFolder(),
    projectDir,
    outerDirs: foldersAround([projectDir], homesOf()),
    homeDir: userHome(),
    plugins: places.plugin.map((path) => callerPath(path)),
    files: places.config.map((path) => callerPath(path)),
  }
}

export async function readFiles(places: Places) {
  const { loadConfig } = await import('../config/load.js')
  return loadConfig(configSources(places))
}

export async function specsIn(places: Places): Promise<readonly ConfiguredHook[]> {
  return (await readFiles(places)).specs
}

/** Finds a listed or planned hook in its file. One process may have several hooks. */
export function specOf(
  specs: readonly ConfiguredHook[],
  { name, file, line }: { readonly name: string } & Pick<Origin, 'file' | 'line'>,
): ConfiguredHook | undefined {
  return specs.find(
    ({ hook: { origin, ...hook } }) =>
      origin.file === file && origin.line === line && (hook.name === name || hook.kind === 'process'),
  )
}
