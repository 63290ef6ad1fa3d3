import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Abilities } from '../../src/hosts/host.js'
import type { HostProof } from '../../src/hosts/host-proof.js'
import { type Enclosure, enclosure } from '../../src/verify/enclosure.js'
import { type Fact, promisesOf } from '../../src/verify/facts.js'
import { isProven } from '../../src/verify/proof-record.js'
import { proveAgent } from '../../src/verify/prove-agent.js'

const AGENT = fileURLToPath(new URL('./played-agent.mjs', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'carabiner-verify-'))
const inside = join(folder, 'inside.mjs')

beforeAll(async () => {
  const run = fileURLToPath(new URL('../../src/verify/agent-run.ts', import.meta.url))
  await build({
    stdin: {
      contents: `import { runFromFile } from ${JSON.stringify(run)}\nawait runFromFile(process.argv[2])`,
      resolveDir: folder,
    },
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile: inside,
    logLevel: 'silent',
  })
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Nothing is kept away: the played agent has nowhere to go. */
const NONE: Enclosure = { network: 'open', ownLoopback: false, around: (command) => command, env: {} }

const CAN: Abilities = {
  PreToolUse: ['block', 'input'],
  PostToolUse: ['context'],
  UserPromptSubmit: ['context'],
  Stop: ['block'],
}

type Manner = 'honest' | 'ignores' | 'silent' | 'unhooked' | 'crashes' | 'hangs'

function played(manner: Manner, more: Partial<HostProof> = {}): HostProof {
  return {
    program: 'played',
    limit: 20,
    arguments: (prompt, { url }) => [AGENT, manner, url, prompt],
    calls: {
      shell: (command) => ({ name: 'Bash', input: { command } }),
      write: (path, text) => ({ name: 'Write', input: { file_path: path, content: text } }),
      subagent: (prompt) => ({ name: 'Agent', input: { prompt } }),
    },
    ...more,
  }
}

interface Wish {
  readonly quick?: boolean
  readonly can?: Abilities
  readonly around?: Enclosure
  readonly keep?: string
  readonly signal?: AbortSignal
}

async function prove(proof: HostProof, wish: Wish = {}): Promise<Fact[]> {
  const facts: Fact[] = []
  const proving = proveAgent({
    proof,
    promises: promisesOf({ can: wish.can ?? CAN }, proof),
    program: process.execPath,
    enclosure: wish.around ?? NONE,
    quick: wish.quick ?? true,
    setUp: async ({ HOME = '' }) => {
      const text = readFileSync(join(HOME, '.amplifier', 'hooks', 'hooks.json'), 'utf8')
      const { hooks } = JSON.parse(text) as { hooks: Record<string, { hooks: { command: string }[] }[]> }
      const commands = Object.entries(hooks).map(([event, [group]]) => [event, group?.hooks[0]?.command])
      writeFileSync(join(HOME, 'agent.json'), JSON.stringify(Object.fromEntries(commands)))
    },
    inside: (file) => [process.execPath, inside, file],
    ...(wish.keep && { keep: wish.keep }),
    ...(wish.signal && { signal: wish.signal }),
  })
  for await (const fact of proving) facts.push(fact)
  return facts
}

const states = (facts: readonly Fact[]) => Object.fromEntries(facts.map(({ name, state }) => [name, state]))

describe('a proof', () => {
  it('holds for an honest agent', async () => {
    const facts = await prove(played('honest'))
    expect(states(facts)).toEqual({ runs: 'held', command: 'held', reason: 'held', file: 'held' })
    expect(isProven(facts)).toBe(true)
  })

  it('fails if the agent does not ask the hook', async () => {
    const facts = await prove(played('unhooked'))
    expect(states(facts)).toEqual({ runs: 'held', command: 'failed', reason: 'failed', file: 'failed' })
    expect(isProven(facts)).toBe(false)
  })

  it('fails if the agent does not obey', async () => {
    expect(states(await prove(played('ignores')))).toMatchObject({ command: 'failed', file: 'failed' })
  })

  it('fails if the model is not told why, unless that is known', async () => {
    expect(states(await prove(played('silent')))).toMatchObject({ command: 'held', reason: 'failed' })
    const known = await prove(played('silent', { endsOnRefusal: true }))
    expect(states(known)).toMatchObject({ command: 'held', reason: 'cannot' })
    expect(isProven(known)).toBe(true)
  })

  it('shows nothing of an agent that crashes, and quotes it', async () => {
    const [fact, ...more] = await prove(played('crashes'))
    expect(fact).toMatchObject({ name: 'runs', state: 'failed' })
    expect(fact?.text).toMatch(/did not run the command or write the file .*exited with 1/)
    expect(more).toEqual([])
  })

  it('ends an agent that hangs', async () => {
    const [fact] = await prove(played('hangs', { limit: 0.5 }))
    expect(fact?.text).toContain('it never reached the model')
  })

  it('says so if the program cannot be started', async () => {
    const [fact] = await prove({ ...played('honest'), arguments: () => ['/nowhere/agent.js'] })
    expect(fact).toMatchObject({ state: 'failed' })
  })

  it('leaves nothing behind, or everything', async () => {
    const before = readdirSync(tmpdir()).filter((name) => name.startsWith('carabiner-proof-'))
    const keep = join(folder, 'kept')
    mkdirSync(keep)
    await prove(played('honest'), { keep })
    expect(readdirSync(join(keep, 'played')).sort()).toEqual([
      'a-refused-command',
      'a-refused-file',
      'without-the-hook',
    ])
    await prove(played('honest'))
    const after = readdirSync(tmpdir()).filter((name) => name.startsWith('carabiner-proof-'))
    expect(after.filter((name) => !before.includes(name))).toEqual([])
  })

  it('stops at an interruption', async () => {
    const controller = new AbortController()
    const proving = prove(played('hangs'), { signal: controller.signal })
    controller.abort(new Error('stop it'))
    await expect(proving).rejects.toThrow('stop it')
  })

  it('works without a network, where the system allows that', async () => {
    const facts = await prove(played('honest'), { around: enclosure() })
    expect(isProven(facts)).toBe(true)
  })
})
