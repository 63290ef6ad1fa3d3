// What does an agent wait for hooks that ask the service through clip, and how much memory does the service hold?

import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { figure, race } from './measure.mjs'

const SCRIPT = fileURLToPath(new URL('../dist/bin/carabiner.js', import.meta.url))
const SOURCE = fileURLToPath(new URL('../dist/bin/clip.c', import.meta.url))
const EVENT = {
  hook_event_name: 'PreToolUse',
  session_id: 'bench',
  tool_name: 'Bash',
  tool_input: { command: 'cd src && git status --short | head -20' },
}
const PLUGINS = 200
/** A plugin whose hook runs, and plugins whose hooks are for other tools. */
const hooksOf = (matcher) => ({ PreToolUse: [{ matcher, hooks: [{ type: 'command', command: 'true' }] }] })
/** Its memory has stopped growing by then. */
const CALLS_FOR_MEMORY = 200
const MOST_TRIES = 100

export async function bench() {
  if (spawnSync('cc', ['--version']).status !== 0) {
    console.error('SKIPPED: service, which needs a C compiler')
    return []
  }
  const folder = mkdtempSync(join(tmpdir(), 'carabiner-bench-'))
  const clip = join(folder, 'clip')
  execFileSync('cc', [
    '-std=c11',
    '-O2',
    ...(process.platform === 'linux' ? ['-static'] : []),
    '-o',
    clip,
    SOURCE,
  ])
  const one = new Caller(join(folder, 'one'), clip, 1)
  const many = new Caller(join(folder, 'many'), clip, PLUGINS)
  try {
    await Promise.all([one.warmUp(), many.warmUp()])
    const rounds = await race(
      {
        node: () => one.run(process.execPath, '-e', '0'),
        sh: () => one.run('sh', '-c', 'true'),
        fire: () => one.ask('fire', '--as', 'claude-code'),
        guard: () => one.ask('hook', 'pre-tool-use'),
      },
      { calls: 1 },
    )
    for (let i = 0; i < CALLS_FOR_MEMORY; i++) many.ask('fire', '--as', 'claude-code')
    const bytes = many.status().memory
    return [
      rounds.row('fire through clip, one command hook / node -e 0', 'fire', 'node', { limit: 0.2 }),
      rounds.row('guard through clip / sh -c true', 'guard', 'sh', { limit: 2.5 }),
      figure(`memory of the service, ${PLUGINS} plugins / 120 MB`, 'MB', bytes / 1e6, 120, 1),
    ]
  } finally {
    for (const caller of [one, many]) caller.carabiner('service', 'stop')
    rmSync(folder, { recursive: true })
  }
}

/** An agent in a project with this many plugins, which are trusted. */
class Caller {
  #clip
  #options

  constructor(folder, clip, plugins) {
    this.#clip = clip
    for (let i = 0; i < plugins; i++) {
      const plugin = join(folder, '.amplifier', 'hooks', `plugin-${String(i).padStart(3, '0')}`)
      mkdirSync(plugin, { recursive: true })
      writeFileSync(
        join(plugin, 'hooks.json'),
        JSON.stringify({ hooks: hooksOf(i === 0 ? 'Bash' : `Tool${i}`) }),
      )
    }
    const home = `${folder}-home`
    mkdirSync(home)
    const env = { PATH: process.env.PATH, HOME: home, CARABINER_HOME: join(home, 'carabiner') }
    this.#options = { cwd: folder, env, encoding: 'utf8', input: JSON.stringify({ ...EVENT, cwd: folder }) }
    this.carabiner('trust', '--yes')
  }

  run(program, ...args) {
    const { status, stdout, stderr, error } = spawnSync(program, args, this.#options)
    if (status !== 0) throw error ?? new Error(`${program} ${args.join(' ')}: ${stdout}${stderr}`)
    return stdout
  }

  ask(...args) {
    this.run(this.#clip, process.execPath, SCRIPT, ...args)
  }

  carabiner(...args) {
    return this.run(process.execPath, SCRIPT, ...args)
  }

  status() {
    return JSON.parse(this.carabiner('service', '--json')).services[0]?.status
  }

  /** The first call starts the service, and answers without it. */
  async warmUp() {
    for (let tries = 0; !(this.status()?.calls > 0); tries++) {
      if (tries === MOST_TRIES) throw new Error('no service answers: see failed.txt in its folder')
      this.ask('fire', '--as', 'claude-code')
    }
  }
}
