// What the page shows of agents: which of them ask Carabiner, what keeps them from it, and when that was last proven.

import { visible } from '../../core/base/text.js'
import { choicesOf } from '../../hosts/entries.js'
import type { KnownHost } from '../../hosts/hosts.js'
import { agentFiles, ownIn, type Registration, registrationsIn } from '../../hosts/registrations.js'
import { SETUP_HOSTS } from '../../hosts/setups.js'
import type { Answers } from '../../page/answers.js'
import { block, place, path as shownPath } from '../../page/shown-text.js'
import type { AgentView } from '../../page/view/agents.js'
import { agentsOf, PROOF_HOSTS } from '../../verify/agents.js'
import { gather } from '../doctor/facts.js'
import { type ProofState, proofStates } from '../proof-state.js'
import { sourcesOf } from '../sources.js'

export function agentAnswers(project: string): Answers {
  return { 'GET api/agents': async () => ({ agents: await agentViews(project) }) }
}

/** Those that ask Carabiner come first, then those that are installed. */
async function agentViews(project: string): Promise<readonly AgentView[]> {
  const registrations = registrationsIn(await agentFiles(project), project)
  const { hooks } = await gather(sourcesOf(project))
  const proofs = await proofStates(hooks)
  const programs = new Map((await agentsOf(PROOF_HOSTS)).map(({ host, program }) => [host.name, program]))
  const views = SETUP_HOSTS.map((host) =>
    viewOf(host, {
      registrations: registrations.filter((one) => one.host.name === host.name),
      proof: proofs.find((one) => one.host === host.name),
      program: programs.get(host.name),
    }),
  )
  return views.sort((a, b) => rankOf(b) - rankOf(a) || a.title.localeCompare(b.title))
}

function rankOf({ asks, program }: AgentView): number {
  return (asks.length > 0 ? 2 : 0) + (program === undefined ? 0 : 1)
}

interface Known {
  readonly registrations: readonly Registration[]
  readonly proof: ProofState | undefined
  readonly program: string | undefined
}

function viewOf(host: KnownHost, { registrations, proof, program }: Known): AgentView {
  const problems = registrations.flatMap((one) => one.problems)
  const next = nextFor(host, { registrations, proof, program })
  return {
    name: host.name,
    title: host.title,
    ...(program !== undefined && { program: shownPath(program) }),
    asks: registrations.flatMap(asksOf),
    problems: problems.map(({ severity, text, file, line, fix }) => ({
      isBroken: severity === 'broken',
      text: block(text),
      ...(file !== undefined && { place: place(file, line) }),
      ...(fix !== undefined && { fix: block(fix) }),
    })),
    ...(proof && { proof: proofOf(proof) }),
    ...(next !== undefined && { next }),
  }
}

function proofOf({ at, ok, quick, held, version, stale }: ProofState): AgentView['proof'] {
  return {
    at: visible(at),
    ok,
    quick,
    held,
    stale: stale.map(block),
    ...(version !== undefined && { version: visible(version) }),
  }
}

function asksOf({ files, isProject }: Registration): AgentView['asks'] {
  return files.map(({ path, commands }) => {
    const own = ownIn(commands)
    const pack = choicesOf(own.filter(({ call }) => call === 'hook').map(({ name }) => name))
    const isEngine = own.some(({ call }) => call === 'fire')
    return {
      file: shownPath(path),
      isProject,
      what: [...(isEngine ? ['your hooks and rules'] : []), ...pack.map(visible)],
    }
  })
}

/** The command to type next, if there is one. */
function nextFor(host: KnownHost, { registrations, proof, program }: Known): string | undefined {
  const isAsking = registrations.length > 0
  if (!isAsking) return program === undefined ? undefined : `carabiner setup ${host.name}`
  const isBroken = registrations.some(({ problems }) =>
    problems.some(({ severity, fix }) => severity === 'broken' && fix === undefined),
  )
  if (isBroken) return `carabiner setup ${host.name}`
  const isGood = proof?.ok === true && proof.stale.length === 0
  const canProve = program !== undefined && PROOF_HOSTS.some(({ name }) => name === host.name)
  return isGood || !canProve ? undefined : `carabiner verify ${host.name}`
}
