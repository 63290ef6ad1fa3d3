// The person at the keyboard: who it is, and that it is not an agent.

import { userInfo } from 'node:os'
import { agentMark } from '../files/agent-shell.js'
import { Refusal } from './refusal.js'

export function isAgentShell(): boolean {
  return agentMark() !== undefined
}

/** Throws in an agent's shell. `what`: the act that is left to people. */
export function checkPerson(what: string): void {
  const mark = agentMark()
  if (mark === undefined) return
  throw new Refusal('NOT_A_PERSON', `${what} is for a person, but ${mark}`, {
    hint: 'Run the same command in your own terminal.',
  })
}

/** The name under which a decision goes on record. */
export function userName(): string {
  try {
    return userInfo().username
  } catch {
    return process.getuid === undefined ? 'person' : `user ${process.getuid()}`
  }
}
