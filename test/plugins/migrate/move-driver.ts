// A separate process that moves a plugin, and ends itself at a given step as kill -9 does.

import { appendFileSync } from 'node:fs'
import { placeMove, planMove } from '../../../src/plugins/migrate/plugin-move.js'

const [direction, from, into, at = '', name] = process.argv.slice(2) as [
  'carabiner' | 'claude-code',
  string,
  string,
  string?,
  string?,
]
const steps: string[] = []
const plan = planMove({ direction, from, into, name })
await placeMove(plan, (step) => {
  steps.push(step)
  if (process.env.STEPS !== undefined) appendFileSync(process.env.STEPS, `${process.pid} ${step}\n`)
  if (step === at) process.kill(process.pid, 'SIGKILL')
})
process.stdout.write(JSON.stringify(steps))
