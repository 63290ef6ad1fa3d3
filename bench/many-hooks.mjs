// Do hooks that do not match slow down the few that do?

import { HookRegistry } from 'carabiner'
import { race } from './measure.mjs'

const MATCHING = 3
const SIZES = [4, 16, 64, 65, 1000, 10_000]

export async function bench() {
  const data = { tool_name: 'Bash', tool_input: { command: 'npm test' } }
  const us = await race(
    Object.fromEntries(
      [MATCHING, ...SIZES].map((size) => {
        const registry = registryOf(size)
        return [`of ${size}`, () => registry.emit('PreToolUse', data)]
      }),
    ),
  )
  return SIZES.map((size) => ({
    name: `${size.toLocaleString('en')} hooks, 3 match / 3 hooks`,
    unit: 'us',
    value: us[`of ${size}`],
    baseline: us[`of ${MATCHING}`],
    limit: 1.3,
  }))
}

/** The hooks that match are spread over the others. */
function registryOf(size) {
  const registry = new HookRegistry()
  for (let i = 0; i < size; i++) {
    const apart = Math.floor(size / MATCHING)
    const isBash = i % apart === 0 && i < apart * MATCHING
    const other = i % 2 ? `Tool${i}` : `^Tool${i}_.*$`
    registry.register('PreToolUse', async () => undefined, { matcher: isBash ? 'Bash' : other })
  }
  return registry
}
