// Do thousands of hooks that do not match slow down the few that do?

import { HookRegistry } from 'carabiner'
import { race } from './measure.mjs'

const REGISTERED = 10_000
const MATCHING = 3

export async function bench() {
  const data = { tool_name: 'Bash', tool_input: { command: 'npm test' } }
  const few = new HookRegistry()
  const many = new HookRegistry()
  for (let i = 0; i < REGISTERED; i++) {
    const matches = i % Math.ceil(REGISTERED / MATCHING) === 0
    const options = { matcher: matches ? 'Bash' : i % 2 ? `Tool${i}` : `^Tool${i}_.*$` }
    many.register('PreToolUse', async () => undefined, options)
    if (matches) few.register('PreToolUse', async () => undefined, options)
  }
  const us = await race({
    few: () => few.emit('PreToolUse', data),
    many: () => many.emit('PreToolUse', data),
  })
  return [
    { name: '10,000 hooks, 3 match / 3 hooks', unit: 'us', value: us.many, baseline: us.few, limit: 1.5 },
  ]
}
