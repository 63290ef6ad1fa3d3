// A process that is killed while it trusts a new version leaves the old one or the new one, and never a project without its gate.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createHooks } from 'carabiner'
import { build } from 'esbuild'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { runs } from '../property/runs.js'
import { removeAll } from './hostile-project.js'

let root: string
let project: string
let worker: string

beforeEach(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'carabiner-killed-')))
  project = join(root, 'project')
  worker = join(root, 'worker.mjs')
  vi.stubEnv('CARABINER_HOME', join(root, 'data'))
  const entry = fileURLToPath(new URL('trusting-worker.ts', import.meta.url))
  const banner = {
    js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
  }
  await build({
    entryPoints: [entry],
    outfile: worker,
    bundle: true,
    platform: 'node',
    format: 'esm',
    banner,
  })
})

afterEach(() => {
  vi.unstubAllEnvs()
  removeAll(root)
})

function version(n: number): void {
  const folder = join(project, '.amplifier/hooks/guard')
  mkdirSync(folder, { recursive: true })
  const hooks = { PreToolUse: [{ hooks: [{ type: 'command', command: '"$CLAUDE_PLUGIN_ROOT"/gate.sh' }] }] }
  writeFileSync(join(folder, 'hooks.json'), JSON.stringify({ hooks }))
  writeFileSync(join(folder, 'gate.sh'), `#!/bin/sh\necho version ${n} >&2\nexit 2\n`)
  chmodSync(join(folder, 'gate.sh'), 0o755)
}

/** Ends it after this many milliseconds; undefined lets it finish. */
async function trusting(killAfter?: number): Promise<void> {
  const child = spawn(process.execPath, [worker, project], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  if (killAfter === undefined) {
    await ended
    return
  }
  // It prints a line when it is about to begin.
  await Promise.race([once(child.stdout, 'data'), ended])
  await wait(killAfter)
  child.kill('SIGKILL')
  await ended
}

async function verdict(): Promise<string | undefined> {
  const hooks = await createHooks({ projectDir: project, home: join(root, 'home'), globals: false })
  try {
    const call = { tool_name: 'Bash', tool_input: { command: 'ls' } }
    const { action, reason } = await hooks.session({ cwd: project }).fire('PreToolUse', call)
    return action === 'deny' ? reason : action
  } finally {
    await hooks.close()
  }
}

it('kill -9 while a new version is trusted, with the files still there or gone', {
  timeout: 600_000,
}, async () => {
  version(0)
  await trusting()
  let n = 0
  await fc.assert(
    fc.asyncProperty(fc.nat(20), fc.boolean(), async (killAfter, isRemoved) => {
      version(++n)
      await trusting(killAfter)
      if (isRemoved) rmSync(join(project, '.amplifier'), { recursive: true })
      expect(await verdict()).toMatch(/^version \d+$/)
    }),
    { numRuns: runs(50) },
  )
})
