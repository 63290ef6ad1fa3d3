// The file of a module: where it is, and whether this version of Node.js can run it.

import { basename, resolve } from 'node:path'
import { HookError } from '../../core/base/errors.js'
import type { Place } from '../hook-spec.js'
import { expandArgument } from '../program/environment.js'

/** `path` may begin with a placeholder for a folder. Node.js resolves `..` before it follows links, and so does this. */
export function modulePath(path: string, { projectDir, hooksDir, plugin, skillDir }: Place): string {
  const expanded = expandArgument(path, {
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
  return resolve(projectDir, expanded)
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
