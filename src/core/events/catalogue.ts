// The event catalogue: one row per event. Types, payload checks, aliases, docs and schema all derive from it.

/** `list` is a JSON array, `object` a JSON object, `json` anything. */
export type FieldType = 'string' | 'number' | 'boolean' | 'object' | 'list' | 'json'

/**
 * What a deny does:
 * - `block`: the operation does not happen
 * - `tell`: it has happened; the reason goes to the model
 * - `go-on`: the agent does not stop; the reason is its next instruction
 * - `none`: nothing can be denied; the deny is reported
 */
export type DenyEffect = 'block' | 'tell' | 'go-on' | 'none'

export interface EventRow {
  /** When the event happens, in a few words. */
  readonly when: string
  /** Names in other systems; snake_case and camelCase spellings of the canonical name need no entry. */
  readonly aliases: readonly string[]
  /** The field that matchers test; null where matchers are ignored. */
  readonly matcher: string | null
  readonly required: Readonly<Record<string, FieldType>>
  readonly optional: Readonly<Record<string, FieldType>>
  /** Fills in fields that the host did not send. */
  readonly defaults?: Readonly<Record<string, string | readonly never[] | Readonly<Record<string, never>>>>
  /** Defaults that an alias implies, by alias. They may stand in for a required field. */
  readonly implied?: Readonly<Record<string, EventRow['defaults']>>
  /** Other systems' names for fields, and the field that each means. */
  readonly names?: Readonly<Record<string, string>>
  readonly deny: DenyEffect
  /** The effect of a deny in words. */
  readonly denyMeans: string
  /** Only hooks in Claude Code's format may deny here; a function's or resident hook's deny is reported. */
  readonly denyOnlyClaudeFormat?: true
  /** A function hook that fails: `deny` closes the gate, `ignore` goes on. */
  readonly onFailure: 'deny' | 'ignore'
  /** An answer may be given in place of the operation. */
  readonly respond?: true

  /** A matcher splits on `|` only, and fewer characters make an exact list. */
  readonly narrowMatcher?: true
  /** Known values of the matcher field; an agent may send others. */
  readonly matcherValues?: readonly string[]
  /** Starts a turn. If hooks refuse it, their injections are dropped too. */
  readonly startsTurn?: true
  /** A model call: counted in the turn, and its system messages are protected. */
  readonly callsModel?: true
  /** A tool call: it resets the count of stops refused in a row. */
  readonly callsTool?: true
  /** The event whose hooks are asked before a person is. */
  readonly asksFirst?: string
  /** Ends if nobody objects. */
  readonly ends?: 'session' | 'subagent'
  /** Can deliver the effects of async hooks to the model. */
  readonly carriesLate?: true
  /** A command hook may set variables for the rest of the session. */
  readonly setsVariables?: true
  /** Aliases under which observers are told something without the event being fired. */
  readonly observedAs?: readonly string[]
  /** Claude Code does not have this event. */
  readonly notInClaudeCode?: true
  /**
   * The sample that `carabiner new` writes: a field and a value in which the hook refuses the text `%s`, or a hook that
   * tells the model something. Absent: the hook tells the user something.
   */
  readonly sample?: SampleSubject | 'tells-model'
}

export interface SampleSubject {
  readonly field: string
  readonly value: SampleValue
}
type SampleValue = string | readonly SampleValue[] | { readonly [key: string]: SampleValue }

/** Fields any event may carry: the session's circumstances, and every key of BeamAgent's hook context. */
export const COMMON_FIELDS = {
  session_id: 'string',
  transcript_path: 'string',
  cwd: 'string',
  hook_event_name: 'string',
  timestamp: 'string',
  prompt_id: 'string',
  permission_mode: 'string',
  agent_id: 'string',
  agent_type: 'string',
  parent_id: 'string',
  parent_turn_id: 'string',
  turn_id: 'string',
  effort: 'object',
  channel: 'string',
  chat_id: 'string',
  event: 'string',
  tool_name: 'string',
  tool_input: 'object',
  tool_use_id: 'string',
  content: 'json',
  stop_reason: 'string',
  duration_ms: 'number',
  stop_hook_active: 'boolean',
  prompt: 'string',
  params: 'object',
  permission_prompt_tool_name: 'string',
  permission_suggestions: 'list',
  updated_permissions: 'json',
  interrupt: 'boolean',
  category: 'string',
  permission_id: 'string',
  metadata: 'object',
  agent_transcript_path: 'string',
  system_info: 'object',
  reason: 'json',
  reload_type: 'string',
  status: 'string',
} as const satisfies Record<string, FieldType>

