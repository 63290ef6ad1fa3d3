// What does a hook add to a tool call of the real Claude Code, over a hook that does nothing?

import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { cachedClaudeCode } from '../test/conformance/claude-code/install.mjs'
import { MockModel } from '../test/conformance/claude-code/mock-model.mjs'
import { median, quick, Rounds } from './measure.mjs'

const SCRIPT = fileURLToPath(new URL('../dist/bin/carabiner.js', import.meta.url))
const ROUNDS = quick ? 1 : 4
const CALLS = quick ? 2 : 20
/** The first call loads what the others find ready. */
const UNCOUNTED = 1

export async function bench() {
  const binary = cachedClaudeCode()
  if (binary === undefined || spawnSync('cc', ['--version']).status !== 0) {
    console.error('SKIPPED: claude-code, which needs a C compiler and the real one: npm run conformance')
    return []
  }
  const folder = mkdtempSync(join(tmpdir(), 'carabiner-bench-'))
  const agents = {
    none: new Agent(join(folder, 'none'), binary),
    true: new Agent(join(folder, 'true'), binary),
    cat: new Agent(join(folder, 'cat'), binary),
    clip: new Agent(join(folder, 'clip'), binary),
  }
  agents.true.register('true')
  agents.cat.register('cat > /dev/null')
  agents.clip.carabiner('setup', 'claude-code', '--only', 'guard')
  try {
    const times = { none: [], true: [], cat: [], clip: [] }
    await agents.clip.session() // It starts the service.
    for (let round = 0; round < ROUNDS; round++)
      for (const [name, agent] of Object.entries(agents))
        times[name].push(1000 * median(await agent.session()))
    if (!(agents.clip.serviceCalls() >= ROUNDS * CALLS)) throw new Error('the service was not asked')
    const rounds = new Rounds(times)
    const what = 'added to a tool call of Claude Code, guard through clip / a hook that'
    return [
      rounds.row(`${what} is \`true\``, 'clip', 'true', { over: 'none', limit: 1.2 }),
      // A hook that judges has to read its input.
      rounds.row(`${what} reads its input`, 'clip', 'cat', { over: 'none' }),
    ]
  } finally {
    agents.clip.carabiner('service', 'stop')
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Claude Code in a home of its own. */
class Agent {
  #binary
  #settings
  #options

  constructor(folder, binary) {
    const [home, cwd] = [join(folder, 'home'), join(folder, 'project')]
    for (const path of [home, cwd]) mkdirSync(path, { recursive: true })
    this.#binary = binary
    this.#settings = join(home, '.claude/settings.json')
    this.#options = { cwd, env: { HOME: home, PATH: process.env.PATH } }
  }

  register(command) {
    const hooks = { PreToolUse: [{ matcher: '*', hooks: [{ type: 'command', command }] }] }
    mkdirSync(dirname(this.#settings), { recursive: true })
    writeFileSync(this.#settings, JSON.stringify({ hooks }))
  }

  carabiner(...args) {
    return execFileSync(process.execPath, [SCRIPT, ...args], { ...this.#options, encoding: 'utf8' })
  }

  serviceCalls() {
    return JSON.parse(this.carabiner('service', '--json')).services[0]?.status?.calls
  }

  /** Milliseconds from one request of the model to the next, with a tool call in between. */
  async session() {
    const turn = { tools: [{ name: 'Bash', input: { command: 'true' } }] }
    const model = new MockModel(Array(CALLS + UNCOUNTED).fill(turn))
    const address = await model.start()
    const env = {
      ...this.#options.env,
      ANTHROPIC_BASE_URL: address,
      ANTHROPIC_API_KEY: 'dummy',
      DISABLE_AUTOUPDATER: '1',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    }
    const args = ['-p', 'go', '--model', 'claude-sonnet-4-5', '--allowedTools', 'Bash']
    const child = spawn(this.#binary, args, { ...this.#options, env, stdio: ['ignore', 'ignore', 'inherit'] })
    await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve))
    await model.stop()
    const at = model.requests.filter(({ role }) => role === 'main').map((request) => request.at)
    if (at.length !== CALLS + UNCOUNTED + 1) throw new Error(`Claude Code made ${at.length} requests`)
    return at.slice(1 + UNCOUNTED).map((time, i) => time - at[i + UNCOUNTED])
  }
}
