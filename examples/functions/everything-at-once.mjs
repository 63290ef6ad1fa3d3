// One check, several effects: critical issues go to the model and the user, warnings to the user alone.

import { createHooks, inject, proceed } from 'carabiner'
import { isMain, tell } from './demo.mjs'

/** @import { HookResult, Hooks, Payload } from 'carabiner' */

/** What must never be left in a file. */
const CRITICAL = [
  { pattern: /^(<{7} |>{7} )/m, what: 'a merge conflict that is not resolved' },
  { pattern: /-----BEGIN [A-Z ]*PRIVATE KEY-----/, what: 'a private key' },
  { pattern: /\bAKIA[0-9A-Z]{16}\b/, what: 'an AWS access key' },
]
/** What a person may want to look at. */
const WARNINGS = [
  { pattern: /\bconsole\.log\(/, what: 'a console.log' },
  { pattern: /\bdebugger\b/, what: 'a debugger statement' },
  { pattern: /\b(TODO|FIXME)\b/, what: 'a TODO' },
]

/**
 * @param {string} _event
 * @param {Payload<'PostToolUse'>} data
 * @returns {HookResult}
 */
export function comprehensiveHook(_event, data) {
  const { critical, warnings } = checkForIssues(data.tool_input.content ?? data.tool_input.new_string)
  if (critical.length > 0) {
    // Injected: the model made it and can undo it. An error: the person must know even if it does.
    return inject(
      `Critical issues in ${data.tool_input.file_path}:\n${critical.map((one) => `- ${one}`).join('\n')}`,
      {
        userMessage: `Found ${count(critical, 'critical issue')}`,
        userMessageLevel: 'error',
        suppressOutput: true,
      },
    )
  }
  if (warnings.length > 0) {
    // Not injected: it would cost context, and may be on purpose.
    return proceed({
      userMessage: `Found ${count(warnings, 'warning')}: ${warnings.join(', ')}`,
      userMessageLevel: 'warning',
      suppressOutput: true,
    })
  }
  return proceed()
}

/** @param {unknown} text */
export function checkForIssues(text) {
  if (typeof text !== 'string') return { critical: [], warnings: [] }
  /** @param {typeof CRITICAL} rules */
  const found = (rules) => rules.filter(({ pattern }) => pattern.test(text)).map(({ what }) => what)
  return { critical: found(CRITICAL), warnings: found(WARNINGS) }
}

/**
 * @param {string[]} list
 * @param {string} noun
 */
function count(list, noun) {
  return `${list.length} ${noun}${list.length === 1 ? '' : 's'}`
}

/** @param {Pick<Hooks, 'register'>} hooks */
export function register(hooks) {
  return hooks.register('tool:post', comprehensiveHook, { name: 'comprehensive', matcher: 'Write|Edit' })
}

if (isMain(import.meta.url)) {
  const hooks = await createHooks({ globals: false })
  register(hooks)
  const session = hooks.session()
  const contents = ['<<<<<<< HEAD\nexport const a = 1\n', 'console.log(1) // TODO\n', 'export const a = 1\n']
  for (const content of contents) {
    const data = { tool_name: 'Write', tool_input: { file_path: 'a.mjs', content } }
    tell(`Wrote ${JSON.stringify(content)}`, await session.fire('PostToolUse', data))
  }
  await hooks.close()
}