/** One field under two names: both can be read, and patching either changes both. */
export const TWIN_FIELDS = [
  ['tool_response', 'tool_result'],
  ['source', 'trigger'],
  ['prompt', 'user_prompt'],
] as const

/** Fields that belong to the engine: no hook changes them. */
export const OWNED_FIELDS: ReadonlySet<string> = new Set(['hook_event_name', 'session_id', 'timestamp'])

/** Tools that were renamed: a matcher that names the old tool still matches the new one. */
export const FORMER_TOOL_NAMES = {
  Agent: ['Task'],
  TaskStop: ['KillShell', 'KillBash'],
  ListAgents: ['ListPeers'],
  SendUserMessage: ['Brief'],
  ListMcpResourcesTool: ['ListMcpResources'],
  ReadMcpResourceTool: ['ReadMcpResource'],
  ReadMcpResourceDirTool: ['ReadMcpResourceDir'],
} as const satisfies Readonly<Record<string, readonly string[]>>

/** Empty for a tool that was never renamed. */
export function formerNamesOf(tool: string): readonly string[] {
  return Object.hasOwn(FORMER_TOOL_NAMES, tool)
    ? FORMER_TOOL_NAMES[tool as keyof typeof FORMER_TOOL_NAMES]
    : []
}

/** Other agents' names for Claude Code's most guarded tools, in lower case and without separators. */
const OTHER_TOOL_NAMES: Readonly<Record<string, readonly string[]>> = {
  Bash: [
    ...['bash', 'executebash', 'executecommand', 'execute', 'runcommand', 'runcommands', 'execcommand'],
    ...[
      'shell',
      'shellcommand',
      'runshellcommand',
      'developershell',
      'runterminalcommand',
      'terminal',
      'runinterminal',
    ],
    ...['powershell', 'exec', 'runbash', 'runterminalcmd', 'runshell', 'writestdin'],
  ],
  Read: [
    ...['read', 'readfile', 'readfiles', 'readmanyfiles', 'readfilegemini', 'readcode', 'fsread', 'view'],
    ...['viewfile', 'openfile', 'readmultiplefiles'],
  ],
  Write: [
    ...['write', 'writefile', 'writetofile', 'writefilegemini', 'writecode', 'fswrite', 'create'],
    ...[
      'createfile',
      'newrule',
      'applypatch',
      'editor',
      'fileeditor',
      'strreplaceeditor',
      'savefile',
      'developertexteditor',
      'fsappend',
      'patch',
      'texteditor',
      'developerwrite',
      'delete',
      'deletefile',
    ],
  ],
  Edit: [
    ...['edit', 'editfile', 'replace', 'replaceinfile', 'replacestringinfile', 'strreplace', 'writecode'],
    ...[
      'fswrite',
      'applypatch',
      'editor',
      'fileeditor',
      'strreplaceeditor',
      'searchreplace',
      'developertexteditor',
      'fsappend',
      'patch',
      'replacefilecontent',
      'multireplacefilecontent',
      'multireplacestringinfile',
      'inserteditintofile',
      'editnotebookfile',
      'editfiles',
      'texteditor',
      'developeredit',
      'delete',
      'deletefile',
    ],
  ],
}

/** Claude Code's names for a tool that another agent has under this name, or in other case. Empty for its own names. */
export function toolNamesLike(tool: string): readonly string[] {
  if (Object.hasOwn(OTHER_TOOL_NAMES, tool)) return []
  const letters = bareLetters(tool)
  return Object.keys(OTHER_TOOL_NAMES).filter((name) => OTHER_TOOL_NAMES[name]?.includes(letters))
}

