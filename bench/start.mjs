// What does each program cost that an agent or a person starts anew each time, over starting Node for nothing? Processor time
// counts, from start to exit.

import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { childClock, race, timedSpawn } from './measure.mjs'
import { peerFile } from './peers.mjs'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const CARABINER = join(ROOT, 'dist/bin/carabiner.js')
const BARE_SPAWN = join(ROOT, 'bench/programs/bare-spawn.cjs')
const BASH = { tool_name: 'Bash', tool_input: { command: 'cd src && git status --short | head -20' } }
const PRE = { hook_event_name: 'PreToolUse', ...BASH }
const POST = { hook_event_name: 'PostToolUse', ...BASH, tool_response: { stdout: 'M a' } }
const PROMPT = { hook_event_name: 'UserPromptSubmit', prompt: 'Ask the reviewer again.' }
const AUTHORED = `
  import { deny, runHook } from 'carabiner/author'
  runHook({ PreToolUse: ({ toolInput }) => (toolInput.command === 'git push' ? deny('Not that') : undefined) })
`

export async function bench() {
  const folder = mkdtempSync(join(tmpdir(), 'carabiner-bench-'))
  const one = new Project(join(folder, 'one'), 1)
  const ten = new Project(join(folder, 'ten'), 10)
  const authored = join(folder, 'authored.cjs')
  await bundle(authored)
  const lefthook = peerFile(`lefthook-${process.platform}-${process.arch}`, '2.2.2', 'bin/lefthook')
  const node = process.execPath
  const rounds = await race(
    {
      node: () => one.run([node, '-e', '0']),
      bash: () => one.run(['bash', '-c', 'true']),
      authored: () => one.run([node, authored], PRE),
      guard: () => one.run([node, CARABINER, 'hook', 'pre-tool-use'], PRE),
      post: () => one.run([node, CARABINER, 'hook', 'post-tool-use'], POST),
      prompt: () => one.run([node, CARABINER, 'hook', 'user-prompt-submit'], PROMPT),
      bareSpawn: () => one.run([node, BARE_SPAWN, one.command], PRE),
      fire: () => one.run([node, CARABINER, 'fire', '--as', 'claude-code'], PRE),
      fireTen: () => ten.run([node, CARABINER, 'fire', '--as', 'claude-code'], PRE),
      list: () => one.run([node, CARABINER, 'list']),
      explain: () => one.run([node, CARABINER, 'explain', 'Stop']),
      ...(lefthook && {
        lefthook: () => one.run([lefthook, 'run', 'pre-commit', '--force', '--no-tty']),
        lefthookTen: () => ten.run([lefthook, 'run', 'pre-commit', '--force', '--no-tty']),
      }),
    },
    { calls: 1, clock: childClock },
  )
  rmSync(folder, { recursive: true })
  const row = (name, of, more) => rounds.row(`${name} / node -e 0`, of, 'node', more)
  return [
    row('a hook on runHook', 'authored', { limit: 1.35 }),
    row('carabiner hook pre-tool-use', 'guard', { limit: 1.5 }),
    row('carabiner hook post-tool-use', 'post', { limit: 1.5 }),
    row('carabiner hook user-prompt-submit', 'prompt', { limit: 1.5 }),
    row('carabiner fire, a command hook', 'fire', { limit: 2.2 }),
    row('a bare spawn of the same command', 'bareSpawn', { peer: true }),
    row('carabiner fire, 10 command hooks', 'fireTen'),
    ...(lefthook
      ? [
          row('lefthook run, a command', 'lefthook', { peer: true }),
          row('lefthook run, 10 commands', 'lefthookTen', { peer: true }),
        ]
      : []),
    row('carabiner list', 'list', { limit: 2 }),
    row('carabiner explain', 'explain'),
    row('bash -c true', 'bash', { peer: true }),
  ]
}

/** Has a trusted plugin with so many command hooks, and as many commands for lefthook. */
class Project {
  #options
  /** The first hook, as a shell runs it. */
  command

  constructor(cwd, count) {
    const plugin = join(cwd, '.amplifier/hooks/guard')
    mkdirSync(plugin, { recursive: true })
    this.command = `"${plugin}/check.sh" 0`
    writeFileSync(join(plugin, 'check.sh'), '#!/bin/sh\nexit 0\n')
    chmodSync(join(plugin, 'check.sh'), 0o755)
    const numbers = Array.from({ length: count }, (_, i) => i)
    const hooks = numbers.map((i) => ({
      type: 'command',
      command: `"\${CLAUDE_PLUGIN_ROOT}/check.sh" ${i}`,
    }))
    const groups = [{ matcher: 'Bash', hooks }]
    writeFileSync(join(plugin, 'hooks.json'), JSON.stringify({ hooks: { PreToolUse: groups } }))
    const commands = Object.fromEntries(
      numbers.map((i) => [`check-${i}`, { run: `${plugin}/check.sh ${i}` }]),
    )
    writeFileSync(join(cwd, 'lefthook.json'), JSON.stringify({ 'pre-commit': { parallel: true, commands } }))
    const { NODE_EXTRA_CA_CERTS: _, ...rest } = process.env
    const env = { ...rest, HOME: dirname(cwd), CARABINER_HOME: `${cwd}-home` }
    this.#options = { cwd, env, encoding: 'utf8' }
    this.run(['git', 'init', '-q'])
    this.run([process.execPath, CARABINER, 'trust', '--yes'])
    const listed = this.run([process.execPath, CARABINER, 'list'])
    if (!listed.includes(`${count} ready`)) throw new Error(listed)
  }

  run([program, ...args], payload = {}) {
    const input = JSON.stringify({ session_id: 's', cwd: this.#options.cwd, ...payload })
    const { status, stdout, stderr } = timedSpawn(program, args, { ...this.#options, input })
    if (status !== 0) throw new Error(`${program} ${args.join(' ')}: exit ${status}: ${stderr}${stdout}`)
    return stdout
  }
}

/** As its author would ship it, from the published files, which the paths in tsconfig.json would pass by. */
function bundle(outfile) {
  const stdin = { contents: AUTHORED, resolveDir: ROOT }
  const more = { platform: 'node', target: 'node20', minify: true, tsconfigRaw: '{}' }
  return build({ stdin, outfile, bundle: true, ...more })
}
