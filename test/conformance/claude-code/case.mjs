// What a case is: hooks, and a scripted session. `observed` and `fired` are what the real binary made of it.

/**
 * @typedef {object} CaseHook
 * @property {string} event
 * @property {string} source `settings`, `project`, `user`, or `plugin:FILE`
 * @property {number} group
 * @property {unknown} [matcher]
 * @property {{ timeout?: unknown } & Record<string, unknown>} [fields]
 * @property {string} [id]
 * @property {number} [exit]
 * @property {string} [stdout]
 * @property {string} [stderr]
 * @property {number} [sleep]
 * @property {string} [after]
 * @property {string} [script]
 * @property {string} [script_pre]
 * @property {boolean} [reads_stdin]
 * @property {Record<string, unknown>} [handler]
 */

/**
 * How Claude Code is run; the replay does not need it.
 * @typedef {object} Run
 * @property {readonly string[]} [args]
 * @property {readonly (string | object)[]} [prompts] one after another, each when the one before is answered
 * @property {readonly import('./mock-model.mjs').Turn[]} [turns] in place of one call of the tool
 * @property {readonly import('./mock-model.mjs').Turn[]} [subagent]
 * @property {boolean} [ask] the tool needs a permission, which a host gives
 * @property {boolean} [hostless] nobody can be asked
 * @property {readonly string[] | null} [spy] further events to be kept; null: none at all
 * @property {readonly (readonly string[])[]} [again] further runs in the same project, with these arguments
 * @property {Record<string, string>} [env]
 */

/**
 * @typedef {object} Case
 * @property {string} name
 * @property {string} about what it shows
 * @property {string} event the event that is watched
 * @property {string | null} tool_name
 * @property {unknown} [tool_input]
 * @property {readonly CaseHook[]} hooks
 * @property {readonly { dir: string, files?: readonly string[], manifest?: object }[]} [plugin]
 * @property {Record<string, string>} [raw_config] whole files, by source
 * @property {Record<string, object>} [settings] further keys of a file, by source
 * @property {Record<string, string>} [files] files of the project
 * @property {Run} [run]
 * @property {readonly Fired[]} [fires] in place of what a spy saw
 * @property {object} [host] settings of Carabiner
 * @property {string} [needs] a program, for the replay
 */

/** @typedef {{ event: string, data: Record<string, unknown> }} Fired */

/**
 * @typedef {object} Observed
 * @property {string} decision stop, deny, ask, modify, inject or continue
 * @property {string} [reason]
 * @property {string} [context]
 * @property {'allow' | 'none'} [permission] where the tool needed one
 * @property {string} [system_message]
 * @property {unknown} [updated_input]
 * @property {unknown} [updated_output]
 * @property {true} [failed] a hook gave no usable answer
 * @property {boolean} [tool_ran]
 * @property {readonly string[]} hooks_run
 * @property {readonly string[]} [wrote]
 * @property {readonly string[]} [later] what async hooks said, and the model was told
 */

export {}
