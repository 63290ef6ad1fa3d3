// Questions as the core makes them.

import type { Data } from '../../src/core/base/json.js'
import type { HookResult } from '../../src/core/events/result.js'
import { askUser } from '../../src/core/events/result.js'
import type { Hook } from '../../src/core/hooks/hook.js'
import type { Question } from '../../src/core/hooks/outcome.js'
import { questionFor } from '../../src/core/verdict/approval.js'

export interface Made {
  readonly call?: Data
  readonly session?: string
  readonly cwd?: string
  readonly prompt?: string
  readonly hook?: string
  /** Of what the hook is made of. */
  readonly content?: string
  readonly answer?: Partial<HookResult>
}

/** What is not said is the same in each. */
export function madeQuestion({
  call = { tool_name: 'Bash', tool_input: { command: 'make deploy' } },
  session = 's1',
  cwd = '/somewhere/project',
  prompt = 'Deploy?',
  hook = 'guard',
  content = 'c1',
  answer = {},
}: Made = {}): Question {
  const asking = {
    hook: { id: hook, name: hook, content } as Hook,
    answer: { ...askUser(prompt), ...answer },
  }
  return questionFor('PreToolUse', { id: session, cwd }, call, [asking], Date.now())
}
