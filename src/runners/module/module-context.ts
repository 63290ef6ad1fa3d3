// The context that a handler gets in the process of its module.

import type { HookContext } from '../../core/hooks/hook.js'

/** The tools that a handler gets in the process of its module. */
export type ModuleContext = Omit<HookContext, 'lastWord' | 'printed' | 'outcome'>
