// Libraries of model providers are loaded when such a model is asked, and nothing keeps a process alive afterwards.

import { spawn } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { build } from 'esbuild'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { LoopbackModel } from '../model/loopback-model.js'

let folder: string
let model: LoopbackModel

/** The runner as an installed package has it: in one folder without any library, in one with them. */
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'carabiner-libraries-'))
  await build({
    stdin: {
      contents: `export { promptHook } from './src/runners/prompt/prompt-hook.js'
        export { agentHook } from './src/runners/agent/agent-hook.js'
        export { Programs } from './src/runners/command/programs.js'`,
      resolveDir: process.cwd(),
    },
    outfile: join(folder, 'bare/runner.mjs'),
    bundle: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'error',
  })
  cpSync(join(folder, 'bare'), join(folder, 'full'), { recursive: true })
  symlinkSync(join(process.cwd(), 'node_modules'), join(folder, 'full/node_modules'))
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

beforeEach(async () => {
  model = await LoopbackModel.start()
})
afterEach(() => model.close())

/** Runs a program that has \`ask(source, signal)\`; what it prints, once it has ended by itself. */
async function program(where: 'bare' | 'full', code: string) {
  writeFileSync(
    join(folder, where, 'main.mjs'),
    `import { promptHook, Programs } from './runner.mjs'
    const hook = { id: 'x', name: 'judge', timeoutMs: 1000 }
    const place = { projectDir: '/', hooksDir: '/' }
    const event = { name: 'PreToolUse', data: { tool_name: 'Bash', tool_input: {} } }
    const ask = (source, signal = new AbortController().signal) =>
      promptHook({ hook, handler: { prompt: 'x' }, place }, { report() {} }, () => source, new Programs())
        .run(event, { signal, note() {}, printed() {} })
        .then((r) => console.log(r.action), (e) => console.log(e.code ?? e.message, e.hint ?? ''))
    const at = (provider) => ({ settings: { provider, name: 'claude-x', base_url: ${JSON.stringify(model.url)} } })
    ${code}`,
  )
  const child = spawn(process.execPath, ['main.mjs'], {
    cwd: join(folder, where),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)])
  expect(err).toBe('')
  return out
}

describe('without any library', () => {
  it('a function and a command are asked', async () => {
    const code = `await ask({ embedder: () => 'yes' }); await ask({ settings: { command: ['echo', 'yes'] } })`
    expect(await program('bare', code)).toBe('continue\ncontinue\n')
  })

  it.each([
    ['anthropic', '@ai-sdk/anthropic@3'],
    ['openai', '@ai-sdk/openai-compatible@2'],
  ])('%s fails, and the hint says what to install', async (provider, name) => {
    const out = await program('bare', `await ask(at('${provider}'))`)
    expect(out).toContain('MODEL_FAILED')
    expect(out).toContain(`npm install ${name}`)
  })
})

describe('with them', () => {
  it('is the same program', async () => {
    expect(await program('full', `await ask(at('anthropic')); await ask(at('openai'))`)).toBe(
      'continue\ncontinue\n',
    )
  })

  it.each(['HANG', 'HANG-AFTER-HEADERS', 'FLOOD'] as const)(
    'nothing is left of a request that was ended: %s',
    async (move) => {
      model.answers(move)
      // The program ends by itself, although the server would keep the connection open for ever.
      const ms = move === 'FLOOD' ? 120_000 : 3000
      const out = await program('full', `await ask(at('anthropic'), AbortSignal.timeout(${ms}))`)
      expect(out).toMatch(move === 'FLOOD' ? /^HOOK_OUTPUT / : /^23 /) // 23: a time-out, as the signal says it
      await model.abandoned()
    },
  )
})
