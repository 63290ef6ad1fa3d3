// What does loading many plugins cost over reading and parsing their files?

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createHooks } from 'carabiner'
import { race } from './measure.mjs'

const PLUGINS = 200

export async function bench() {
  const project = mkdtempSync(join(tmpdir(), 'carabiner-bench-'))
  const home = join(project, 'home')
  const folder = join(project, '.amplifier', 'hooks')
  for (let i = 0; i < PLUGINS; i++) {
    const plugin = join(folder, `plugin-${String(i).padStart(3, '0')}`)
    mkdirSync(plugin, { recursive: true })
    writeFileSync(join(plugin, 'hooks.json'), JSON.stringify(hooksOf(i), null, 2))
  }
  const us = await race(
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
    },
    { calls: 2 },
  )
  rmSync(project, { recursive: true })
  const name = `load ${PLUGINS} plugins / read and parse their files`
  return [{ name, unit: 'ms', value: us.load / 1000, baseline: us.parse / 1000, limit: 3 }]
}

/** As real ones are: a few events, matchers and time-outs. */
function hooksOf(i) {
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
