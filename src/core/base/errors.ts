// Every error the engine throws and every diagnostic it reports, by stable code. docs/reference/errors.md is made from these tables.

/** The meaning of an error code, and what to do about it. */
export interface CodeEntry {
  readonly means: string
  readonly todo: string
}

/** Codes of `HookError`: something was refused, or a hook failed. */
export const ERROR_CODES = {
  EVENT_INVALID: {
    means: 'The event name is empty or not a string.',
    todo: 'Pass a name or alias that carabiner docs events lists, or a name of your own.',
  },
  PAYLOAD_INVALID: {
    means:
      'The data of a known event lacks a required field, has a field of the wrong type, or is not JSON (a cycle, a bigint, too deep, too large). No hook ran.',
    todo: 'Send the field that the message names; carabiner docs events lists the fields of each event.',
  },
  OPTIONS_INVALID: {
    means: 'An option, setting or argument has an unknown name or an impossible value.',
    todo: 'Correct the option that the message names.',
  },
  MATCHER_INVALID: {
    means: 'A matcher given to register() is not a valid pattern.',
    todo: 'Use an exact list ("Write|Edit") or a valid regular expression.',
  },
  HOOK_FAILED: {
    means: 'A hook threw, rejected, or tried to change its input in place.',
    todo: 'Fix the hook; the error comes from it.',
  },
  HOOK_TIMEOUT: {
    means:
      'A hook did not answer before its deadline, or the deadline of the whole fire passed before it could start.',
    todo: 'Make the hook faster, or give it a larger timeout (seconds).',
  },
  ANSWER_INVALID: {
    means: 'A hook gave an invalid answer: not a HookResult, or JSON that its format does not know.',
    todo: 'Return undefined, or the result of a constructor such as deny() or modify(). carabiner docs results lists the fields; carabiner docs shell-hooks shows what a program prints.',
  },
  HOOK_NOT_STARTED: {
    means:
      "A hook's program could not be started: it is missing, not executable, or refused by the system. Or a module could not be imported, or exports no handler for the event.",
    todo: 'Check the command, the path and the permissions (chmod +x) that the message names.',
  },
  HOOK_NOT_TRUSTED: {
    means:
      'A hook that you trusted cannot run as you trusted it: its copy, a file outside the copy or a program differs from what was reviewed. It did not start. If it is a gate, the gate is closed.',
    todo: 'Look at what the message names and review it again: carabiner trust. To do without the hook: carabiner untrust NAME.',
  },
  HOOK_REFUSED: {
    means:
      'A hook may not send its request: its URL is not in allowed_http_urls, its address is not on the public internet, or a header contains a line break. Nothing was sent.',
    todo: 'Correct the hook, or allow what the message names under "hooks" in ~/.amplifier/settings.json (allowed_http_urls, allowed_private_hosts).',
  },
  HOOK_EXIT: {
    means:
      'A command hook ended with a code other than 0 and 2, or by a signal, and printed no valid answer. Or its script could not run, on an event that exit code 2 does not block.',
    todo: 'Run the command by hand with the same input; exit 0 to go on, 2 to block.',
  },
  HOOK_BROKEN: {
    means:
      'The interpreter of a hook could not run its script, and so ended with exit code 2: the script has a syntax error, or is not there. Exit code 2 blocks, so the event is denied, although the hook judged nothing.',
    todo: 'Fix the script where the message says, or its path in the command.',
  },
  HOOK_INTERRUPTED: {
    means:
      'The process of a hook ended or hung after it had worked on several calls, and nobody knows which of them is to blame. Or the process that runs the hook for the service was suspended, so an answer may have come too late. Or the helper that starts command hooks for a long-running process ended while the hook ran. Either way the hook has not judged this call. If it is a gate, the gate is closed, whatever its onFailure says.',
    todo: 'Try again. If it happens often, fix the hook: some call makes its process crash or hang.',
  },
  INSTALL_BROKEN: {
    means:
      'A file of Carabiner itself is missing or damaged, for instance while it is being updated, so a hook could not run. If it is a gate, the gate is closed, whatever its onFailure says.',
    todo: 'Try again. If it happens again, install Carabiner again.',
  },
  HOOK_OUTPUT: {
    means: 'A hook printed too much, so its answer cannot be read whole.',
    todo: 'Print only the answer; write logs to a file.',
  },
  MODEL_FAILED: {
    means:
      'A prompt or agent hook has no model, or the model could not be asked: a library or key is missing, the model cannot be reached, or it refused.',
    todo: 'Set "model" under "hooks" in ~/.amplifier/settings.json, or pass createHooks({ model }). carabiner docs prompt-hooks shows how.',
  },
  HOOK_UNSTABLE: {
    means:
      'Hooks were still changing the call after three rounds, so no version was judged by all of them. The call is denied.',
    todo: "Find the hooks that rewrite each other's changes (outcome.hooks, changed) and remove one.",
  },
  STORE_FAILED: {
    means:
      'The session store failed while a skill was loaded. Without the store, the hooks of the skill would be lost.',
    todo: 'Repair what the message names, then fire the event again.',
  },
  ABORTED: {
    means:
      'The signal given to fire or to a call was aborted. Running hooks were told to stop; the tool did not run.',
    todo: "Nothing, if you aborted it. The signal's reason is the cause.",
  },
  SESSION_CLOSED: {
    means: 'The session, or the hooks object it belongs to, was closed.',
    todo: 'Open a new session with hooks.session().',
  },
  CALL_ENDED: {
    means:
      'A message to carabiner serve is about a call that never began, has ended, belongs to a closed session, or waits for something else.',
    todo: 'Use the id that tool.begin or model.begin returned. Finish or fail a call once, and answer its question once.',
  },
  HELLO_MISPLACED: {
    means: 'A message to carabiner serve came before hello, or hello came a second time.',
    todo: 'Send hello first, and once. carabiner docs serve shows how.',
  },
  VERSION_UNSUPPORTED: {
    means: 'hello asks for a version of the protocol that this carabiner serve does not speak.',
    todo: 'Send hello again with one of the versions in error.data.versions, or install the Carabiner that speaks yours.',
  },
  METHOD_UNKNOWN: {
    means: 'carabiner serve has no such method.',
    todo: 'Correct the name; carabiner docs protocol lists the methods.',
  },
  CALL_DENIED: {
    means:
      'A tool or model call inside an SDK was refused by a hook or a person, or needs an approval that nobody could give.',
    todo: 'Nothing, if the refusal is right. The message is the reason, and error.outcome names the hook.',
  },
  TURN_ABORTED: {
    means: 'A hook answered abort_turn: the current turn ends.',
    todo: 'End the turn and show the reason. error.outcome names the hook.',
  },
  AGENT_ABORTED: {
    means: 'A hook answered hard_abort: the whole agent loop ends.',
    todo: 'Stop the agent and show the reason. error.outcome names the hook.',
  },
} as const satisfies Record<string, CodeEntry>

