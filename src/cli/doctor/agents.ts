// Agents other than Claude Code that setup registered hooks with: whether they can start them, and run them at all. Agents
// with MCP servers behind the proxy are told too.

import { visible } from '../../core/base/text.js'
import type { HostProblem } from '../../hosts/host-setup.js'
import { filesOf, isGone } from '../../hosts/own-command.js'
import {
  agentFiles,
  askingName,
  ownIn,
  type Registration,
  registrationsIn,
} from '../../hosts/registrations.js'
import { counted, shortPath } from '../print/lines.js'
import { proxiedServers } from '../setup/proxied-servers.js'
import type { Facts } from './facts.js'
import type { Checked, Finding } from './finding.js'

export async function agents({ project }: Facts): Promise<Checked> {
  const all = registrationsIn(await agentFiles(project), project).filter(
    ({ host }) => host.name !== 'claude-code',
  )
  const titles = [...new Set(all.map(askingName))]
  const asking = `${titles.join(', ')} ${titles.length === 1 ? 'asks' : 'ask'} Carabiner`
  const what = [titles.length === 0 ? 'no other agent asks Carabiner' : asking, ...proxied(project)]
  return { what: what.join('; '), findings: all.flatMap(findingsOn) }
}

function proxied(project: string): readonly string[] {
  const found = proxiedServers(project)
  if (found.length === 0) return []
  const servers = new Set(found.flatMap(({ client, names }) => names.map((name) => `${client.name} ${name}`)))
  const titles = [...new Set(found.map(({ client }) => client.title))]
  const are = servers.size === 1 ? 'is' : 'are'
  return [`${counted(servers.size, 'MCP server')} of ${titles.join(', ')} ${are} behind carabiner mcp`]
}

function findingsOn({ host, isProject, files, problems }: Registration): readonly Finding[] {
  const fix = `carabiner setup ${host.name}${isProject ? ' --project' : ''}`
  return [
    ...files.flatMap(({ path, commands }) => goneIn(path, commands, fix)),
    ...problems.map((problem) => findingOf(problem, fix)),
  ]
}

function goneIn(file: string, commands: Parameters<typeof ownIn>[0], fix: string): readonly Finding[] {
  const gone = new Set(ownIn(commands).flatMap(filesOf).filter(isGone))
  return [...gone].map((path) => {
    const text = `${visible(shortPath(path))} is gone, so its hooks cannot start`
    return { severity: 'broken', code: 'registration', file, text, fix }
  })
}

/** `repair`: for problems that setup repairs. */
function findingOf(problem: HostProblem, repair: string): Finding {
  return {
    ...problem,
    code: problem.fix === undefined ? 'registration' : 'hooks-off',
    text: visible(problem.text),
    fix: problem.fix ?? repair,
  }
}
