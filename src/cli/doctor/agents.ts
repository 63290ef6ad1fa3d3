// Agents other than Claude Code that setup registered hooks with: whether they can start them, and run them at all.

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
import { shortPath } from '../print/lines.js'
import type { Facts } from './facts.js'
import type { Checked, Finding } from './finding.js'

export async function agents({ project }: Facts): Promise<Checked> {
  const all = registrationsIn(await agentFiles(project), project).filter(
    ({ host }) => host.name !== 'claude-code',
  )
  const titles = [...new Set(all.map(askingName))]
  const asking = `${titles.join(', ')} ${titles.length === 1 ? 'asks' : 'ask'} Carabiner`
  return {
    what: titles.length === 0 ? 'no other agent asks Carabiner' : asking,
    findings: all.flatMap(findingsOn),
  }
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
