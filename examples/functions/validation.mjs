// Validates what a tool returned before the model builds on it.

import { createHooks, inject, proceed } from 'carabiner'
import { isMain, tell } from './demo.mjs'

/** @import { HookResult, Hooks, Payload } from 'carabiner' */

/**
 * @param {string} _event
 * @param {Payload<'PostToolUse'>} data
 * @returns {HookResult}
 */
export function validationHook(_event, data) {
  const errors = validate(data.tool_result)
  if (errors.length === 0) return proceed()
  return inject(`Validation errors:\n${errors.map((error) => `- ${error}`).join('\n')}`, {
    contextInjectionRole: 'system',
    userMessage: 'Validation found issues',
    userMessageLevel: 'warning',
    suppressOutput: true,
  })
}

/**
 * What is wrong with a release plan; empty where nothing is. Takes anything, as a tool may return anything.
 *
 * @param {unknown} result
 * @returns {string[]}
 */
export function validate(result) {
  if (typeof result !== 'object' || result === null || Array.isArray(result)) {
    return ['the release plan must be an object']
  }
  const { version, changes } = /** @type {Record<string, unknown>} */ (result)
  const errors = []
  if (typeof version !== 'string' || !/^\d+\.\d+\.\d+$/.test(version)) {
    errors.push(`version must look like 1.2.3, got ${JSON.stringify(version) ?? 'nothing'}`)
  }
  if (!Array.isArray(changes) || changes.length === 0) errors.push('changes must be a list of at least one')
  else if (new Set(changes).size < changes.length) errors.push('changes must not name a change twice')
  return errors
}

/** @param {Pick<Hooks, 'register'>} hooks */
export function register(hooks) {
  return hooks.register('tool:post', validationHook, { name: 'validation', matcher: 'PlanRelease' })
}

if (isMain(import.meta.url)) {
  const hooks = await createHooks({ globals: false })
  register(hooks)
  const session = hooks.session()
  const plans = {
    'A hasty plan': { version: '2.0', changes: [] },
    'A plan': { version: '2.0.0', changes: ['sum'] },
  }
  for (const [what, plan] of Object.entries(plans)) {
    const data = { tool_name: 'PlanRelease', tool_input: {}, tool_result: plan }
    tell(what, await session.fire('PostToolUse', data))
  }
  await hooks.close()
}
