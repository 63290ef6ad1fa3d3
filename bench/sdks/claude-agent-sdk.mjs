// Hook callbacks of the Claude Agent SDK. Each query starts a program, and without hooks that program never calls back, so the
// bare SDK is one with a callback that does nothing. claude-agent-sdk-program.mjs stands for Claude Code.

import { fileURLToPath } from 'node:url'
import { query } from '@anthropic-ai/claude-agent-sdk'
import { createHooks } from 'carabiner'
import { sdkHooks } from 'carabiner/claude-agent-sdk'

const PROGRAM = fileURLToPath(new URL('claude-agent-sdk-program.mjs', import.meta.url))

/** The program stays. Each prompt makes it call back, and say when it is done. */
function calling(hooks) {
  let ask
  const wanted = () =>
    new Promise((resolve) => {
      ask = resolve
    })
  async function* prompts() {
    for (let next = wanted(); ; next = wanted()) {
      await next
      yield {
        type: 'user',
        message: { role: 'user', content: 'Go.' },
        parent_tool_use_id: null,
        session_id: 's',
      }
    }
  }
  const options = { hooks, pathToClaudeCodeExecutable: PROGRAM, executable: process.execPath }
  const messages = query({ prompt: prompts(), options })
  return async () => {
    const done = messages.next()
    while (!ask) await new Promise(setImmediate)
    ask()
    ask = undefined
    await done
  }
}

export async function situations() {
  const session = (await createHooks({ globals: false })).session()
  const guarded = sdkHooks(session)
  const bare = Object.fromEntries(
    Object.keys(guarded).map((event) => [event, [{ hooks: [async () => ({})] }]]),
  )
  return {
    '20 hook callbacks': { bare: calling(bare), guarded: calling(guarded) },
  }
}
