// Hooks that Carabiner registered or migrated, in the real Claude Code: offline, against a scripted model. What they block does not run.

import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { programFile, withProgram } from '../cli/program.js'
import type { Case } from './claude-code/case.mjs'
import { runCase } from './claude-code/claude-code.mjs'
import { cachedClaudeCode } from './claude-code/install.mjs'
import type { Stage } from './claude-code/stage.mjs'

withProgram()

const binary = cachedClaudeCode()
const hasCompiler = spawnSync('cc', ['--version']).status === 0

/** A call that leaves a trace where it runs. */
const call = (command: string, args: readonly string[]): Case => ({
  name: 'setup',
  about: 'hooks that setup registered',
  event: 'PreToolUse',
  tool_name: 'Bash',
  tool_input: { command: `echo RAN >> okran; ${command}` },
  hooks: [],
  run: { spy: null, args },
})

const envOf = (stage: Stage) => ({ HOME: stage.home, PATH: process.env.PATH })

function carabiner(stage: Stage, ...args: string[]): string {
  return execFileSync(process.execPath, [programFile(), ...args], {
    cwd: stage.dir,
    env: envOf(stage),
    encoding: 'utf8',
    stdio: 'pipe',
  })
}

/** Fires events until a service has answered one. */
function startService(stage: Stage): void {
  const clip = join(stage.home, '.local/share/carabiner/bin/clip')
  const fire = [process.execPath, programFile(), 'fire', '--as', 'claude-code', 'Notification']
  const input = JSON.stringify({
    hook_event_name: 'Notification',
    session_id: 's',
    cwd: stage.dir,
    message: 'm',
  })
  for (let calls = 0, tries = 0; calls === 0; tries++) {
    if (tries === 100) throw new Error('no service answers')
    execFileSync(clip, fire, { cwd: stage.dir, env: envOf(stage), input })
    calls = JSON.parse(carabiner(stage, 'service', '--json')).services[0]?.status?.calls ?? 0
  }
}

const run = (command: string, prepare: (stage: Stage) => void, args: readonly string[] = []) =>
  runCase(call(command, args), binary as string, undefined, prepare).then(({ observed }) => observed)

/** Every start of it leaves a line in the project. */
const GATE = `echo asked >> "$CLAUDE_PROJECT_DIR/asked"; grep -q forbidden && { echo 'not in this project' >&2; exit 2; } || exit 0`
const HOOKS = { PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command: GATE }] }] }
const DENIED = { decision: 'deny', tool_ran: false, reason: expect.stringContaining('not in this project') }

function write(path: string, content: object): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, JSON.stringify(content))
}

