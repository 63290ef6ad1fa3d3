// What the checks look at, gathered once: the hooks as files have them, and as they stand. Runs nothing.

import { homedir } from 'node:os'
import { resolve } from 'node:path'
import type { ConfiguredHook } from '../../config/configured-hook.js'
import { loadConfig } from '../../config/load.js'
import type { MergedSettings } from '../../config/merged-settings.js'
import type { Untrusted } from '../../config/trust-gate.js'
import type { Diagnostic } from '../../core/errors.js'
import type { Origin } from '../../core/hook.js'
import type { ListedHook } from '../../hooks.js'
import { noticesOf, openHooks, type Places, projectFolder, type Sources } from '../sources.js'

export interface Facts {
  readonly sources: Sources
  readonly project: string
  readonly home: string
  /** Of every file, also those that do not run. */
  readonly specs: readonly ConfiguredHook[]
  /** The files that were read. */
  readonly files: readonly string[]
  readonly hooks: readonly ListedHook[]
  readonly untrusted: readonly Untrusted[]
  readonly settings: MergedSettings
  readonly notices: readonly Diagnostic[]
}

export async function gather(sources: Sources): Promise<Facts> {
  const hooks = await openHooks(sources)
  const known = {
    hooks: hooks.list(),
    untrusted: hooks.untrusted(),
    settings: hooks.settings,
    notices: noticesOf(hooks),
  }
  await hooks.close()
  const { specs, files } = await readFiles(sources)
  const [project, home] = [projectFolder(sources), homedir()]
  return { sources, project, home, specs, files: [...files.keys()], ...known }
}

async function readFiles(places: Places) {
  return loadConfig({
    projectDir: projectFolder(places),
    homeDir: homedir(),
    plugins: places.plugin.map((path) => resolve(path)),
    files: places.config.map((path) => resolve(path)),
  })
}

/** The hooks of files as they are written, with what a plan does not carry. */
export async function specsIn(places: Places): Promise<readonly ConfiguredHook[]> {
  return (await readFiles(places)).specs
}

/** Of a hook in a list or a plan. Several hooks may be of one process. */
export function specOf(
  specs: readonly ConfiguredHook[],
  { name, file, line }: { readonly name: string } & Pick<Origin, 'file' | 'line'>,
): ConfiguredHook | undefined {
  return specs.find(
    ({ hook: { origin, ...hook } }) =>
      origin.file === file && origin.line === line && (hook.name === name || hook.kind === 'process'),
  )
}

/** A hook of a file, with what a finding needs of it. */
export interface Written {
  readonly spec: ConfiguredHook
  readonly where: { readonly hook: string; readonly file?: string; readonly line?: number }
}

/** Those that somebody wants to run: not what a setting or the user switched off. */
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
