// Where a command looks for hooks: the options that several commands share, and the hooks they lead to.

import { resolve } from 'node:path'
import type { Diagnostic } from '../core/base/errors.js'
import { visible } from '../core/base/text.js'
import type { Embedder } from '../core/session/embedder.js'
import { isFolder } from '../files/folder.js'
import type { ListedHook } from '../hooks.js'
import { switches } from '../plugins/switches.js'
import type { createHooks } from '../runtime.js'
import { shellQuoted } from '../shell/shell-quoted.js'
import { bypassNotices } from './bypass.js'
import type { OptionTable } from './command.js'
import { nearestProject, outerProject } from './nearest-project.js'
import { Refusal } from './refusal.js'

/** Where to look. */
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
    help: 'A hooks.json or settings.json to add. Repeatable.',
  },
  'pre-trusted': {
    type: 'string',
    value: 'FILE',
    help: 'Digests trusted without a review, for CI.',
  },
} as const satisfies OptionTable

export const SOURCE_OPTIONS = {
  ...PLACE_OPTIONS,
  'trust-all': { type: 'boolean', help: 'Also run what came with the project and nobody reviewed.' },
} as const satisfies OptionTable

export interface Places {
  readonly project: string | undefined
  readonly plugin: readonly string[]
  readonly config: readonly string[]
  readonly 'pre-trusted': string | undefined
}

/** The options above, as given. */
export interface Sources extends Places {
  readonly 'trust-all': boolean
}

/** What there is without any option. */
export function sourcesOf(project: string | undefined): Sources {
  return { project, plugin: [], config: [], 'pre-trusted': undefined, 'trust-all': false }
}

export type OpenHooks = Awaited<ReturnType<typeof createHooks>>

/** The one that was named, else the one that the current directory is in. */
export function projectOf({ project }: Pick<Places, 'project'>): string {
  try {
    return project === undefined ? nearestProject(resolve('.')) : resolve(project)
  } catch {
    throw new Refusal('PROJECT_NOT_FOUND', 'The current directory is gone', {
      hint: 'Change into a folder that exists, or give the full path with --project DIR.',
    })
  }
}

/** The same, if it is a folder. */
export function projectFolder(places: Pick<Places, 'project'>): string {
  const folder = projectOf(places)
  if (isFolder(folder)) return folder
  throw new Refusal('PROJECT_NOT_FOUND', `There is no folder ${folder}`, {
    hint: 'Give the folder of the project with --project DIR, or change into it.',
  })
}

/** What the command line names, else the environment. */
export function preTrustedFile(places: Pick<Places, 'pre-trusted'>): string | undefined {
  return places['pre-trusted'] ?? (process.env.CARABINER_PRE_TRUSTED || undefined)
}

/** Broken files do not keep it from opening; they are in the diagnostics. */
export async function openHooks(sources: Sources, embedder: Embedder = {}): Promise<OpenHooks> {
  const preTrusted = preTrustedFile(sources)
  const projectDir = projectFolder(sources)
  // Commands that open none start without the engine.
  const { createHooks } = await import('../runtime.js')
  return createHooks({
    projectDir,
    admit: switches({ projectDir }),
    plugins: sources.plugin,
    configs: sources.config,
    trust: sources['trust-all'] ? 'all' : 'enforce',
    ...(preTrusted !== undefined && { preTrusted }),
    globals: false,
    ...embedder,
  })
}

/** The hooks there are, for who needs no more of them. */
export async function listedHooks(sources: Sources): Promise<readonly ListedHook[]> {
  const hooks = await openHooks(sources)
  try {
    return hooks.list()
  } finally {
    await hooks.close()
  }
}

/** What went wrong outside any outcome, and whether hooks are switched off as a whole, or those of a project around this one. */
export function noticesOf(hooks: OpenHooks, sources: Pick<Sources, 'project'>): readonly Diagnostic[] {
  const outer = sources.project === undefined ? outerNotices(projectOf(sources)) : []
  return [...bypassNotices(hooks), ...outer, ...hooks.diagnostics]
}

/** Of a project that nobody named: a folder in it may be made one without a word. */
export function outerNotices(project: string): readonly Diagnostic[] {
  const outer = outerProject(project)
  if (outer === undefined) return []
  return [
    {
      code: 'outer-project',
      text: `the hooks and settings of ${visible(outer)} do not count here: ${visible(project)} in it is a project of its own; the outer one is --project ${visible(shellQuoted(outer))}`,
    },
  ]
}
