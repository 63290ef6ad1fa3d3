// What does an agent of the Agent Development Kit pay for its plugin, if there are no hooks? The model is a mock, so only the
// SDK's own work is around it: two model calls and a tool call. About half of the price is the SDK's, for any plugin.

import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { createHooks } from '../dist/index.js'
import { sdkPackages } from '../scripts/sdks.mjs'
import { race } from './measure.mjs'

export async function bench() {
  let packages
  try {
    packages = sdkPackages('adk/2')
  } catch (error) {
    console.error(`SKIPPED: the Agent Development Kit cannot be installed: ${error.stderr ?? error.message}`)
    return []
  }
  // Below the packages, so that the plugin finds the SDK as it would find it in a project.
  const folder = mkdtempSync(join(packages, 'bench-'))
  try {
    cpSync(fileURLToPath(new URL('../dist', import.meta.url)), folder, { recursive: true })
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    const sdk = join(packages, 'node_modules/@google/adk/dist/esm/index.js')
    return await measured(await imported(sdk), await imported(join(folder, 'adapters/adk.js')))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const imported = (file) => import(pathToFileURL(file).href)

async function measured(sdk, { HooksPlugin }) {
  const { BaseLlm, FunctionTool, InMemorySessionService, LlmAgent, Runner, setLogger } = sdk
  setLogger(null)
  class Scripted extends BaseLlm {
    async *generateContentAsync({ contents }) {
      const isAnswered = contents.at(-1).parts.some((part) => part.functionResponse)
      const said = isAnswered
        ? { text: 'word '.repeat(50) }
        : { functionCall: { name: 'look', args: { at: 'a' } } }
      yield { content: { role: 'model', parts: [said] } }
    }
  }
  const look = new FunctionTool({ name: 'look', description: 'looks', execute: () => 'saw it' })
  const owner = { appName: 'bench', userId: 'me' }
  const agentWith = (plugins) => {
    const agent = new LlmAgent({ name: 'agent', model: new Scripted({ model: 'scripted' }), tools: [look] })
    const sessionService = new InMemorySessionService()
    const runner = new Runner({ appName: 'bench', agent, sessionService, plugins })
    const newMessage = { role: 'user', parts: [{ text: 'Please look.' }] }
    return async () => {
      const { id: sessionId } = await sessionService.createSession(owner)
      for await (const _ of runner.runAsync({ userId: 'me', sessionId, newMessage }));
      await sessionService.deleteSession({ ...owner, sessionId })
    }
  }
  const hooks = await createHooks({ globals: false })
  const guarded = agentWith([new HooksPlugin(hooks.session())])
  const us = await race({ bare: agentWith([]), guarded })
  await hooks.close()
  const name = 'Agent Development Kit, two model calls and a tool call, plugin without hooks / bare'
  return [{ name, unit: 'us', value: us.guarded, baseline: us.bare, limit: 1.05 }]
}
