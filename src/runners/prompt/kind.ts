// Kind `prompt`: the fields of an entry.

import { isFlag } from '../../core/base/options.js'
import type { HookSpec } from '../hook-spec.js'
import { isWritten, type Kind, STATUS_MESSAGE } from '../kind.js'
import { lacksModel } from '../model/model-source.js'
import type { PromptHandler } from './prompt-hook.js'

export const PROMPT: Kind<HookSpec<PromptHandler>> = {
  summary: 'Asks a model.',
  fields: {
    prompt: [isWritten, 'The question for a model. $ARGUMENTS is the event as JSON.'],
    model: [isWritten, 'The model to ask.'],
    continueOnBlock: [isFlag, 'The agent continues after a block, with the reason.'],
    statusMessage: STATUS_MESSAGE,
  },
  required: ['prompt'],
  target: ({ prompt }) => prompt,
  lacks: (_, settings) => lacksModel('prompt', settings),
  async load({ models, programs }) {
    const { promptHook } = await import('./prompt-hook.js')
    return { hooks: (spec, surroundings) => [promptHook(spec, surroundings, models, programs)] }
  },
}
