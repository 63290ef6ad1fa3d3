// Hook files of other agents in a project that Carabiner does not run, and the command that makes it run them.

import { readdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { shellQuoted } from '../../effects/shell/shell-quoted.js'
import { callerPath } from '../../files/caller.js'
import type { AgentSystem } from '../../hosts/hook-files/agent-system.js'
import { hookFiles } from '../../hosts/hook-files/hook-files.js'
import { carabiner } from '../../hosts/hook-files/own-formats.js'
import { planAgentMigration } from '../../plugins/migrate/agent-migration.js'
import { shortPath } from '../print/lines.js'
import { typed } from '../print/next-command.js'
import { type Places, projectOf } from '../sources.js'
import type { NotRun } from './not-run.js'

/** Files that were named with --config run, so they are left out. */
export async function notRunHere(places: Pick<Places, 'project' | 'config'>): Promise<readonly NotRun[]> {
  const project = projectOf(places)
  const named = new Set(places.config.map((path) => callerPath(path)))
  const agents = await hookFiles()
  return agents.flatMap((agent) =>
    filesOf(agent, project)
      .filter((file) => !named.has(file))
      .flatMap((file) => notRun(agent, file, { ...places, project })),
  )
}

/** Some agents read every file of a folder. The place of others says nothing about whose file it is. */
function filesOf({ file, isAt }: AgentSystem, project: string): readonly string[] {
  if (!isAt.test(`/${file}`)) return []
  const path = join(project, file)
  if (basename(dirname(file)) !== 'hooks') return [path]
  try {
    const names = readdirSync(dirname(path)).filter((name) => /\.(?:json|hook)$/.test(name))
    return names.sort().map((name) => join(dirname(path), name))
  } catch {
    return []
  }
}

function notRun(
  agent: AgentSystem,
  file: string,
  { project }: Pick<Places, 'project'> & { readonly project: string },
): readonly NotRun[] {
  try {
    const plan = planAgentMigration({
      from: agent,
      to: carabiner,
      projectDir: project,
      source: file,
      target: undefined,
    })
    const hooks = plan.moved.filter(({ isNew, title }) => isNew && !OURS.test(title)).length
    if (hooks === 0) return []
    const words = file === join(project, agent.file) ? [] : [shellQuoted(shortPath(file))]
    const migrate = typed(['migrate', ...words, '--from', agent.name, '--write'], { project: undefined })
    return [{ agent: agent.name, title: agent.title, file, hooks, migrate }]
  } catch {
    return [] // Its agent cannot read it either, or something else is in its place.
  }
}

/** Entries that `setup` wrote. */
const OURS = /Carabiner is gone|\bcarabiner(?:\.js)?\W+(?:fire|hook)\b/
