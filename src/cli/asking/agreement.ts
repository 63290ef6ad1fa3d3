// A question that somebody answers with yes or no, at the terminal.

import { checkPerson } from '../agent-shell.js'
import type { Output } from '../output.js'
import { isTerminal } from '../terminal.js'
import { answerOf, forgetTyped } from './answer.js'

export function canAsk(): boolean {
  return isTerminal(0) && isTerminal(1)
}

/** Throws in an agent's shell, which may be a terminal, too. */
export async function agrees(question: string, output: Output): Promise<boolean> {
  checkPerson('Answering')
  // What was typed before the question is no answer to it.
  forgetTyped()
  await output.prompt(`${question} [y/N] `)
  return /^y(?:es)?$/i.test((await answerOf()).trim())
}