describe.skipIf(binary === undefined)(
  'in the real Claude Code (from the cache of npm run conformance)',
  () => {
    const NO_VERIFY = 'git commit --no-verify -m x'

    it('a hook of the pack blocks a call', async () => {
      const free = await run(NO_VERIFY, () => undefined)
      expect(free).toMatchObject({ tool_ran: true, wrote: ['RAN'] })
      const guarded = await run(NO_VERIFY, (stage) => carabiner(stage, 'setup', 'claude-code'))
      expect(guarded).toMatchObject({ decision: 'deny', tool_ran: false })
      expect(guarded.reason).toContain('--no-verify')
      expect(guarded).not.toHaveProperty('wrote')
    })

    it('the pack lets other calls pass, and is gone after --remove', async () => {
      const passed = await run('true', (stage) => carabiner(stage, 'setup', 'claude-code', '--project'))
      expect(passed).toMatchObject({ tool_ran: true, wrote: ['RAN'] })
      const removed = await run(NO_VERIFY, (stage) => {
        carabiner(stage, 'setup', 'claude-code')
        carabiner(stage, 'setup', 'claude-code', '--remove')
      })
      expect(removed).toMatchObject({ tool_ran: true, wrote: ['RAN'] })
    })

    it('a hook of the project blocks a call through the engine, once it is trusted', async () => {
      const engine = (stage: Stage) => {
        write(join(stage.dir, '.amplifier/hooks/hooks.json'), { hooks: HOOKS })
        carabiner(stage, 'trust', '--yes')
        carabiner(stage, 'setup', 'claude-code', '--engine')
      }
      const denied = await run('echo forbidden', engine)
      expect(denied).toMatchObject(DENIED)
      expect(denied).not.toHaveProperty('wrote')
      expect(await run('true', engine)).toMatchObject({ tool_ran: true, wrote: ['RAN'] })
    })

    it('hooks that were migrated block as before: through the engine, and carried back without it', async () => {
      let asked: readonly string[] = []
      const settings = (stage: Stage) => join(stage.dir, '.claude/settings.json')
      const migrated = (stage: Stage) => {
        write(settings(stage), { hooks: HOOKS })
        carabiner(stage, 'migrate', '--write', '--remove-source')
        carabiner(stage, 'trust', '--yes')
        carabiner(stage, 'setup', 'claude-code', '--engine')
      }
      expect(await run('echo forbidden', migrated)).toMatchObject(DENIED)
      const back = (stage: Stage) => {
        migrated(stage)
        carabiner(stage, 'setup', 'claude-code', '--remove')
        carabiner(stage, 'migrate', '--to', 'claude-code', '--write', '--remove-source')
        asked = Object.keys(JSON.parse(readFileSync(settings(stage), 'utf8')).hooks)
      }
      expect(await run('echo forbidden', back)).toMatchObject(DENIED)
      expect(asked).toEqual(['PreToolUse'])
    })

    it('a plugin that was migrated is loaded, and its hook is asked once', async () => {
      const prepare = (stage: Stage) => {
        const plugin = join(stage.dir, '.amplifier/hooks/gate')
        write(join(plugin, 'hooks.json'), { hooks: HOOKS })
        write(join(plugin, '.claude-plugin/plugin.json'), { name: 'gate', hooks: './hooks.json' })
        carabiner(
          stage,
          'migrate',
          plugin,
          '--to',
          'claude-code',
          '--out',
          join(stage.folder, 'out'),
          '--write',
        )
      }
      const denied = await run('echo forbidden', prepare, ['--plugin-dir', '{{FOLDER}}/out/gate'])
      expect(denied).toMatchObject(DENIED)
      const passed = await run(`[ "$(wc -l < asked)" = 1 ] && echo ONCE >> okran`, prepare, [
        '--plugin-dir',
        '{{FOLDER}}/out/gate',
      ])
      expect(passed).toMatchObject({ tool_ran: true, wrote: ['RAN', 'ONCE'] })
    })

    it.skipIf(!hasCompiler)('the service answers, without Node being started', async () => {
      const warm = (stage: Stage) => {
        write(join(stage.dir, '.amplifier/hooks/hooks.json'), { hooks: HOOKS })
        carabiner(stage, 'trust', '--yes')
        carabiner(stage, 'setup', 'claude-code', '--engine', '--with', 'guard')
        startService(stage)
        // Whatever clip cannot ask the service about fails from now on: the command demands a Node that can be started.
        const broken = join(stage.home, 'node')
        writeFileSync(broken, '#!/bin/sh\nexit 99\n', { mode: 0o755 })
        const file = join(stage.home, '.claude/settings.json')
        const settings = readFileSync(file, 'utf8')
        expect(settings).toContain(join(stage.home, '.local/share/carabiner/bin/clip'))
        writeFileSync(file, settings.replaceAll(process.execPath, broken))
      }
      expect(await run('echo forbidden', warm)).toMatchObject(DENIED)
      expect((await run(NO_VERIFY, warm)).reason).toContain('--no-verify')
      expect(await run('true', warm)).toMatchObject({ tool_ran: true, wrote: ['RAN'] })
    })

    it('an engine that is not there any more blocks, and is no open door', async () => {
      const gone = await run('true', (stage) => {
        carabiner(stage, 'setup', 'claude-code', '--engine')
        const file = join(stage.home, '.claude/settings.json')
        const { PreToolUse } = JSON.parse(readFileSync(file, 'utf8')).hooks
        PreToolUse[0].hooks[0].command = PreToolUse[0].hooks[0].command.replace('carabiner.js', 'gone.js')
        writeFileSync(file, JSON.stringify({ hooks: { PreToolUse } }))
      })
      expect(gone).toMatchObject({ decision: 'deny', tool_ran: false })
      expect(gone).not.toHaveProperty('wrote')
    })
  },
)

it.skipIf(binary !== undefined)(
  'the real Claude Code is not in the cache: npm run conformance fetches it; setup was not tried in it',
  () => {},
)
