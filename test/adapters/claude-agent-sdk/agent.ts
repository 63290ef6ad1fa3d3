// An agent of the Claude Agent SDK, for the contract of adapters. The real Claude Code runs its loop.

import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createSdkMcpServer, query, tool } from '@anthropic-ai/claude-agent-sdk'
import { sdkHooks } from 'carabiner/claude-agent-sdk'
import { z } from 'zod'
import { type AgentRun, playScenes } from '../scenes.js'

async function runAgent({ session, ...run }: AgentRun): Promise<string> {
  const home = mkdtempSync(join(process.cwd(), 'home-'))
  const tools = run.tools.map(({ name, field, run: runTool }) =>
    tool(
      name,
      name,
      { [field]: z.string() },
      async (input) => ({ content: [{ type: 'text', text: await runTool(input, run.signal) }] }),
      // Only such tools run at the same time.
      { annotations: { readOnlyHint: true } },
    ),
  )
  const abortController = new AbortController()
  run.signal.addEventListener('abort', () => abortController.abort())
  const env = {
    ...{ PATH: process.env.PATH, HOME: home, CLAUDE_CONFIG_DIR: home },
    ...{ ANTHROPIC_BASE_URL: run.baseURL, ANTHROPIC_API_KEY: 'none' },
    ...{ DISABLE_AUTOUPDATER: '1', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', IS_SANDBOX: '1' },
  }
  try {
    let text = ''
    const messages = query({
      prompt: run.prompt,
      options: {
        ...{ abortController, cwd: home, env, model: 'claude-sonnet-4-5', settingSources: [], tools: [] },
        includePartialMessages: run.streaming,
        mcpServers: { test: createSdkMcpServer({ name: 'test', tools }) },
        // The model of the test does not know the name of the server.
        toolAliases: Object.fromEntries(run.tools.map(({ name }) => [name, `mcp__test__${name}`])),
        allowedTools: run.tools.map(({ name }) => `mcp__test__${name}`),
        hooks: sdkHooks(session),
        canUseTool: async (_name, updatedInput) =>
          run.approve
            ? { behavior: 'allow', updatedInput }
            : { behavior: 'deny', message: 'The person said no.' },
      },
    })
    for await (const message of messages) {
      const content = message.type === 'user' ? message.message.content : []
      for (const block of typeof content === 'string' ? [] : content)
        if (block.type === 'tool_result' && block.is_error) run.sayError()
      if (message.type === 'result' && message.subtype === 'success') text = message.result
    }
    return text
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

// The SDK warns that no call of an allowed tool is asked about. A hook can still ask.
process.removeAllListeners('warning')
await playScenes(runAgent)
