// Which files of cases a folder has, and whose hooks each of them is about.

import { existsSync, readdirSync, realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { hooksDirOf } from '../../config/discovery.js'
import { isFolder } from '../../runners/command/start-folder.js'
import { Refusal } from '../refusal.js'

export const CASE_FILE = 'hooks.test.json'

/** The hooks that cases are run against. */
export interface Subject {
  /** As it is called in the report. */
  readonly name: string
  readonly file: string
  /** Of a plugin. */
  readonly plugin?: string
  /** The project whose own hooks.json it is about. */
  readonly project?: string
}

/** `where`: a plugin, a project with plugins, or a file of cases. */
export function findCases(where: string): readonly Subject[] {
  const path = realPath(where)
  if (!isFolder(path)) return [besideOf(path)]
  // Who stands in .amplifier/hooks means the project.
  return isHooksDir(path) ? inProject(dirname(dirname(path))) : [...inPlugin(path), ...inProject(path)]
}

function realPath(where: string): string {
  try {
    return realpathSync(resolve(where))
  } catch {
    throw new Refusal('PROJECT_NOT_FOUND', `There is no ${where}`, {
      hint: 'Give the folder of a plugin or of a project, or change into it: carabiner test [DIR]',
    })
  }
}

/** A file of cases that was named. */
function besideOf(file: string): Subject {
  const plugin = pluginOf(file)
  return plugin === undefined ? ofProject(dirname(dirname(dirname(file))), file) : ofPlugin(plugin, file)
}

/** The plugin that a file of cases is about; undefined where it is about a project's own hooks. */
export function pluginOf(file: string): string | undefined {
  const folder = dirname(file)
  if (isHooksDir(folder)) return undefined
  const isLower = basename(folder) === 'hooks' && isPlugin(dirname(folder))
  return isLower ? dirname(folder) : folder
}

function isHooksDir(folder: string): boolean {
  return basename(folder) === 'hooks' && basename(dirname(folder)) === '.amplifier'
}

function inPlugin(folder: string): readonly Subject[] {
  return [join(folder, CASE_FILE), join(folder, 'hooks', CASE_FILE)]
    .filter((file) => existsSync(file))
    .map((file) => ofPlugin(folder, file))
}

function inProject(project: string): readonly Subject[] {
  const hooksDir = hooksDirOf(project)
  const own = join(hooksDir, CASE_FILE)
  const plugins = namesIn(hooksDir).flatMap((name) => inPlugin(join(hooksDir, name)))
  return [...(existsSync(own) ? [ofProject(project, own)] : []), ...plugins]
}

function namesIn(folder: string): readonly string[] {
  if (!isFolder(folder)) return []
  const entries = readdirSync(folder, { withFileTypes: true })
  return entries
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
    .map(({ name }) => name)
    .sort()
}

function ofPlugin(plugin: string, file: string): Subject {
  return { name: basename(plugin), file, plugin }
}

function ofProject(project: string, file: string): Subject {
  return { name: 'project', file, project }
}

/** Whether hooks of a plugin are looked for in it. */
export function isPlugin(folder: string): boolean {
  return ['hooks.json', join('hooks', 'hooks.json'), '.claude-plugin'].some((name) =>
    existsSync(join(folder, name)),
  )
}
