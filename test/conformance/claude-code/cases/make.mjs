// Short ways to write a case.

/** @typedef {import('../case.mjs').Case} Case */
/** @typedef {import('../case.mjs').CaseHook} CaseHook */
/** @typedef {Partial<CaseHook>} Part */

export const COMMAND = 'touch ran.txt && echo TOOL_RAN'

/** A hook of an event, in the file of the session. @param {string} event @param {string} id @param {Part} part @returns {CaseHook} */
export function on(event, id, part = {}) {
  return { event, source: 'settings', group: 0, id, ...part }
}

/** @param {string} id @param {Part} [part] */
export function pre(id, part) {
  return on('PreToolUse', id, part)
}

/** What a hook answers, in the part of its event. @param {string} event @param {object} fields @param {object} [top] */
export function says(event, fields, top = {}) {
  return JSON.stringify({ ...top, hookSpecificOutput: { hookEventName: event, ...fields } })
}

/** @param {string} decision @param {string} [reason] @param {object} [more] */
export function verdict(decision, reason, more = {}) {
  return says('PreToolUse', {
    permissionDecision: decision,
    ...(reason && { permissionDecisionReason: reason }),
    ...more,
  })
}

/** @param {string} event @param {string} text */
export function context(event, text) {
  return says(event, { additionalContext: text })
}

/** A case of one Bash call. @param {string} name @param {string} about @param {readonly CaseHook[]} hooks @param {Partial<Case>} [more] @returns {Case} */
export function bash(name, about, hooks, more = {}) {
  return {
    name,
    about,
    event: 'PreToolUse',
    tool_name: 'Bash',
    tool_input: { command: COMMAND, description: 'd' },
    hooks,
    ...more,
  }
}

/** A case of one event that has hooks. @param {string} event @param {string} name @param {string} about @param {readonly CaseHook[]} hooks @param {Partial<Case>} [more] @returns {Case} */
export function at(event, name, about, hooks, more = {}) {
  return { ...bash(name, about, hooks), event, ...more }
}