export type ErrorCode = keyof typeof ERROR_CODES

/** Codes of diagnostics: nothing was refused, but the user should know. */
export const DIAGNOSTIC_CODES = {
  conflict: {
    means: 'Two hooks of one step changed the same key. The later one in configuration order won.',
    todo: 'Give one of them another priority, so that they run one after the other.',
  },
  stale: {
    means:
      'A gate judged a call that a later hook changed, and did not see the final call, because of the setting recheck: "skipped".',
    todo: 'Remove the setting, or run the gate after the hook that rewrites (a higher priority).',
  },
  'verdict-ignored': {
    means:
      'Part of an answer has no effect here: a deny, ask_user or respond on an event that does not take it, or a change of the call by an approver, by a PermissionRequest hook that does not allow it, or by a gate that sees the final call.',
    todo: 'Use an event that can be denied (see carabiner docs events), or return an injection or a message.',
  },
  'async-verdict-ignored': {
    means: 'An async hook gave a verdict or changed data. Nobody waited for it, so that part is ignored.',
    todo: 'Remove "async" from the hook if its verdict must count.',
  },
  'owned-field': {
    means: 'A hook tried to change hook_event_name, session_id or timestamp, which belong to the engine.',
    todo: 'Leave the field out of modify().',
  },
  'system-message-reverted': {
    means: 'A hook changed system messages on ModelRequest; that part of its change was reverted.',
    todo: 'Use inject(), or allow it with the setting protect_system_messages: false.',
  },
  'unknown-answer-key': {
    means: 'An answer has an unknown key. The rest of the answer counts.',
    todo: 'Correct the spelling, or remove the key.',
  },
  'malformed-field': {
    means:
      'A deny or abort came with another field that is malformed. The verdict stands, and the field is ignored.',
    todo: 'Correct the field that the diagnostic names.',
  },
  'custom-event': {
    means:
      'A hook was registered for an unknown event, or an unknown event was fired. Hooks of known events do not run for it.',
    todo: 'Use a name or alias that carabiner docs events lists, or pass { custom: true } if the event is your own.',
  },
  shadow: {
    means:
      'A hook or rule in shadow mode would have done something about this event. It only says what that would have been.',
    todo: 'If it should count, remove "mode": "shadow" where it is written, or run carabiner enable.',
  },
  'rule-uncounted': {
    means:
      'The limit of a rule cannot be counted, because the session store is gone, unreadable, full or read-only, the event names no session, the gateway of the fleet does not answer, or this machine is in no fleet. The rule denies, or lets calls go on if it says "uncounted": "warn".',
    todo: 'Make the folder that the diagnostic names readable and writable. For a fleet, see carabiner fleet status.',
  },
  'rule-untrusted': {
    means:
      'A rule of a project would have asked about this call, rewritten it or ended the turn. You have not trusted the project, so its rules can only deny, and the call went on.',
    todo: 'Review it and trust it: carabiner trust.',
  },
  'rule-ignored': {
    means:
      'A rule has no effect: it has ended, it contradicts a stricter one, or it is in a project and would loosen something.',
    todo: 'Remove the rule, or do as the diagnostic says.',
  },
  'matcher-unsafe': {
    means:
      'A pattern is too long, or cannot be matched in linear time. It matches everything, or runs natively on short values only.',
    todo: 'Use an exact list or a simpler pattern.',
  },
  'injection-cut': {
    means:
      'An injection was larger than injection_size_limit and was cut. The diagnostic says where the full text is.',
    todo: 'Inject less, or raise the limit.',
  },
  'injection-over-budget': {
    means: 'The injections of this turn passed injection_budget_per_turn; this one was not injected.',
    todo: 'Inject less, or raise the budget.',
  },
  'stop-cap': {
    means:
      'Stop hooks refused too often (stop_block_cap in a row, stop_block_total since the last prompt). The stop was allowed.',
    todo: 'Make the hook give up by itself: it can read stop_hook_active.',
  },
  'host-failed': {
    means: 'The approver, display, context, audit sink or session store that the embedder passed threw.',
    todo: 'Fix the function that the diagnostic names.',
  },
  'late-failed': {
    means: 'An observer or an async hook failed after the answer was given.',
    todo: 'Fix the hook. Its verdict never counts, but its work was not done.',
  },
  'late-undelivered': {
    means: 'An async hook had something to say, but the session ended before a later event could deliver it.',
    todo: 'Remove "async" from the hook if it must be heard.',
  },
  'wake-waits': {
    means:
      'An async hook wanted to wake the model (asyncRewake, exit code 2), but nothing here can do that. The next event delivers its message.',
    todo: 'Pass `wake` to createHooks(), and begin a turn with the message it gets.',
  },
  'context-waits': {
    means:
      'A hook gave the model context on an event where the agent cannot add any. The next event that can carries it, in the same session.',
    todo: 'Nothing. To have it heard at once, use an event on which the agent takes context.',
  },
  'subscriber-failed': {
    means: 'A subscriber of globalHooks threw and was removed.',
    todo: 'Fix the subscriber and subscribe it again.',
  },
  'answer-misplaced': {
    means: 'An answer has a decision where it does not count (wrong level, wrong word, wrong hookEventName).',
    todo: 'Move or rename it as the diagnostic says.',
  },
  'left-running': {
    means:
      "A hook's program left a process running that is outside its process group and still holds its output.",
    todo: 'Make the hook wait for its children, or close their output.',
  },
  'variable-dropped': {
    means:
      'A variable tells programs to load code from the project, or changes what shells do. Hooks of the user and the company, and all gates, run without it.',
    todo: 'If the file that set it is gone, restart the agent. Or set the variable in your own Claude Code settings.',
  },
  'rpc-noise': {
    means:
      'A resident hook wrote something that is not a reply: noise on standard output, a line that is too long, a late, second or unknown reply, or a request.',
    todo: 'Print only replies to standard output. Write logs to standard error.',
  },
  'process-ended': {
    means: 'The process of a resident hook ended between calls.',
    todo: 'Find out why. The next call starts it again.',
  },
  'process-restarted': {
    means: 'The process of a resident hook had ended, and was started again.',
    todo: 'Find out why it ended. What it remembered is lost.',
  },
  'observer-dropped': {
    means: 'A resident hook missed events: it does not read them in time, or its process is not running.',
    todo: 'Make it read faster, or observe fewer kinds of events.',
  },
  'header-incomplete': {
    means:
      'A header of an HTTP hook uses a variable that is not set, or that the hook may not read. The header was sent without it.',
    todo: 'Set the variable. List it in allowedEnvVars of the hook and, if you use it, in http_allowed_env_vars.',
  },
  'config-invalid': {
    means: 'A configuration file cannot be read, or is not valid. Its hooks and settings are missing.',
    todo: 'Correct the file at the line that the diagnostic names.',
  },
  'config-kept': {
    means: 'A configuration file became unreadable. The hooks it had before still run.',
    todo: 'Correct the file. It is read again automatically, or with reload().',
  },
  'entry-invalid': {
    means:
      'An entry of a configuration file is malformed and was left out. Its neighbours still count. If only "onFailure" is malformed, the entry stays and fails closed.',
    todo: 'Correct the entry at the line that the diagnostic names.',
  },
  'entry-unsupported': {
    means: 'An entry of a configuration file asks for a kind of hook that does not run here.',
    todo: 'Use a kind that the diagnostic names.',
  },
  'unknown-event': {
    means: 'A configuration file has hooks for an event that does not exist; they never run.',
    todo: 'Use a name or alias that carabiner docs events lists.',
  },
  'agent-event': {
    means:
      'A hook file of another agent has hooks for an event that nothing here raises, or that the agent itself does not have. The hooks run when somebody fires the event.',
    todo: 'Leave it, if only that agent is to run them. Otherwise write an event that both have.',
  },
  'unknown-key': {
    means: 'A key of a configuration file is not part of the format, or has no effect in its place.',
    todo: 'Correct the spelling, move it where it belongs, or remove it.',
  },
  'matcher-invalid': {
    means: 'A matcher in a configuration file is not a valid pattern. It is compared as plain text.',
    todo: 'Use an exact list ("Write|Edit") or a valid regular expression.',
  },
  'matcher-never': {
    means:
      'A matcher fits no known tool or value, misspells one, or has the wrong case. The hook may never run.',
    todo: 'Write the name as the diagnostic says. carabiner explain shows what a matcher fits.',
  },
  'matcher-missed': {
    means:
      "A gate did not see a tool call, because its matcher has another name for what is most likely the same tool: `Bash` for an agent's `bash` or `run_shell_command`.",
    todo: "Name the agent's tool as the diagnostic says, with Claude Code's fields, or add the tool's name to the matcher.",
  },
  'timeout-short': {
    means:
      'A timeout in the file of an agent that counts milliseconds is below one second. Seconds were probably meant, and the hook hardly has time to start.',
    todo: 'Multiply it by 1000.',
  },
  'timeout-clamped': {
    means:
      'A timeout is above max_timeout or looks like milliseconds, and was lowered. A gate that it cuts short blocks.',
    todo: 'Timeouts are seconds: 5000 is more than an hour. Lower it, or raise max_timeout.',
  },
  'setting-invalid': {
    means:
      'A setting has an unknown name or an impossible value. The default applies, or the strictest value if the setting restricts something.',
    todo: 'Correct the setting at the line that the diagnostic names.',
  },
  'policy-expired': {
    means:
      'What the fleet said last is older than it may be, or the clock is behind. Its policy counts all the same, if it says so; what its reviewers trusted does not, and what they revoked still never runs.',
    todo: 'Run carabiner fleet policy fetch, and set the clock if it is wrong.',
  },
  'setting-ignored': {
    means:
      'A project may tighten a setting, but not loosen it; nor may the user where the company has a policy. This one was ignored.',
    todo: 'Put it into your own settings, if you want it.',
  },
  bypassed: {
    means: 'CARABINER_OFF=1 was set: the command line ran no hook.',
    todo: 'Unset it. With "bypass": false in your own settings it has no effect.',
  },
  'bypass-refused': {
    means: 'CARABINER_OFF=1 was set and had no effect, because your own settings say "bypass": false.',
    todo: 'Unset it, or change the setting.',
  },
  untrusted: {
    means: 'A hook came with the project, and you have not trusted it, or it changed since. It did not run.',
    todo: 'Review it and trust it: carabiner trust. For one call: --trust-all, or trust: "all" in createHooks().',
  },
  'trust-kept': {
    means:
      'Something that you trusted in this project was changed or removed. Its gates stay as you trusted them.',
    todo: 'Review the change and accept it with carabiner trust --mine, or withdraw your trust with carabiner untrust.',
  },
  'trust-unguarded': {
    means:
      'Something that was trusted, listed as trusted or installed in this project is missing, and nothing guards in its place.',
    todo: 'Put it back, or withdraw your trust with carabiner untrust. Until then, the setting trust_missing decides what happens.',
  },
  'trust-unreadable': {
    means:
      'The records of what you trust exist but cannot be read, so nobody knows which gates are missing. Every event that can be blocked is blocked.',
    todo: 'Repair the file that the diagnostic names, or review it again with carabiner trust.',
  },
  'payload-cut': {
    means: 'An event was too long for the model of a prompt or agent hook. Its middle was left out.',
    todo: 'Judge such events with a command or function hook, which sees all of it.',
  },
  'model-ignored': {
    means: 'A prompt or agent hook asks for another model than the one in use. The one in use answered.',
    todo: 'Remove "model" from the hook, or set that model in your own settings.',
  },
  'placeholder-empty': {
    means: 'A placeholder of a hook names a field that the event does not have. It was replaced by nothing.',
    todo: 'Correct the placeholder; carabiner docs events lists the fields of each event.',
  },
  'content-ignored': {
    means:
      'The tool of an MCP server returned something other than text, or text beside its answer. That part is ignored.',
    todo: 'Make the tool return one text, which is the answer.',
  },
  'result-not-json': {
    means:
      "Hooks cannot see a part of a tool's result (a stream, a promise, a getter that fails). They were told so.",
    todo: 'Return plain data from the tool, if hooks should read it.',
  },
} as const satisfies Record<string, CodeEntry>

