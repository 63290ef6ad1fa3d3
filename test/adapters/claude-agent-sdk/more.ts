// What only this SDK has: subagents of its own, and no person to ask. Reads the model's address; prints a line for each case.

import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createSdkMcpServer, type Options, query, tool } from '@anthropic-ai/claude-agent-sdk'
import { askUser, createHooks, modify, type Session } from 'carabiner'
import { sdkHooks } from 'carabiner/claude-agent-sdk'
import { z } from 'zod'

interface Case {
  readonly hooks?: (session: Session) => void
  readonly close?: boolean
  readonly options?: Options
}

const CASES: Readonly<Record<string, Case>> = {
  subagent: {
    hooks: (session) =>
      session.register('PreToolUse', (_, { agent_id, tool_name }) =>
        agent_id !== undefined && tool_name.endsWith('look')
          ? modify({ tool_input: { at: 'river' } })
          : undefined,
      ),
  },
  'nobody to ask': { hooks: (session) => session.register('PreToolUse', () => askUser('really?')) },
  'a question in spite of a bypass': {
    hooks: (session) => session.register('PreToolUse', () => askUser('really?')),
    options: { permissionMode: 'bypassPermissions', allowDangerouslySkipPermissions: true },
  },
  'many calls': {
    hooks: (session) =>
      session.register('PreToolUse', (_, { tool_use_id = '' }) =>
        modify({ tool_input: { at: tool_use_id } }),
      ),
  },
  'a closed session': { close: true },
  'a hook that fails': {
    hooks: (session) =>
      session.register(
        'PreToolUse',
        () => {
          throw new Error('broken')
        },
        { onFailure: 'block' },
      ),
  },
}

async function play(url: string, { hooks: add, close, options }: Case) {
  const hooks = await createHooks({ globals: false })
  const session = hooks.session()
  add?.(session)
  const seen: string[] = []
  session.register('PreToolUse', (_, { tool_name, agent_type = '' }) => {
    seen.push(`${tool_name} ${agent_type}`.trim())
  })
  const ran: string[] = []
  const answers: string[] = []
  const look = tool('look', 'look', { at: z.string() }, async ({ at }) => {
    ran.push(at)
    return { content: [{ type: 'text', text: `saw ${at}` }] }
  })
  if (close) await session.close()
  const home = mkdtempSync(join(process.cwd(), 'home-'))
  try {
    for await (const message of query({
      prompt: 'Go.',
      options: {
        ...{ cwd: home, model: 'claude-sonnet-4-5', settingSources: [], tools: ['Agent'] },
        env: {
          ...{ PATH: process.env.PATH, HOME: home, CLAUDE_CONFIG_DIR: home, IS_SANDBOX: '1' },
          ...{ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'none' },
          ...{ DISABLE_AUTOUPDATER: '1', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' },
        },
        mcpServers: { test: createSdkMcpServer({ name: 'test', tools: [look] }) },
        allowedTools: ['mcp__test__look', 'Agent'],
        hooks: sdkHooks(session),
        ...options,
      },
    })) {
      const { content } = message.type === 'user' ? message.message : { content: [] }
      for (const part of Array.isArray(content) ? content : [])
        if (part.type === 'tool_result') answers.push(JSON.stringify(part.content))
      if (message.type === 'result' && message.subtype !== 'success') answers.push(message.errors.join())
    }
  } finally {
    await hooks.close()
    rmSync(home, { recursive: true, force: true })
  }
  return { seen, ran, answers }
}

let baseURL = ''
for await (const some of process.stdin) baseURL += some
for (const [name, given] of Object.entries(CASES)) {
  const url = `${baseURL}/${encodeURIComponent(name)}`
  const played = await play(url, given).catch((error: unknown) => ({
    seen: [],
    ran: [],
    answers: [String(error)],
  }))
  console.log(JSON.stringify({ name, ...played }))
}
