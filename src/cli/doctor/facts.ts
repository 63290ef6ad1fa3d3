// The facts that all checks share, gathered once: hooks as written in files, and as loaded. Runs nothing.

import { FileOrigin } from '../../config/config-file.js'
import type { ConfiguredHook } from '../../config/configured-hook.js'
import type { MergedSettings } from '../../config/merged-settings.js'
import type { Diagnostic } from '../../core/base/errors.js'
import { userHome } from '../../files/homes.js'
import type { ListedHook } from '../../hooks.js'
import type { Expectation } from '../../trust/expectation.js'
import type { Untrusted } from '../../trust/unit.js'
import { noticesOf, openHooks, projectFolder, readFiles, type Sources } from '../sources.js'
import { unmetIn } from '../why/unmet.js'

export interface Facts {
  readonly sources: Sources
  readonly project: string
  readonly home: string
  /** From every file, including hooks that do not run. */
  readonly specs: readonly ConfiguredHook[]
  /** Files that were read. */
  readonly files: readonly string[]
  readonly hooks: readonly ListedHook[]
  readonly untrusted: readonly Untrusted[]
  /** What was trusted, listed or installed, and is changed or missing. */
  readonly expectations: readonly Expectation[]
  readonly settings: MergedSettings
  readonly notices: readonly Diagnostic[]
}

export async function gather(sources: Sources): Promise<Facts> {
  const hooks = await openHooks(sources)
  const known = {
    hooks: hooks.list(),
    untrusted: hooks.untrusted(),
    expectations: (await unmetIn(sources, hooks.expectations())).expectations,
    settings: hooks.settings,
    notices: noticesOf(hooks),
  }
  await hooks.close()
  const { specs, files } = await readFiles(sources)
  const [project, home] = [projectFolder(sources), userHome()]
  return { sources, project, home, specs, files: [...files.keys()], ...known }
}

/** The place of a hook's matcher, which may have a line of its own. */
export function matcherPlace({ hook: { origin } }: ConfiguredHook): Pick<Written['where'], 'file' | 'line'> {
  const { file, line } = origin
  const at = origin instanceof FileOrigin ? origin.matcherLine() : line
  return { ...(file !== undefined && { file }), ...(at !== undefined && { line: at }) }
}

/** A hook in a file, with its place for findings. */
export interface Written {
  readonly spec: ConfiguredHook
  readonly where: { readonly hook: string; readonly file?: string; readonly line?: number }
}

/** Leaves out hooks that a setting or the user switched off. */
export function wanted({
  specs,
  hooks = [],
}: Pick<Facts, 'specs'> & Partial<Pick<Facts, 'hooks'>>): readonly Written[] {
  const off = new Set(hooks.filter(({ state }) => state === 'disabled').map(({ id }) => id))
  return specs.filter(({ disabled, hook }) => disabled === undefined && !off.has(hook.id)).map(written)
}

export function written(spec: ConfiguredHook): Written {
  const { file, line } = spec.hook.origin
  return {
    spec,
    where: {
      hook: spec.hook.name,
      ...(file !== undefined && { file }),
      ...(line !== undefined && { line }),
    },
  }
}
