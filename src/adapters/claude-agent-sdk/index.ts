// Hooks in the Claude Agent SDK (npm: @anthropic-ai/claude-agent-sdk): the option `hooks` of query().

import type { HookCallback, Options } from '@anthropic-ai/claude-agent-sdk'
import { textOf } from '../../core/base/errors.js'
import { deny, type Outcome, type Session } from '../../core/index.js'
import { answerFor, eventFrom } from '../../hosts/agent-event.js'
import { ENGINE_EVENTS } from '../../hosts/claude-code/setup.js'
import type { HostAnswer } from '../../hosts/host.js'
import { type Capabilities, WORKS } from '../capabilities.js'
import { childOf, closeChild } from '../per-session.js'

const NO_MODEL = 'the SDK has no hook around model calls'

export const capabilities: Capabilities = {
  sdk: 'Claude Agent SDK',
  package: '@anthropic-ai/claude-agent-sdk',
  versions: ['0.3.322', '0.3.325'],
  deny: { works: true, how: 'tools, prompts and the end of a turn', limit: NO_MODEL },
  rewrite: { works: true, how: 'inputs and results of tools', limit: NO_MODEL },
  inject: {
    works: true,
    limit: 'only on events that can carry context, such as UserPromptSubmit and PostToolUse',
  },
  ask: { works: true, how: '`canUseTool`; without it, the call is denied' },
  respond: { works: false, limit: 'the call is denied, with the response as the reason' },
  streaming: { works: false, limit: NO_MODEL },
  parallel: WORKS,
  abort: {
    works: true,
    how: 'hooks are told by `signal`',
    limit: 'the SDK sends no PostToolUseFailure for an aborted call',
  },
  subagents: { works: true, how: 'each subagent is a child session, with the `agent_id` of the SDK' },
  errors: WORKS,
}

type SdkHooks = NonNullable<Options['hooks']>

/** The engine limits hooks and questions itself. The SDK refuses a call that it no longer waits for. */
const PATIENCE_SECONDS = 24 * 60 * 60

/** All events of the SDK reach the hooks of this session; those of a subagent reach a child of it. */
export function sdkHooks(session: Session): SdkHooks {
  const callback: HookCallback = async (input, _toolUseId, { signal }) => {
    try {
      if (session.isIdle) return {}
      const event = eventFrom('claude-code', input)
      const { agent_id, agent_type } = input
      const own = agent_id === undefined ? session : childOf(session, agent_id, agent_type)
      const outcomes: Outcome[] = []
      for (const part of event.parts) outcomes.push(await own.fire(event.name, part, { signal }))
      const isOver = event.name === 'SubagentStop' && outcomes.every(({ action }) => action === 'continue')
      if (isOver && agent_id !== undefined) closeChild(session, agent_id)
      return outputOf(answerFor('claude-code', event, outcomes))
    } catch (error) {
      return outputOf(answerFor('claude-code', input.hook_event_name, deny(textOf(error))))
    }
  }
  const matcher = { hooks: [callback], timeout: PATIENCE_SECONDS, onFailure: 'block' as const }
  return Object.fromEntries(ENGINE_EVENTS.map((event) => [event, [matcher]])) as SdkHooks
}

/** The answer of a hook that is a process, as that of a callback. Text that is not JSON has no place in it. */
function outputOf({ stdout, stderr, exit }: HostAnswer): object {
  if (stdout.startsWith('{')) return JSON.parse(stdout)
  return exit === 0 ? {} : { decision: 'block', reason: stderr ?? 'Denied by a hook' }
}
