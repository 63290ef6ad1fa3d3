// Shows one clean line of progress in place of a hook's verbose output.

import { createHooks, proceed } from 'carabiner'
import { isMain, tell } from './demo.mjs'

/** @import { Data, HookResult, Hooks } from 'carabiner' */

/**
 * @param {string} _event
 * @param {Data} data
 * @returns {HookResult}
 */
export function progressHook(_event, data) {
  const processed = typeof data.files_processed === 'number' ? data.files_processed : 0
  return proceed({
    userMessage: `Processed ${processed} ${processed === 1 ? 'file' : 'files'}`,
    userMessageLevel: 'info',
    // Hides what this hook prints, never what the tool printed.
    suppressOutput: true,
  })
}

/** @param {Pick<Hooks, 'register'>} hooks */
export function register(hooks) {
  // Not a name of the catalogue: an event of the agent's own, with whatever data it sends.
  return hooks.register('index:progress', progressHook, { name: 'progress', custom: true })
}

if (isMain(import.meta.url)) {
  const hooks = await createHooks({ globals: false })
  register(hooks)
  const session = hooks.session()
  for (const files_processed of [1, 240]) {
    tell('Indexing', await session.fire('index:progress', { files_processed }, { custom: true }))
  }
  await hooks.close()
}
