// Where a command looks for hooks: the options that several commands share, and the hooks they lead to.

import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Diagnostic } from '../core/errors.js'
import { createHooks } from '../runtime.js'
import { bypassNotices } from './bypass.js'
import type { OptionTable } from './command.js'
import { Refusal } from './refusal.js'

export const SOURCE_OPTIONS = {
  project: { type: 'string', value: 'DIR', help: 'The project; default: the current directory.' },
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
  'trust-all': { type: 'boolean', help: 'Also run what came with the project and nobody reviewed.' },
} as const satisfies OptionTable

/** The options above, as given. */
export interface Sources {
  readonly project: string | undefined
  readonly plugin: readonly string[]
  readonly config: readonly string[]
  readonly 'trust-all': boolean
}

export type OpenHooks = Awaited<ReturnType<typeof createHooks>>

export function projectOf({ project }: Sources): string {
  try {
    return resolve(project ?? '.')
  } catch {
    throw new Refusal('PROJECT_NOT_FOUND', 'The current directory is gone', {
      hint: 'Change into a folder that exists, or give the full path with --project DIR.',
    })
  }
}

/** Broken files do not keep it from opening; they are in the diagnostics. */
export async function openHooks(sources: Sources): Promise<OpenHooks> {
  const projectDir = projectOf(sources)
  if (!isFolder(projectDir)) {
    throw new Refusal('PROJECT_NOT_FOUND', `There is no folder ${projectDir}`, {
      hint: 'Give the folder of the project with --project DIR, or change into it.',
    })
  }
  return createHooks({
    projectDir,
    plugins: sources.plugin,
    configs: sources.config,
    trust: sources['trust-all'] ? 'all' : 'enforce',
    globals: false,
  })
}

/** What went wrong outside any outcome, and whether hooks are switched off as a whole. */
export function noticesOf(hooks: OpenHooks): readonly Diagnostic[] {
  return [...bypassNotices(hooks), ...hooks.diagnostics]
}

function isFolder(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
  } catch {
    return false
  }
}
