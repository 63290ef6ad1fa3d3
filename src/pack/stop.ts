// When the agent wants to stop: saves the session's memory, keeps the agent going in lock mode, and starts a reflection.

import type { InputOf } from '../author/hook-input.js'
import { textOf } from '../core/base/errors.js'
import type { Data } from '../core/base/json.js'
import { deny, type HookResult } from '../core/events/result.js'
import { withoutProject } from '../effects/shell/own-environment.js'
import { bounded, telling, withMessages } from './answer.js'
import { countStop, endLockMode, lockModeOf } from './lock-mode.js'
import { conversationOf, kept, saveMemory, sessionOf } from './memory.js'
import type { PackContext, PackHook } from './pack-hook.js'
import { REFLECTING, reflect, reflectionPrompt } from './reflection.js'
import { replaceFile } from './state.js'
import type { Conversation } from './transcript.js'

const MAX_REFLECTION = 3000
const MAX_GOAL = 4096
const GO_ON =
  'Lock mode is on: do not stop. Continue with the unfinished work. When everything is done, check it again.'

type Stop = InputOf<'Stop'>

export const stop: PackHook = {
  name: 'stop',
  event: 'Stop',
  async run(input, context) {
    // The agent that reflects also fires this hook.
    if (input.event !== 'Stop' || isReflecting(context)) return undefined
    const messages: string[] = []
    const conversation = remembered(input, context, messages)
    const lock = locked(input, context)
    if (lock?.action === 'deny') return withMessages(lock, messages)
    if (conversation) await reflected(input, conversation, context, messages)
    return withMessages(lock, messages)
  },
}

function remembered(input: Stop, context: PackContext, messages: string[]): Conversation | undefined {
  if (!context.settings.memory.enabled) return undefined
  try {
    const conversation = conversationOf(input)
    saveMemory(input, conversation, context)
    return conversation
  } catch (error) {
    messages.push(`The memory of this session could not be saved: ${textOf(error)}`)
    return undefined
  }
}

/** A deny keeps the agent going, whatever other hooks did: that is the point of lock mode. */
function locked(input: Stop, { state, settings }: PackContext): HookResult | undefined {
  const lock = lockModeOf(state)
  if (!lock) return undefined
  if ('problem' in lock) return telling(lock.problem)
  const most = settings.lock.maxIterations
  const count = countStop(state, lock, sessionOf(input.sessionId))
  // Without a count there is no cap.
  if (count === undefined) return telling('Lock mode could not count the stops, so the agent may stop.')
  if (count <= most) {
    const goal = lock.message === undefined ? '' : `\n${bounded(lock.message, MAX_GOAL)}`
    return deny(`${GO_ON} (${count} of at most ${most})${goal}`)
  }
  endLockMode(state)
  return telling(`Lock mode has ended after keeping the agent from stopping ${most} times.`)
}

/** Skipped while another hook keeps the agent going, because the session is not over. */
async function reflected(
  input: Stop,
  conversation: Conversation,
  { settings, state, env, projectDir, now }: PackContext,
  messages: string[],
): Promise<void> {
  if (input.stopHookActive || conversation.said.length === 0) return
  try {
    const place = state.place('reflection-prompt.md')
    if (place === undefined) return
    const prompt = reflectionPrompt(conversation)
    replaceFile(place, `${prompt}\n`)
    const { reflection } = settings
    if (!reflection || !isDue(state.recent('reflections', 1)[0]?.time, reflection.interval, now())) return
    const answer = await reflect(reflection, prompt, { cwd: projectDir, env })
    if ('problem' in answer) messages.push(`The reflection failed: ${answer.problem}`)
    // Failures are recorded too, so that a command that always fails does not run at every stop.
    const noted: Data = 'problem' in answer ? { failed: true } : { text: kept(answer.text, MAX_REFLECTION) }
    state.append('reflections', { session: sessionOf(input.sessionId), ...noted })
  } catch (error) {
    messages.push(`The reflection failed: ${textOf(error)}`)
  }
}

function isDue(last: unknown, interval: number, now: number): boolean {
  const at = typeof last === 'string' ? Date.parse(last) : Number.NaN
  return Number.isNaN(at) || now - at >= interval * 1000
}

/** Ignores the variable if a project may have set it. */
function isReflecting({ env, projectDir }: PackContext): boolean {
  return Boolean(env[REFLECTING] && withoutProject(projectDir, env)[REFLECTING])
}
