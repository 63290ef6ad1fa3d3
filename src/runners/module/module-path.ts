// The file of a module: where it is, and whether this version of Node.js can run it.

import { basename } from 'node:path'
import { HookError } from '../../core/base/errors.js'
import { expandArgument } from '../program/environment.js'
import type { ModuleSpec } from './module-hook.js'

export function modulePath({ handler, place }: Pick<ModuleSpec, 'handler' | 'place'>): string {
  const { projectDir, hooksDir, plugin, skillDir } = place
  return expandArgument(handler.path, {
    CLAUDE_PROJECT_DIR: projectDir,
    AMPLIFIER_PROJECT_DIR: projectDir,
    AMPLIFIER_HOOKS_DIR: hooksDir,
    ...(plugin && {
      CLAUDE_PLUGIN_ROOT: plugin.root,
      PLUGIN_ROOT: plugin.root,
      CLAUDE_PLUGIN_DATA: plugin.dataDir,
    }),
    ...(skillDir !== undefined && { CLAUDE_SKILL_DIR: skillDir, AMPLIFIER_SKILL_DIR: skillDir }),
  })
}

const TYPESCRIPT = /\.[cm]?tsx?$/

interface Runtime {
  readonly features: { readonly typescript?: unknown }
  readonly versions: NodeJS.ProcessVersions
}

/** Node.js runs TypeScript, by removing its types, from 22.18 and 23.6 on. */
export function typeScriptProblem(
  path: string,
  runtime: Runtime = process as Runtime,
): HookError | undefined {
  const { features, versions } = runtime
  if (!TYPESCRIPT.test(path) || features.typescript || versions.bun !== undefined) return undefined
  return new HookError(
    'HOOK_NOT_STARTED',
    `${basename(path)} is TypeScript, which Node.js ${versions.node} does not run`,
    { hint: 'Use Node.js 22.18, 23.6 or later, or compile it to JavaScript and name that file.' },
  )
}
