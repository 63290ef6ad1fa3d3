// The function hooks of the played session beside examples/functions: each shows one thing a hook can do, or fails to.

import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { deny, modify, proceed, respond } from 'carabiner'

/** @import { Data, HookContext, HookResult, Hooks, Payload } from 'carabiner' */

// ---- observe ----------------------------------------------------------------------------------------------

/**
 * An observer sees every event and what came of it, and holds nobody up.
 *
 * @param {string[]} lines where it writes
 */
export function createJournal(lines) {
  /**
   * @param {string} event
   * @param {Data} data
   * @param {Pick<HookContext, 'outcome'>} context
   */
  return (event, data, { outcome }) => {
    lines.push([event, data.tool_name, outcome?.action].filter((word) => word !== undefined).join(' '))
  }
}

// ---- rewrite ----------------------------------------------------------------------------------------------

/**
 * A push that overwrites others' work becomes one that does not.
 *
 * @param {string} _event
 * @param {Payload<'PreToolUse'>} data
 * @returns {HookResult}
 */
export function forceWithLease(_event, data) {
  const command = String(data.tool_input.command ?? '')
  const safer = command.replace(/\b(git\s+push\b.*?\s)(?:--force|-f)(?=\s|$)/, '$1--force-with-lease')
  if (safer === command) return proceed()
  // A patch replaces tool_input whole, so what is to stay must be in it.
  return modify(
    { tool_input: { ...data.tool_input, command: safer } },
    { userMessage: `Runs instead: ${safer}` },
  )
}

// ---- answer -----------------------------------------------------------------------------------------------

/** A tool that no agent has: one hook offers it to the model, the other answers when the model calls it. */
const COUNT_LINES = {
  name: 'count_lines',
  description: 'Counts the lines of a file',
  parameters: { type: 'object', properties: { file_path: { type: 'string' } }, required: ['file_path'] },
}

/**
 * @param {string} _event
 * @param {Payload<'ModelRequest'>} data
 * @returns {HookResult}
 */
export function offerCountLines(_event, data) {
  return modify({ tools: [...data.tools, COUNT_LINES] })
}

/**
 * @param {string} _event
 * @param {Payload<'PreToolUse'>} data
 * @returns {Promise<HookResult>}
 */
export async function answerCountLines(_event, data) {
  const filePath = data.tool_input.file_path
  if (typeof filePath !== 'string') return respond({ for_llm: 'count_lines needs file_path', is_error: true })
  try {
    const text = await readFile(resolve(data.cwd ?? '', filePath), 'utf8')
    return respond({ for_llm: `${filePath}: lines ${text.split('\n').length - 1}` })
  } catch {
    return respond({ for_llm: `${filePath} cannot be read`, is_error: true })
  }
}

// ---- fail -------------------------------------------------------------------------------------------------

/**
 * A gate with a mistake in it: it takes for granted that every deployment names a window. Without one it
 * crashes, and a gate that crashed stays closed.
 *
 * @param {string} _event
 * @param {Payload<'PreToolUse'>} data
 * @returns {HookResult}
 */
export function deployGate(_event, data) {
  const { window } = /** @type {{ window: { open: boolean } }} */ (/** @type {unknown} */ (data.tool_input))
  return window.open ? proceed() : deny('Deployments wait for the next window')
}

/**
 * Takes longer than it may. On a notification that is a warning and nothing more.
 *
 * @param {string} _event
 * @param {Payload<'Notification'>} _data
 * @param {Pick<HookContext, 'signal'>} context
 */
export async function slowPager(_event, _data, { signal }) {
  await wait(60_000, undefined, { signal })
}

// ---- keep going -------------------------------------------------------------------------------------------

/** Refuses to stop while files were changed and not tested since: two hooks that share what they know. */
export function createTestsFirst() {
  const untested = new Set()
  return {
    /**
     * @param {string} _event
     * @param {Payload<'PostToolUse'>} data
     */
    watch(_event, data) {
      if (/^(Write|Edit)$/.test(data.tool_name)) untested.add(data.session_id)
      else if (/\bnpm (run )?test\b/.test(String(data.tool_input.command ?? '')))
        untested.delete(data.session_id)
    },
    /**
     * @param {string} _event
     * @param {Payload<'Stop'>} data
     * @returns {HookResult}
     */
    check(_event, data) {
      return untested.has(data.session_id)
        ? deny('Files were changed; run the tests before you stop')
        : proceed()
    },
  }
}

/** @param {Pick<Hooks, 'register'>} hooks */
export function register(hooks) {
  const testsFirst = createTestsFirst()
  hooks.register('*', createJournal([]), { name: 'journal', role: 'observe' })
  // First, so that every gate judges the command that will run.
  hooks.register('PreToolUse', forceWithLease, { name: 'force_with_lease', matcher: 'Bash', priority: -10 })
  hooks.register('ModelRequest', offerCountLines, { name: 'offer_count_lines' })
  hooks.register('PreToolUse', answerCountLines, { name: 'answer_count_lines', matcher: 'count_lines' })
  hooks.register('PreToolUse', deployGate, { name: 'deploy_gate', matcher: 'Deploy' })
  hooks.register('Notification', slowPager, { name: 'slow_pager', timeout: 0.05 })
  hooks.register('PostToolUse', testsFirst.watch, { name: 'tests_first_watch', matcher: 'Write|Edit|Bash' })
  hooks.register('Stop', testsFirst.check, { name: 'tests_first' })
}
