// A prompt hook: a question for a model. A yes lets the agent continue, a no denies.

import type { HookResult } from '../../core/events/result.js'
import type { Hook, HookContext, HookEvent } from '../../core/hooks/hook.js'
import type { Programs } from '../command/programs.js'
import type { HookSpec, Surroundings } from '../hook-spec.js'
import { type Answered, ask } from '../model/ask.js'
import type { ModelSource } from '../model/model-source.js'
import { noteCut, questionFor } from '../model/question.js'
import { type Reply, readReply } from '../model/reply.js'
import { checkSeenWhole, verdictOf } from '../model/verdict.js'
import { announce, bounded } from '../telling.js'

/** The fields that only a prompt hook has. */
export interface PromptHandler {
  readonly prompt: string
  /** The model it asks for. */
  readonly model?: string
  /** A no refuses the call, but does not end the turn. */
  readonly continueOnBlock?: boolean
  /** Shown while it runs. */
  readonly statusMessage?: string
}

export function promptHook(
  spec: HookSpec<PromptHandler>,
  surroundings: Surroundings,
  models: () => ModelSource,
  programs: Programs,
): Hook {
  const { hook, handler } = spec
  const asker = { name: hook.name, continueOnBlock: handler.continueOnBlock ?? false, givesUp: true }
  const run = async (event: HookEvent, context: HookContext): Promise<HookResult> => {
    const { signal, note } = context
    announce(spec, surroundings, note)
    const question = questionFor(handler.prompt, event, asker)
    noteCut(question, note)
    const soFar = (said: string) => {
      const no = noIn(said)
      if (no) context.lastWord(verdictOf(no, event, asker, note))
    }
    const asking = { wish: handler.model, signal, note, soFar, atDeadline: context.atDeadline }
    const answered = await ask(models(), question, programs, asking)
    show(answered, context)
    const reply = read(answered, note)
    checkSeenWhole(reply, question, event)
    return verdictOf(reply, event, asker, note)
  }
  return { ...hook, run }
}

function show({ reply, stderr }: Answered, { printed }: HookContext): void {
  if (!reply && !stderr) return
  printed({ ...(reply && { stdout: bounded(reply) }), ...(stderr && { stderr: bounded(stderr) }) })
}

/** From a model that failed, only a no counts. */
function read({ reply, failure }: Answered, note: HookContext['note']): Reply {
  if (!failure) return readReply(reply, note)
  const no = noIn(reply)
  if (!no) throw failure
  note({ code: failure.code, text: `${failure.message}; its no still counts` })
  return no
}

function noIn(text: string): Reply | undefined {
  try {
    const reply = readReply(text, () => {})
    return reply.ok ? undefined : reply
  } catch {
    return undefined // The caller reports the failure.
  }
}
