// Do hooks that do not match slow down the few that do?

import { HookRegistry } from 'carabiner'
import { cpuClock, race } from './measure.mjs'

const MATCHING = 3
const SIZES = [4, 16, 64, 65, 1000, 10_000]

export async function bench() {
  const data = { tool_name: 'Bash', tool_input: { command: 'npm test' } }
  const rounds = await race(
    Object.fromEntries(
      [MATCHING, ...SIZES].map((size) => {
        const registry = registryOf(size)
        return [`of ${size}`, () => registry.emit('PreToolUse', data)]
      }),
    ),
    { clock: cpuClock },
  )
  return SIZES.map((size) => {
    const name = `${size.toLocaleString('en')} hooks, ${MATCHING} match / ${MATCHING} hooks`
    return rounds.row(name, `of ${size}`, `of ${MATCHING}`, { limit: 1.3 })
  })
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
