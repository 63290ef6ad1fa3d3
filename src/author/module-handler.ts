// The types of a module hook: the functions that a file named by `"type": "module"` exports.

import type { Payload } from '../core/events/events.js'
import type { Answer, HookContext } from '../core/hooks/hook.js'

/** The tools that a handler gets in the process of its module. */
export type ModuleContext = Omit<HookContext, 'lastWord' | 'printed' | 'outcome'>

/** `event` is the canonical name. `data` is deep-frozen: return modify({ … }) to change it. Throwing is a failure of the hook. */
export type ModuleHandler<N extends string = string, M = undefined> = (
  event: string,
  data: Payload<N, M>,
  context: ModuleContext,
) => Answer | Promise<Answer>
