// Finds files of cases, and the hooks that each of them tests.

import { existsSync, readdirSync, realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { hooksDirOf } from '../../config/discovery.js'
import { didYouMean } from '../../core/base/text.js'
import { isFolder } from '../../files/folder.js'
import { projectAround } from '../../files/which-project.js'
import { realOf } from '../../files/within.js'
import { isCalled } from '../../plugins/plugin-name.js'
import { shortPath } from '../print/lines.js'
import { Refusal } from '../refusal.js'
import { sourcesOf, specsIn } from '../sources.js'

export const CASE_FILE = 'hooks.test.json'

/** The hooks under test. */
export interface Subject {
  /** Its name in the report. */
  readonly name: string
  readonly file: string
  /** The folder of the plugin. */
  readonly plugin?: string
  /** The project whose own hooks are tested. */
  readonly project?: string
  /** Plugins of that project, if all its hooks are tested. */
  readonly plugins?: readonly string[]
  /** The hook file that is tested, and the project that its commands start in. */
  readonly config?: { readonly file: string; readonly project: string }
}

/** The cases of one hook file, of any agent: `hooks.test.json` beside `hooks.json`, unless they are somewhere else. */
export function casesOfFile(config: string, where: string | undefined): Subject {
  const file = realPath(config)
  if (!existsSync(file)) throw new Refusal('NO_CASES', `There is no file ${shortPath(file)}`)
  const cases =
    where === undefined
      ? join(dirname(file), `${basename(file).replace(/\.[^.]*$/, '')}.test.json`)
      : realPath(where)
  if (!existsSync(cases)) {
    throw new Refusal('NO_CASES', `There is no ${shortPath(cases)}`, {
      hint: 'Write one, or name the file of cases: carabiner test CASES --config FILE.',
    })
  }
  return { name: basename(file), file: cases, config: { file, project: projectOfFile(file) } }
}

/** The project around a file, else the folder around the agent's own: `.cursor/hooks.json` belongs to the folder above. */
function projectOfFile(file: string): string {
  const project = realOf(projectAround(dirname(file)))
  if (project !== dirname(file) || !basename(project).startsWith('.')) return project
  return dirname(project)
}

/** `where`: a plugin, a project with plugins, or a file of cases. */
export function findCases(where: string): readonly Subject[] {
  const path = realPath(where)
  if (!isFolder(path)) return [besideOf(path)]
  // .amplifier/hooks stands for its project.
  return isHooksDir(path) ? inProject(dirname(dirname(path))) : [...inPlugin(path), ...inProject(path)]
}

/** Like findCases(), but also takes the name of a plugin of the project or the user. Throws if there is none. */
export async function casesOf(where: string): Promise<readonly Subject[]> {
  const isName = /^[^/\\]*[^/\\.][^/\\]*$/.test(where)
  const isPath = !isName || existsSync(where)
  const subjects = isPath ? findCases(where) : []
  if (subjects.length > 0) return subjects
  const plugins = isName ? await installed() : new Map<string, string>()
  const roots = [...plugins].filter(([root, name]) => isCalled(where, name, root)).map(([root]) => root)
  const cases = roots.flatMap(inPlugin)
  if (cases.length > 0) return cases
  if (!isPath && roots.length === 0) throw absent(where, new Set(plugins.values()))
  throw new Refusal('NO_CASES', `There is no ${CASE_FILE} in ${shortPath(roots[0] ?? resolve(where))}`, {
    hint:
      `Write one beside hooks.json: {"cases": [{"event": "PreToolUse", "payload": {"tool_name": "Bash", ` +
      `"tool_input": {"command": "ls"}}, "expect": {"action": "continue"}}]}; or let carabiner fire --record FILE make it.`,
  })
}

/** Folders of plugins, with their names in `list`. */
async function installed(): Promise<ReadonlyMap<string, string>> {
  const specs = await specsIn(sourcesOf(undefined))
  return new Map(
    specs.flatMap(({ hook, place: { plugin } }) =>
      plugin ? [[realOf(plugin.root), hook.origin.source] as const] : [],
    ),
  )
}

function realPath(where: string): string {
  try {
    return realpathSync(resolve(where))
  } catch {
    throw absent(where, [])
  }
}

function absent(where: string, names: Iterable<string>): Refusal {
  return new Refusal('PROJECT_NOT_FOUND', `There is no ${where}${didYouMean(where, [...names])}`, {
    hint: 'Give the folder of a plugin or of a project, a file of cases, or the name of a plugin that carabiner list shows.',
  })
}

/** The subject of a file of cases. */
function besideOf(file: string): Subject {
  const plugin = pluginOf(file)
  if (plugin !== undefined) return ofPlugin(plugin, file)
  if (isHooksDir(dirname(file))) return ofProject(dirname(dirname(dirname(file))), file)
  const project = projectAround(dirname(file))
  const hooksDir = hooksDirOf(project)
  if (!isFolder(hooksDir)) {
    throw new Refusal(
      'NO_CASES',
      `${shortPath(file)} does not belong to any hooks: it is in no plugin and in no project`,
      {
        hint: `Put it beside the hooks.json of a plugin, as ${CASE_FILE}, or into a project with .amplifier/hooks.`,
      },
    )
  }
  const plugins = namesIn(hooksDir).map((name) => realOf(join(hooksDir, name)))
  return { ...ofProject(project, file), plugins: plugins.filter(isPlugin) }
}

/** The plugin that a file of cases tests; undefined for the hooks of a project. */
export function pluginOf(file: string): string | undefined {
  const folder = dirname(file)
  if (isHooksDir(folder)) return undefined
  const isLower = basename(folder) === 'hooks' && isPlugin(dirname(folder))
  if (isLower) return dirname(folder)
  return isPlugin(folder) || isHooksDir(dirname(folder)) ? folder : undefined
}

export function isHooksDir(folder: string): boolean {
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

/** Whether the folder is a plugin. */
export function isPlugin(folder: string): boolean {
  return ['hooks.json', join('hooks', 'hooks.json'), '.claude-plugin'].some((name) =>
    existsSync(join(folder, name)),
  )
}
