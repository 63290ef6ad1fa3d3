// Whether an agent's own shell runs this command: what only a person may decide is refused there.

import { AGENT_VARIABLES } from '../hosts/hosts.js'
import { Refusal } from './refusal.js'

export function isAgentShell(): boolean {
  return agentMark() !== undefined
}

function agentMark(): string | undefined {
  return AGENT_VARIABLES.find((name) => process.env[name])
}

/** Throws where an agent decides in a person's place. */
export function checkPerson(what: string): void {
  const mark = agentMark()
  if (mark === undefined) return
  throw new Refusal('NOT_A_PERSON', `${what} is for a person, and ${mark} says that an agent runs this`, {
    hint: 'Type the same in a terminal of your own.',
  })
}
