// The child sessions of subagents: one each, from its first event until it stops.

import { expect, it } from 'vitest'
import { sdkHooks } from '../../../src/adapters/claude-agent-sdk/index.js'
import { createHooks, deny, type Session } from '../../../src/index.js'

it('closes the session of a subagent when it has stopped, unless a hook keeps it going', async () => {
  const hooks = await createHooks({ globals: false })
  const session = hooks.session()
  let isDone = false
  session.register('SubagentStop', () => (isDone ? undefined : deny('go on')))
  const children: Session[] = []
  const child = session.child.bind(session)
  session.child = (agent) => {
    children.push(child(agent))
    return children.at(-1) as Session
  }
  const registered = sdkHooks(session)
  const fire = (hook_event_name: string, fields: object) =>
    registered[hook_event_name as 'SubagentStop']?.[0]?.hooks[0]?.(
      { hook_event_name, session_id: 's', transcript_path: '', cwd: '/', ...fields } as never,
      undefined,
      { signal: new AbortController().signal },
    )
  const agent = { agent_id: 'a1', agent_type: 'helper' }
  const call = { ...agent, tool_name: 'Read', tool_input: { file_path: '/a' }, tool_use_id: 't1' }
  const stop = { ...agent, stop_hook_active: false, agent_transcript_path: '' }

  await fire('PreToolUse', call)
  await fire('SubagentStop', stop)
  await fire('PreToolUse', call)
  expect(children.map(({ closed }) => closed)).toEqual([false])

  isDone = true
  await fire('SubagentStop', stop)
  expect(children.map(({ closed }) => closed)).toEqual([true])

  // Claude Code can resume a subagent.
  await fire('PreToolUse', call)
  expect(children.map(({ closed }) => closed)).toEqual([true, false])
  await hooks.close()
})
