// The types of a module hook: the functions that a file named by `"type": "module"` exports.

import type { Payload } from '../core/events/events.js'
import type { Answer } from '../core/hooks/hook.js'
import type { ModuleContext } from '../runners/module/module-context.js'

export type { ModuleContext }

/** `event` is the canonical name. `data` is deep-frozen: return modify({ … }) to change it. Throwing is a failure of the hook. */
export type ModuleHandler<N extends string = string, M = undefined> = (
  event: string,
  data: Payload<N, M>,
  context: ModuleContext,
) => Answer | Promise<Answer>
