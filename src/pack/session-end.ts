// At the end of a session: saves its memory once more and records the end.

import { textOf } from '../core/base/errors.js'
import { bounded, telling } from './answer.js'
import { conversationOf, saveMemory, sessionOf } from './memory.js'
import type { PackHook } from './pack-hook.js'

export const sessionEnd: PackHook = {
  name: 'session-end',
  event: 'SessionEnd',
  remembers: true,
  run(input, context) {
    if (input.event !== 'SessionEnd') return undefined
    const { reason } = input.extra
    context.state.append('metrics', {
      event: 'SessionEnd',
      session: sessionOf(input.sessionId),
      ...(typeof reason === 'string' && { reason: bounded(reason, 100) }),
    })
    try {
      saveMemory(input, conversationOf(input), context)
      return undefined
    } catch (error) {
      return telling(`The memory of this session could not be saved: ${textOf(error)}`)
    }
  },
}
