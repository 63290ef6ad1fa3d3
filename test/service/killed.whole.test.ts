// A service that is killed with -9: the next one ends the processes of warm hooks that it left.

import { statSync } from 'node:fs'
import { afterEach, describe, expect, it } from 'vitest'
import { withProgram } from '../cli/program.js'
import { isThere } from '../runners/until.js'
import { eventually, isServable, Scene } from './scene.js'

withProgram('own')

let scene: Scene | undefined
afterEach(async () => {
  await scene?.remove()
  scene = undefined
})

const BASH = {
  hook_event_name: 'PreToolUse',
  session_id: 's',
  tool_name: 'Bash',
  tool_input: { command: 'ls' },
}

/** Stays when its input ends, and when it gets TERM. */
const STUBBORN = `
const reply = (id, result) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n')
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line)
  if (method === 'hook.hello') reply(id, { ok: true, name: 'gate' })
  else reply(id, { action: 'deny_tool', reason: 'process ' + process.pid })
})
process.stdout.on('error', () => {})
process.on('SIGTERM', () => {})
setInterval(() => {}, 1000)
`

describe.skipIf(!isServable)('a service that was killed', () => {
  it('leaves no warm process once the next one runs', async () => {
    const now = new Scene()
    scene = now
    const script = now.file('home/gate/gate.js', STUBBORN)
    const gate = { command: [process.execPath, script], intercept: ['before_tool'] }
    now.file('home/.amplifier/hooks/hooks.json', { processes: { gate } })
    await now.startService()
    await eventually(
      'a change of the script would be noticed',
      () => Date.now() - statSync(script).ctimeMs > 2500,
    )
    const asked = async () => {
      const { stderr } = await now.warm({ args: ['fire', '--as', 'claude-code'], input: BASH })
      return Number(/process (\d+)/.exec(stderr)?.[1])
    }
    const warm = await asked()
    const { status } = await now.service()
    expect([await asked(), status.warm]).toEqual([warm, 1])
    process.kill(status.pid, 'SIGKILL')
    await eventually('the service is gone', () => !isThere(status.pid))
    expect(isThere(warm)).toBe(true)
    await now.startService()
    await eventually('its warm process is gone', () => !isThere(warm))
    const next = await asked()
    expect(isThere(next)).toBe(true)
    await now.stopServices()
    await eventually('nothing is left', () => now.left().length === 0)
  })
})