export type DiagnosticCode = keyof typeof DIAGNOSTIC_CODES | ErrorCode

/** A file or one of its entries was rejected, so hooks that somebody wrote are missing. */
export const LOSSES: ReadonlySet<DiagnosticCode> = new Set([
  'config-invalid',
  'entry-invalid',
  'entry-unsupported',
])

/** Something the user should know, in a sentence that says what happened and what to do. */
export interface Diagnostic {
  readonly code: DiagnosticCode
  readonly text: string
  readonly file?: string
  readonly line?: number
  /** The event that a misspelt or foreign name most likely means. */
  readonly meant?: string
  /** The hook that it is about. */
  readonly hook?: string
  /** What to do about this very problem, in a sentence. Without it, the entry of the code applies. */
  readonly todo?: string
}

/** Receives diagnostics: a list, or an object that adds the hook's name first. */
export interface DiagnosticSink {
  push(d: Diagnostic): void
}

/** The one error type. `code` is stable, `message` says what happened and where, `hint` what to do. */
export class HookError extends Error {
  /** `AbortError` for ABORTED: programs and SDKs look for that name. */
  override readonly name: 'HookError' | 'AbortError'
  readonly code: ErrorCode
  readonly hint: string
  /** The hooks' decision (TURN_ABORTED, AGENT_ABORTED), or the hooks that had run by then (ABORTED). */
  readonly outcome: unknown

