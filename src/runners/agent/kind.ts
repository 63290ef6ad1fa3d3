// Kind `agent`: the fields of an entry.

import type { HookSpec } from '../hook-spec.js'
import { isWritten, type Kind, STATUS_MESSAGE } from '../kind.js'
import { lacksModel } from '../model/model-source.js'
import type { AgentHandler } from './agent-hook.js'

export const AGENT: Kind<HookSpec<AgentHandler>> = {
  summary: 'Asks a model that may read files.',
  fields: {
    prompt: [isWritten, 'The question for a model that can read files. $ARGUMENTS is the event as JSON.'],
    model: [isWritten, 'The model to ask.'],
    statusMessage: STATUS_MESSAGE,
  },
  required: ['prompt'],
  usualTimeout: 60,
  target: ({ prompt }) => prompt,
  lacks: (_, settings) => lacksModel('agent', settings),
  async load({ models }) {
    const { agentHook } = await import('./agent-hook.js')
    return { hooks: (spec, surroundings) => [agentHook(spec, surroundings, models)] }
  },
}
