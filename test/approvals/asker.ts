// A program that asks at the terminal: `asker REPLIES PLAN`, both files. What was answered goes to the first.

import { readFileSync, writeFileSync } from 'node:fs'
import { terminalApprover } from '../../src/asking/terminal-approver.js'
import type { Question } from '../../src/core/hooks/outcome.js'

export interface Plan {
  /** Asked at once. */
  readonly questions: readonly Question[]
  /** Hand over standard input and standard error. */
  readonly isGiven?: boolean
  /** Lives on without a terminal. */
  readonly survivesHangup?: boolean
  /** Says so after the answers, and lives on. */
  readonly stays?: boolean
  /** What SIGUSR2 does. */
  readonly onSignal?: 'abort' | 'exit' | 'throw'
}

const [replies = '', planFile = ''] = process.argv.slice(2)
const plan: Plan = JSON.parse(readFileSync(planFile, 'utf8'))
const aborting = new AbortController()
if (plan.survivesHangup) process.on('SIGHUP', () => undefined)
process.on('SIGUSR2', () => {
  if (plan.onSignal === 'abort') aborting.abort()
  if (plan.onSignal === 'exit') process.exit(3)
  if (plan.onSignal === 'throw') throw new Error('of the host')
})

const streams = plan.isGiven ? { input: process.stdin, output: process.stderr } : {}
const approver = terminalApprover({ ...streams, color: false })
const answers = await Promise.all(plan.questions.map((one) => approver(one, aborting.signal)))
writeFileSync(replies, JSON.stringify(answers))
if (plan.stays) {
  process.stderr.write('still here')
  setInterval(() => {}, 1000)
}
