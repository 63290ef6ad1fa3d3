// Agents: which of them ask Carabiner, and whether it was seen that they obey.

import { useEffect, useState } from 'preact/hooks'
import type { AgentView } from '../view/agents.js'
import { ask } from './ask.js'
import { counted, day } from './format.js'
import { Typed } from './typed.js'

export function Agents() {
  const [agents, setAgents] = useState<readonly AgentView[]>()
  const [problem, setProblem] = useState('')
  useEffect(() => {
    ask<{ readonly agents: readonly AgentView[] }>('api/agents').then(
      (found) => setAgents(found.agents),
      (error: Error) => setProblem(error.message),
    )
  }, [])
  const known = agents?.filter(({ asks, program }) => asks.length > 0 || program !== undefined) ?? []
  const others = agents?.filter((agent) => !known.includes(agent)) ?? []
  return (
    <>
      <header class="top">
        <div class="title">
          <h1>Agents</h1>
        </div>
      </header>
      {problem !== '' && (
        <p class="banner" role="alert">
          {problem}
        </p>
      )}
      {!agents && problem === '' && <p class="nothing">Looking for agents …</p>}
      {agents && known.length === 0 && <p class="nothing">No agent on this machine asks Carabiner.</p>}
      <ul class="agents">
        {known.map((agent) => (
          <Agent key={agent.name} agent={agent} />
        ))}
      </ul>
      {others.length > 0 && (
        <p class="dim">Not found on this machine: {others.map(({ title }) => title).join(', ')}.</p>
      )}
    </>
  )
}

function Agent({ agent }: { readonly agent: AgentView }) {
  const { title, program, asks, problems, proof, next } = agent
  const [state, tone] = stateOf(agent)
  return (
    <li class={`agent ${tone}`}>
      <h2>
        {title} <span class={tone}>{state}</span>
      </h2>
      <p class="dim">{program ?? 'Its program is not in PATH.'}</p>
      {asks.map(({ file, isProject, what }) => (
        <p key={file}>
          Runs {what.length === 0 ? 'a command of Carabiner' : what.join(', ')}
          {isProject ? ' in this project' : ''}: <code>{file}</code>
        </p>
      ))}
      {problems.map(({ text, place, fix, isBroken: breaks }) => (
        <p key={text} class={breaks ? 'bad' : 'dim'}>
          {text} {place !== undefined && <code>{place}</code>} {fix}
        </p>
      ))}
      {proof && <Proof proof={proof} />}
      {next !== undefined && <Typed label="Next, type" command={next} />}
    </li>
  )
}

/** Whether the agent obeys hooks, in a few words. */
function stateOf({ asks, problems, proof }: AgentView): readonly [state: string, tone: string] {
  if (asks.length === 0) return ['not set up', 'dim']
  if (problems.some((one) => one.isBroken)) return ['broken', 'bad']
  if (!proof) return ['not proven', 'dim']
  if (!proof.ok) return ['proof failed', 'bad']
  return proof.stale.length > 0 ? ['proof out of date', 'dim'] : ['proven', 'good']
}

function Proof({ proof }: { readonly proof: NonNullable<AgentView['proof']> }) {
  const { at, quick, held, version, stale } = proof
  const of = version === undefined ? '' : ` of version ${version}`
  return (
    <p class="dim">
      {quick ? 'Quick proof' : 'Proof'}
      {of}, {day(at) || 'today'}: {counted(held, 'promise')} held
      {stale.length > 0 && `. Since then ${stale.join(', ')}`}
    </p>
  )
}
