// Whether an agent's own shell runs this command: what only a person may decide is refused there.

import { Refusal } from './refusal.js'

/** What agents set in the shells that they start. Whoever means to deceive unsets it: this stops who merely tries. */
const MARKS = ['CLAUDECODE', 'CODEX_SANDBOX', 'CURSOR_AGENT', 'GEMINI_CLI'] as const

/** Throws where an agent decides in a person's place. */
export function checkPerson(what: string): void {
  const mark = MARKS.find((name) => process.env[name])
  if (mark === undefined) return
  throw new Refusal('NOT_A_PERSON', `${what} is for a person, and ${mark} says that an agent runs this`, {
    hint: 'Type the same in a terminal of your own.',
  })
}
