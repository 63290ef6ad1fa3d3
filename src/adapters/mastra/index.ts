// Hooks in Mastra (npm: @mastra/core): around all tools of an agent. For its models, see hooksMiddleware of carabiner/ai-sdk.

import { type Capabilities, WORKS } from '../capabilities.js'

export { questionOf } from '../begun-calls.js'
export { hooksProcessor } from './processor.js'
export { wrapTools } from './tool.js'

export const capabilities: Capabilities = {
  sdk: 'Mastra',
  package: '@mastra/core',
  versions: ['1.60.0', '1.71.0'],
  deny: {
    works: true,
    how: "by `hooksProcessor` for all tools of an agent, or `wrapTools` for single ones; `inputProcessors` of a single `generate()` take the place of the agent's own, so name it there too; models as in the AI SDK",
    limit:
      '`hooksProcessor` refuses `agent.network()`, tools without `execute` (`clientTools`), and a step whose `prepareStep` returns a model or tools that `wrapTools` did not make; `wrapTools` alone does not judge tools without `execute`',
  },
  rewrite: { works: true, limit: 'a hook cannot choose another model: the call is refused' },
  inject: { works: true, how: 'needs a model with `hooksMiddleware` of `carabiner/ai-sdk`' },
  ask: {
    works: true,
    how: '`tool-call-suspended`, then `approveToolCall` or `declineToolCall`; a `resumeSchema` of the tool must allow `{ approved }`',
    limit:
      'while several calls wait, `approveToolCallGenerate` fails for all but the last, so use `approveToolCall`',
  },
  respond: WORKS,
  streaming: { works: true, how: 'by `hooksMiddleware`' },
  parallel: WORKS,
  abort: { works: true, how: 'the run ends without an error' },
  subagents: {
    works: true,
    how: 'give the subagent a `hooksProcessor` with `session.child()`; without one, its `agent-…` tool is refused',
    limit:
      '`wrapTools` sees none of the tools that Mastra makes; a workflow is judged as one call, so give agents in its steps a `hooksProcessor` too',
  },
  errors: WORKS,
}