  constructor(
    code: ErrorCode,
    message: string,
    more: { hint?: string; cause?: unknown; outcome?: unknown } = {},
  ) {
    super(message, 'cause' in more ? { cause: more.cause } : undefined)
    this.name = code === 'ABORTED' ? 'AbortError' : 'HookError'
    this.code = code
    this.hint = more.hint ?? ERROR_CODES[code].todo
    this.outcome = more.outcome
  }
}

/** The text of anything that was thrown: hooks may throw strings, null, or objects with hostile getters. */
export function textOf(thrown: unknown): string {
  try {
    const text = wordsOf(thrown)
    return text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT)}…` : text
  } catch {
    return 'threw a value that cannot be shown'
  }
}

/** An error may quote a whole file, which helps nobody. */
const LONGEST_TEXT = 2000

function wordsOf(thrown: unknown): string {
  if (typeof thrown === 'string') return thrown
  if (thrown instanceof Error) return String(thrown.message || thrown.name)
  return `threw ${JSON.stringify(thrown) ?? String(thrown)}`
}

/** Also safe for a proxy that throws on every access. */
export function isHookError(thrown: unknown, code?: ErrorCode): thrown is HookError {
  try {
    return thrown instanceof HookError && (code === undefined || thrown.code === code)
  } catch {
    return false
  }
}

/** True if an optional package is not installed, by the codes of import() and of require(). */
export function isMissingPackage(error: unknown): boolean {
  const { code } = (error ?? {}) as { readonly code?: unknown }
  return code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND'
}
