// What to type if there are no hooks yet, or if no agent asks them.

import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { type AgentCommand, agentCommands } from '../doctor/agent-files.js'
import { fromHere, shortPath } from '../print/lines.js'
import { typed } from '../print/next-command.js'
import { projectOf, type Sources, sourcesOf } from '../sources.js'

/** Points to hooks elsewhere, or else says how to make one. */
export function firstSteps(sources: Sources): readonly string[] {
  const project = projectOf(sources)
  // The commands below take no other option of the sources.
  const here = sourcesOf(sources.project)
  const isPlugin = PLUGIN_FILES.some((file) => existsSync(join(project, file)))
  const above = projectAbove(project)
  const elsewhere = [
    ...(isPlugin
      ? [`${typed(['list', '--plugin', fromHere(project)], sources)}   # this folder is a plugin`]
      : []),
    ...(above === undefined
      ? []
      : [
          `${typed(['list', '--project', fromHere(above)], { ...sources, project: undefined })}   # ${shortPath(above)} has .amplifier`,
        ]),
  ]
  const theirs = claudeHooks(project).find(({ command }) => !isOwn(command))
  return [
    ...(theirs ? [`${typed(['migrate'], here)}   # ${shortPath(theirs.file)} has hooks of Claude Code`] : []),
    ...elsewhere,
    ...(elsewhere.length > 0 ? [] : [`${typed(['new', ...FIRST], here)}   # a first hook, with its tests`]),
  ]
}

const PLUGIN_FILES = ['.claude-plugin/plugin.json', 'hooks/hooks.json', 'hooks.json']
const FIRST = ['my-guard', '--matcher', 'Bash']

function claudeHooks(project: string): readonly AgentCommand[] {
  const folder = join(project, '.claude')
  return agentCommands({ project, home: homedir() }).commands.filter(({ file }) => dirname(file) === folder)
}

/** A project further up, above the repository or owned by another user. */
function projectAbove(project: string): string | undefined {
  const home = resolve(homedir())
  for (let folder = dirname(project); ; folder = dirname(folder)) {
    if (folder !== home && existsSync(join(folder, '.amplifier'))) return folder
    if (folder === dirname(folder)) return undefined
  }
}

/** Empty if an agent already has Carabiner in its settings. */
export function setupStep(project: string, hasHooks: boolean): readonly string[] {
  const { commands } = agentCommands({ project, home: homedir() })
  if (commands.some(({ command }) => isOwn(command))) return []
  return hasHooks
    ? ['carabiner setup claude-code --engine   # no agent asks these hooks yet: Claude Code would']
    : ['carabiner setup claude-code   # the standard hooks, for Claude Code']
}

function isOwn(command: string): boolean {
  return /\bcarabiner(?:\.js)?["']?\s+(?:fire|hook)\b/.test(command)
}
