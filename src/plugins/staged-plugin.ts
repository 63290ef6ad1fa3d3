// A plugin before it is installed: written where nobody looks for hooks, and read as it will be read in its place.

import { mkdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { ConfiguredHook } from '../config/configured-hook.js'
import { hooksDirOf } from '../config/discovery.js'
import { loadConfig } from '../config/load.js'
import { unitsOf } from '../config/units.js'
import type { Diagnostic } from '../core/base/errors.js'
import type { Unit } from '../trust/unit.js'
import { PluginProblem } from './plugin-problem.js'
import type { FileTree } from './sources/file-tree.js'
import { writeTree } from './sources/tree-files.js'
import { makeWorkFolder } from './work-folder.js'

export interface StagedPlugin {
  readonly unit: Unit
  readonly hooks: readonly ConfiguredHook[]
  /** What loading it will say. */
  readonly diagnostics: readonly Diagnostic[]
  /** Whoever staged it calls it. */
  readonly remove: () => void
}

/** `projectDir`: the project that it is for. Throws where there are no hooks in it. */
export async function stagePlugin(
  tree: FileTree,
  name: string,
  projectDir: string | undefined,
): Promise<StagedPlugin> {
  const work = makeWorkFolder()
  const remove = () => rmSync(work, { recursive: true, force: true })
  try {
    const folder = join(hooksDirOf(work), name)
    mkdirSync(dirname(folder), { recursive: true })
    writeTree(tree, folder)
    const { specs, diagnostics } = await loadConfig({ projectDir: work })
    const [found] = [...unitsOf(specs)].filter(([unit]) => unit.path === folder)
    if (!found) throw noHooks(diagnostics)
    const [unit, hooks] = found
    // What a command names in the project is in that project, not in this one.
    return { unit: { ...unit, projectDir: projectDir ?? work }, hooks, diagnostics, remove }
  } catch (error) {
    remove()
    throw error
  }
}

function noHooks(diagnostics: readonly Diagnostic[]): PluginProblem {
  const [first] = diagnostics
  return new PluginProblem(
    'NO_HOOKS',
    first === undefined
      ? 'There are no hooks in this plugin'
      : `There are no hooks in this plugin that could run: ${first.text}`,
    'Carabiner runs hooks; commands, agents and skills of a plugin are for the agent itself.',
  )
}
