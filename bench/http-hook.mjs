// What does an HTTP hook cost over a bare fetch from the same server, one call after the other on a kept connection?

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createHooks } from 'carabiner'
import { cpuClock, race } from './measure.mjs'

const CALL = { tool_name: 'Bash', tool_input: { command: 'npm test' }, cwd: process.cwd() }
const PAYLOAD = JSON.stringify({ session_id: 'http', hook_event_name: 'PreToolUse', ...CALL })

export async function bench() {
  const home = mkdtempSync(join(tmpdir(), 'carabiner-bench-'))
  const server = spawn(process.execPath, [
    fileURLToPath(new URL('programs/answer-http.mjs', import.meta.url)),
  ])
  const [port] = await once(server.stdout, 'data')
  const url = `http://127.0.0.1:${String(port).trim()}/`
  const { hooks, fire } = await opened(home, url)
  const rounds = await race({ fetch: () => bareFetch(url), engine: fire }, { clock: cpuClock })
  await hooks.close()
  server.kill()
  rmSync(home, { recursive: true })
  return [rounds.row('HTTP hook / bare fetch', 'engine', 'fetch', { limit: 1.3 })]
}

async function bareFetch(url) {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(url, { method: 'POST', headers, body: PAYLOAD })
  return response.json()
}

/** A hook of the user, who may ask his own machine. */
async function opened(home, url) {
  const folder = join(home, '.amplifier', 'hooks')
  const project = join(home, 'project')
  for (const one of [folder, project]) mkdirSync(one, { recursive: true })
  const groups = [{ matcher: 'Bash', hooks: [{ type: 'http', url }] }]
  writeFileSync(join(folder, 'hooks.json'), JSON.stringify({ hooks: { PreToolUse: groups } }))
  const hooks = await createHooks({ projectDir: project, home, globals: false })
  const session = hooks.session({ id: 'http' })
  const { permission, diagnostics } = await session.fire('PreToolUse', CALL)
  if (permission !== 'allow') throw new Error(`The hook did not run: ${JSON.stringify(diagnostics)}`)
  return { hooks, fire: () => session.fire('PreToolUse', CALL) }
}
