// The hooks of files as they are written, with what a list or a plan does not carry. Runs nothing.

import { homedir } from 'node:os'
import { resolve } from 'node:path'
import type { ConfiguredHook } from '../config/configured-hook.js'
import { loadConfig } from '../config/load.js'
import type { Origin } from '../core/hooks/hook.js'
import { type Places, projectFolder } from './sources.js'

export async function readFiles(places: Places) {
  return loadConfig({
    projectDir: projectFolder(places),
    homeDir: homedir(),
    plugins: places.plugin.map((path) => resolve(path)),
    files: places.config.map((path) => resolve(path)),
  })
}

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