/** In lower case and without separators. */
export function bareLetters(name: string): string {
  return name.toLowerCase().replace(/[-_ .]/g, '')
}

const toolCall = { tool_name: 'string', tool_input: 'object' } as const
const stopped = {
  stop_hook_active: 'boolean',
  last_assistant_message: 'string',
  background_tasks: 'list',
  session_crons: 'list',
} as const
const modelSwitch = {
  requested_model: 'string',
  source: 'string',
  context_tokens: 'number',
  prompt_cache_warm: 'boolean',
  cache_ttl: 'string',
  estimated_cache_write_usd: 'number',
  pricing: 'string',
} as const
const task = { task_id: 'string', task_subject: 'string' } as const
const taskDetails = { task_description: 'string', teammate_name: 'string', team_name: 'string' } as const

export const CATALOGUE = {
  PreToolUse: {
    when: 'before a tool runs',
    aliases: ['tool:pre', 'before_tool', 'hook.before_tool'],
    matcher: 'tool_name',
    required: toolCall,
    optional: { tool_use_id: 'string', mcp_server: 'object' },
    names: { tool_call_id: 'tool_use_id' },
    deny: 'block',
    denyMeans: 'the tool does not run; the reason goes to the model',
    onFailure: 'deny',
    respond: true,
    callsTool: true,
    asksFirst: 'PermissionRequest',
    carriesLate: true,
    sample: { field: 'tool_input', value: { command: 'echo %s' } },
  },
  PermissionRequest: {
    when: 'before a person is asked',
    aliases: ['tool:ask_user', 'approval:required'],
    matcher: 'tool_name',
    required: toolCall,
    optional: { permission_suggestions: 'list', mcp_server: 'object' },
    deny: 'block',
    denyMeans: 'refused without asking the person',
    onFailure: 'deny',
    sample: { field: 'tool_input', value: { command: 'echo %s' } },
  },
  PostToolUse: {
    when: 'after a tool ran',
    aliases: ['tool:post', 'after_tool', 'hook.after_tool'],
    matcher: 'tool_name',
    required: toolCall,
    optional: { tool_response: 'json', tool_use_id: 'string', duration_ms: 'number', mcp_server: 'object' },
    names: { result: 'tool_response', tool_call_id: 'tool_use_id' },
    // BeamAgent's is a notification, which may lack the call.
    implied: { post_tool_use: { tool_input: {} } },
    deny: 'tell',
    denyMeans: 'the reason is told to the model',
    onFailure: 'ignore',
    carriesLate: true,
    sample: { field: 'tool_response', value: { stdout: '%s' } },
  },
  PostToolUseFailure: {
    when: 'after a tool failed',
    aliases: ['tool:error'],
    matcher: 'tool_name',
    required: { tool_name: 'string' },
    optional: {
      tool_input: 'object',
      error: 'json',
      is_interrupt: 'boolean',
      tool_use_id: 'string',
      duration_ms: 'number',
      mcp_server: 'object',
    },
    names: { tool_call_id: 'tool_use_id' },
    deny: 'tell',
    denyMeans: 'the reason is told to the model',
    onFailure: 'ignore',
    carriesLate: true,
    sample: { field: 'error', value: '%s' },
  },
  PostToolBatch: {
    when: 'after the parallel tool calls of one model response',
    aliases: [],
    matcher: null,
    required: { tool_calls: 'list' },
    optional: {},
    deny: 'block',
    denyMeans: 'the loop ends before the next model request',
    onFailure: 'ignore',
    carriesLate: true,
    sample: {
      field: 'tool_calls',
      value: [{ tool_name: 'Bash', tool_input: { command: 'ls' }, tool_response: { stdout: '%s' } }],
    },
  },
  PermissionDenied: {
    when: 'after a call was denied',
    aliases: ['approval:denied'],
    matcher: 'tool_name',
    required: toolCall,
    optional: { tool_use_id: 'string', reason: 'json', mcp_server: 'object' },
    deny: 'none',
    denyMeans: '–',
    onFailure: 'ignore',
  },
  UserPromptSubmit: {
    when: 'a person sent a prompt; starts a turn',
    aliases: ['prompt:submit'],
    matcher: null,
    required: { prompt: 'string' },
    optional: { source: 'string', session_title: 'string' },
    deny: 'block',
    denyMeans: 'the prompt is not sent',
    onFailure: 'deny',
    startsTurn: true,
    carriesLate: true,
    sample: { field: 'prompt', value: '%s' },
  },
  UserPromptExpansion: {
    when: 'a command is expanded into a prompt',
    aliases: [],
    matcher: 'command_name',
    required: { command_name: 'string', prompt: 'string' },
    optional: { expansion_type: 'string', command_args: 'string', command_source: 'string' },
    deny: 'block',
    denyMeans: 'the command is not expanded',
    onFailure: 'deny',
    sample: { field: 'prompt', value: '%s' },
  },
  ModelRequest: {
    when: 'before the model is called',
    aliases: ['provider:request', 'llm:request', 'before_llm', 'hook.before_llm'],
    matcher: null,
    required: { model: 'string', messages: 'list' },
    optional: {
      tools: 'list',
      options: 'object',
      channel: 'string',
      chat_id: 'string',
      graceful_terminal: 'boolean',
    },
    defaults: { tools: [], options: {} },
    // Amplifier's names the provider, but not the model or the messages.
    implied: { 'provider:request': { model: '', messages: [] }, 'llm:request': { model: '', messages: [] } },
    deny: 'block',
    denyMeans: 'the call is not made',
    onFailure: 'deny',
    respond: true,
    callsModel: true,
    carriesLate: true,
    notInClaudeCode: true,
    sample: { field: 'messages', value: [{ role: 'user', content: '%s' }] },
  },
  ModelResponse: {
    when: 'after the model answered',
    aliases: ['provider:response', 'llm:response', 'after_llm', 'hook.after_llm'],
    matcher: null,
    required: { model: 'string', response: 'json' },
    optional: { channel: 'string', chat_id: 'string' },
    deny: 'block',
    denyMeans: 'the response is not used',
    onFailure: 'deny',
    notInClaudeCode: true,
    sample: { field: 'response', value: { content: '%s' } },
  },
  SessionStart: {
    when: 'a session starts, resumes, is cleared or compacted',
    aliases: ['session:start', 'session:resume'],
    matcher: 'source',
    required: {},
    optional: {
      source: 'string',
      model: 'string',
      session_title: 'string',
      seconds_since_last_response: 'number',
      context_tokens: 'number',
      prompt_cache_likely_expired: 'boolean',
      estimated_cache_write_usd: 'number',
    },
    defaults: { source: 'startup' },
    implied: { 'session:resume': { source: 'resume' } },
    deny: 'none',
    denyMeans: '–',
    onFailure: 'ignore',
    matcherValues: ['startup', 'resume', 'clear', 'compact', 'fork'],
    carriesLate: true,
    setsVariables: true,
    sample: 'tells-model',
  },
  SessionEnd: {
    when: 'a session ends',
    aliases: ['session:end', 'SessionStop', 'session_stop', 'sessionStop'],
    matcher: 'reason',
    required: {},
    optional: { reason: 'json' },
    deny: 'none',
    denyMeans: '–',
    onFailure: 'ignore',
    matcherValues: [
      'clear',
      'resume',
      'logout',
      'prompt_input_exit',
      'exit',
      'bypass_permissions_disabled',
      'other',
    ],
    ends: 'session',
  },
  Setup: {
    when: 'a project is initialised or maintained',
    aliases: [],
    matcher: 'trigger',
    required: {},
    optional: { trigger: 'string' },
    deny: 'none',
    denyMeans: '–',
    onFailure: 'ignore',
    matcherValues: ['init', 'maintenance'],
    setsVariables: true,
    sample: 'tells-model',
  },
  Stop: {
    when: 'the agent wants to stop',
    aliases: ['orchestrator:stop', 'prompt:complete', 'turn_end'],
    matcher: null,
    required: {},
    optional: stopped,
    deny: 'go-on',
    denyMeans: 'the agent goes on; the reason is its next instruction',
    onFailure: 'ignore',
    observedAs: ['turn_end'],
    sample: { field: 'last_assistant_message', value: '%s' },
  },
  StopFailure: {
    when: 'a turn ended in an API error',
    aliases: [],
    matcher: 'error',
    required: { error: 'string' },
    optional: { error_details: 'json', last_assistant_message: 'string' },
    deny: 'none',
    denyMeans: '–',
    onFailure: 'ignore',
    narrowMatcher: true,
  },
  SubagentStart: {
    when: 'before a subagent starts',
    aliases: ['subturn_spawn'],
    matcher: 'agent_type',
    required: {},
    optional: { agent_id: 'string', agent_type: 'string' },
    deny: 'block',
    denyMeans: 'the subagent does not start',
    onFailure: 'deny',
    carriesLate: true,
    observedAs: ['subturn_spawn'],
    sample: 'tells-model',
  },
  SubagentStop: {
    when: 'a subagent wants to stop',
    aliases: ['task:post', 'subturn_end'],
    matcher: 'agent_type',
    required: {},
    optional: { ...stopped, agent_id: 'string', agent_type: 'string', agent_transcript_path: 'string' },
    deny: 'go-on',
    denyMeans: 'the subagent goes on; the reason is its next instruction',
    onFailure: 'ignore',
    ends: 'subagent',
    observedAs: ['subturn_end'],
    sample: { field: 'last_assistant_message', value: '%s' },
  },
  PreCompact: {
    when: 'before the context is compacted',
    aliases: ['context:pre_compact'],
    matcher: 'trigger',
    required: {},
    optional: { trigger: 'string', custom_instructions: 'string' },
    deny: 'block',
    denyMeans: 'the context is not compacted',
    onFailure: 'deny',
    matcherValues: ['manual', 'auto'],
    sample: { field: 'custom_instructions', value: '%s' },
  },
  PostCompact: {
    when: 'after the context was compacted',
    aliases: ['context:post_compact'],
    matcher: 'trigger',
    required: {},
    optional: { trigger: 'string', compact_summary: 'string' },
    deny: 'none',
    denyMeans: '–',
    onFailure: 'ignore',
    matcherValues: ['manual', 'auto'],
  },
  PreModelSwitch: {
    when: 'before the model is switched',
    aliases: [],
    matcher: 'to_model',
    required: { from_model: 'string', to_model: 'string' },
    optional: modelSwitch,
    deny: 'block',
    denyMeans: 'the model is not switched',
    onFailure: 'deny',
    sample: { field: 'requested_model', value: '%s' },
  },
  PostModelSwitch: {
    when: 'after the model was switched',
    aliases: [],
    matcher: 'to_model',
    required: { from_model: 'string', to_model: 'string' },
    optional: modelSwitch,
    deny: 'none',
    denyMeans: '–',
    onFailure: 'ignore',
  },
  Notification: {
    when: 'the agent notifies the person',
    aliases: ['user:notification'],
    matcher: 'notification_type',
    required: {},
    optional: { message: 'string', title: 'string', notification_type: 'string' },
    deny: 'none',
    denyMeans: '–',
    onFailure: 'ignore',
  },
  TeammateIdle: {
    when: 'a teammate is about to go idle',
    aliases: [],
    matcher: null,
    required: {},
    optional: { teammate_name: 'string', team_name: 'string' },
    deny: 'go-on',
    denyMeans: 'the teammate goes on',
    denyOnlyClaudeFormat: true,
    onFailure: 'ignore',
    sample: { field: 'teammate_name', value: '%s' },
  },
  TaskCreated: {
    when: 'a task is created',
    aliases: [],
    matcher: null,
    required: task,
    optional: taskDetails,
    deny: 'block',
    denyMeans: 'the task is not created',
    onFailure: 'deny',
    sample: { field: 'task_subject', value: '%s' },
  },
  TaskCompleted: {
    when: 'a task is marked completed',
    aliases: [],
    matcher: null,
    required: {},
    optional: { ...task, ...taskDetails },
    deny: 'block',
    denyMeans: 'the task stays open',
    denyOnlyClaudeFormat: true,
    onFailure: 'ignore',
    sample: { field: 'task_subject', value: '%s' },
  },
  Elicitation: {
    when: 'an MCP server asks the person for input',
    aliases: [],
    matcher: 'mcp_server_name',
    required: { mcp_server_name: 'string', message: 'string' },
    optional: { mode: 'string', url: 'string', elicitation_id: 'string', requested_schema: 'object' },
    deny: 'block',
    denyMeans: 'declined without asking the person',
    onFailure: 'deny',
    sample: { field: 'message', value: '%s' },
  },
  ElicitationResult: {
    when: 'before the person’s input goes to the MCP server',
    aliases: [],
    matcher: 'mcp_server_name',
    required: { mcp_server_name: 'string', action: 'string' },
    optional: { content: 'json', mode: 'string', elicitation_id: 'string' },
    deny: 'block',
    denyMeans: 'the input is not sent; the server sees a decline',
    onFailure: 'deny',
    sample: { field: 'content', value: { answer: '%s' } },
  },
  ToolsListed: {
    when: 'before an agent sees the tools of an MCP server',
    aliases: [],
    matcher: 'mcp_server_name',
    required: { mcp_server_name: 'string', tools: 'list' },
    optional: {},
    deny: 'block',
    denyMeans: 'the agent sees none of these tools, and cannot call them',
    onFailure: 'deny',
    notInClaudeCode: true,
    sample: { field: 'tools', value: [{ name: 'search', description: '%s' }] },
  },
  ConfigChange: {
    when: 'before a changed configuration is applied',
    aliases: [],
    matcher: 'source',
    required: {},
    optional: { source: 'string', file_path: 'string', reload_type: 'string' },
    deny: 'block',
    denyMeans: 'the change is not applied',
    onFailure: 'deny',
    matcherValues: ['user_settings', 'project_settings', 'local_settings', 'policy_settings', 'skills'],
    sample: { field: 'file_path', value: '/tmp/%s.json' },
  },
  WorktreeCreate: {
    when: 'before a worktree is created',
    aliases: [],
    matcher: null,
    required: { name: 'string' },
    optional: {},
    deny: 'block',
    denyMeans: 'the worktree is not created',
    onFailure: 'deny',
  },
  WorktreeRemove: {
    when: 'a worktree is removed',
    aliases: [],
    matcher: null,
    required: { worktree_path: 'string' },
    optional: {},
    deny: 'none',
    denyMeans: '–',
    onFailure: 'ignore',
  },
  InstructionsLoaded: {
    when: 'an instructions file was loaded',
    aliases: [],
    matcher: 'load_reason',
    required: { file_path: 'string' },
    optional: {
      memory_type: 'string',
      load_reason: 'string',
      globs: 'list',
      trigger_file_path: 'string',
      parent_file_path: 'string',
    },
    deny: 'none',
    denyMeans: '–',
    onFailure: 'ignore',
  },
  CwdChanged: {
    when: 'the working directory changed',
    aliases: [],
    matcher: null,
    required: { old_cwd: 'string', new_cwd: 'string' },
    optional: {},
    deny: 'none',
    denyMeans: '–',
    onFailure: 'ignore',
    setsVariables: true,
  },
  FileChanged: {
    when: 'a watched file changed',
    aliases: [],
    matcher: 'file_path',
    required: { file_path: 'string' },
    optional: { event: 'string' },
    deny: 'none',
    denyMeans: '–',
    onFailure: 'ignore',
    narrowMatcher: true,
    setsVariables: true,
  },
  DirectoryAdded: {
    when: 'a directory was added to the session',
    aliases: [],
    matcher: 'source',
    required: { directory: 'string' },
    optional: { source: 'string' },
    deny: 'none',
    denyMeans: '–',
    onFailure: 'ignore',
  },
  MessageDisplay: {
    when: 'a part of the answer is about to be shown',
    aliases: [],
    matcher: null,
    required: { delta: 'string' },
    optional: { turn_id: 'string', message_id: 'string', index: 'number', final: 'boolean' },
    deny: 'none',
    denyMeans: '–',
    onFailure: 'ignore',
  },
} as const satisfies Record<string, EventRow>
