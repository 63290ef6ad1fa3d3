// Agents other than Claude Code that setup registered hooks with: whether they can start them, and run them at all.

import { visible } from '../../core/base/text.js'
import { hostText, problemsOf } from '../../hosts/host-problems.js'
import type { HostProblem } from '../../hosts/host-setup.js'
import { filesOf, isGone } from '../../hosts/own-command.js'
import { projectPlaces, userPlaces } from '../../hosts/setup.js'
import { allSetups, type KnownSetup } from '../../hosts/setups.js'
import { shortPath } from '../print/lines.js'
import { type Commands, ownIn } from '../setup/choice.js'
import type { Facts } from './facts.js'
import type { Checked, Finding } from './finding.js'

export async function agents({ project }: Facts): Promise<Checked> {
  const checked = (await allSetups())
    .filter(({ host }) => host.name !== 'claude-code')
    .flatMap((known) => agentIn(known, project))
  const titles = [...new Set(checked.map(({ title }) => title))]
  return {
    what: titles.length === 0 ? 'no other agent asks Carabiner' : `${titles.join(', ')} ask Carabiner`,
    findings: checked.flatMap(({ findings }) => findings),
  }
}

interface Agent {
  readonly title: string
  readonly findings: readonly Finding[]
}

/** One for the user's files, and one for those of the project, where they have hooks of ours. */
function agentIn(known: KnownSetup, project: string): readonly Agent[] {
  const { host, setup } = known
  return [userPlaces(setup), projectPlaces(setup, project) ?? []].flatMap((places, i) => {
    const texts = new Map<string, string>()
    for (const { path } of places) {
      const text = hostText(path)
      if (text !== undefined) texts.set(path, text)
    }
    const fix = `carabiner setup ${host.name}${i === 1 ? ' --project' : ''}`
    const found = places.map(({ path, form }) => ({ path, commands: form.commands(texts.get(path) ?? '') }))
    const own = found.filter(({ commands }) => ownIn(commands).length > 0)
    if (own.length === 0) return []
    const problems = problemsOf(setup, { project, isProject: i === 1 })
    return [
      {
        title: host.title,
        findings: [
          ...own.flatMap(({ path, commands }) => goneIn(path, commands, fix)),
          ...problems.map((problem) => findingOf(problem, fix)),
        ],
      },
    ]
  })
}

function goneIn(file: string, commands: Commands, fix: string): readonly Finding[] {
  const gone = new Set(ownIn(commands).flatMap(filesOf).filter(isGone))
  return [...gone].map((path) =>
    broken(file, `${visible(shortPath(path))} is gone, so its hooks cannot start`, fix),
  )
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

function broken(file: string, text: string, fix: string): Finding {
  return { severity: 'broken', code: 'registration', file, text, fix }
}
