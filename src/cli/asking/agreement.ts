// A question that somebody answers with yes or no, at the terminal.

import type { Output } from '../output.js'
import { isTerminal } from '../terminal.js'
import { answerOf, forgetTyped } from './answer.js'

export function canAsk(): boolean {
  return isTerminal(0) && isTerminal(1)
}

export async function agrees(question: string, output: Output): Promise<boolean> {
  // What was typed before the question is no answer to it.
  forgetTyped()
  await output.prompt(`${question} [y/N] `)
  return /^y(?:es)?$/i.test((await answerOf()).trim())
}
