// What does loading many plugins cost over reading and parsing their files?

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { createHooks } from 'carabiner'
import { cpuClock, race } from './measure.mjs'

export const HOOKS = 200
/** A file that was just written may have changed again within the same tick of the clock, so it is always read. */
export const OF_AGE_MS = 2500

export async function bench() {
  const project = mkdtempSync(join(tmpdir(), 'carabiner-bench-'))
  const home = join(project, 'home')
  const folder = join(project, '.amplifier', 'hooks')
  for (let i = 0; i < HOOKS; i++) {
    const plugin = join(folder, `plugin-${String(i).padStart(3, '0')}`)
    mkdirSync(plugin, { recursive: true })
    writeFileSync(join(plugin, 'hooks.json'), JSON.stringify(hooksOf(i), null, 2))
  }
  await setTimeout(OF_AGE_MS)
  const kept = await createHooks({ projectDir: project, home, trust: 'all', globals: false })
  const rounds = await race(
    {
      parse: async () => {
        for (const plugin of readdirSync(folder).sort()) {
          JSON.parse(readFileSync(join(folder, plugin, 'hooks.json'), 'utf8'))
        }
      },
      load: async () => {
        const hooks = await createHooks({ projectDir: project, home, trust: 'all', globals: false })
        await hooks.close()
      },
      reload: () => kept.reload(),
    },
    { calls: 2, clock: cpuClock },
  )
  await kept.close()
  rmSync(project, { recursive: true })
  return [
    rounds.row(`load ${HOOKS} plugins / read and parse their files`, 'load', 'parse', { limit: 3 }),
    rounds.row(`reload ${HOOKS} unchanged plugins / read and parse their files`, 'reload', 'parse', {
      limit: 0.5,
    }),
  ]
}

/** As real ones are: a few events, matchers and time-outs. */
export function hooksOf(i) {
  const command = `"\${CLAUDE_PLUGIN_ROOT}/check-${i}.sh"`
  return {
    description: `Checks what agents write, number ${i}`,
    hooks: {
      PreToolUse: [{ matcher: 'Write|Edit', hooks: [{ type: 'command', command, timeout: 10 }] }],
      PostToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command: `${command} --after` }] }],
      Stop: [{ hooks: [{ type: 'command', command: `${command} --stop`, timeout: 30 }] }],
    },
  }
}
