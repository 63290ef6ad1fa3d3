// Agents whose hooks read and answer as Claude Code's do, with names of tools and units of their own.

import { isObject } from '../../core/base/json.js'
import type { Reply } from '../claude-code/decode.js'
import { type AgentSystem, defined, named, on, type Sent, same } from './agent-system.js'
import { GEMINI_TOOLS } from './gemini.js'
import { firstOf, inClaudeTerms, objectIn, onlyClosing, refused } from './spoken.js'

/** Keys of an entry that these agents took from Claude Code. */
export const CLAUDE_KEYS = [
  'args',
  'shell',
  'async',
  'asyncRewake',
  'if',
  'once',
  'statusMessage',
  'env',
  'prompt',
  'model',
  'url',
  'headers',
  'allowedEnvVars',
  'server',
  'tool',
  'input',
  'continueOnBlock',
  'onFailure',
]

function likeClaude({ as, data, tool, input }: Sent) {
  return defined({
    ...data,
    hook_event_name: as,
    ...(tool !== undefined && { tool_name: tool, tool_input: input }),
  })
}

/** Claude Code's answers, where exit code 2 also denies a permission request. */
function byCodeToo(reply: Reply, { event }: Sent): Reply {
  if (event !== 'PermissionRequest' || reply.code !== 2) return reply
  const said = objectIn(reply.stdout)
  const reason = reply.stderr.trim() || (said && firstOf(said, 'reason', 'message')) || 'Denied'
  return inClaudeTerms(event, { verdict: 'deny', reason }, {}, { ...reply, code: 0 })
}

export const codex: AgentSystem = {
  name: 'codex',
  title: 'Codex',
  file: '.codex/hooks.json',
  isAt: /\/\.codex(?:-plugin)?\//,
  layout: 'groups',
  topKeys: ['description', 'hooks'],
  keys: [
    'commandWindows',
    'command_windows',
    'async',
    'statusMessage',
    'additionalContextLimit',
    'server',
    'tool',
    'input',
    'prompt',
  ],
  unit: 'seconds',
  timeout: 600,
  events:
    same(`PreToolUse PermissionRequest PostToolUse PreCompact PostCompact SessionStart SessionEnd UserPromptSubmit
    SubagentStart SubagentStop Stop`),
  tools: named(
    'Bash=Bash Write=apply_patch,Write,Edit Edit=apply_patch,Edit,Write MultiEdit=apply_patch,Edit,Write Agent=spawn_agent,Agent',
  ),
  matching: 'narrow',
  grants: ['PermissionRequest'],
  // The call is still Claude Code's: a patch would have to be made up.
  payload: ({ as, data }) =>
    defined({
      ...data,
      hook_event_name: as,
      model: data.model ?? 'default',
      turn_id: data.prompt_id ?? 'turn-1',
    }),
  answer: byCodeToo,
}

export const qwen: AgentSystem = {
  name: 'qwen',
  title: 'Qwen Code',
  file: '.qwen/settings.json',
  isAt: /\/\.qwen\//,
  layout: 'groups',
  keys: [...CLAUDE_KEYS, 'name', 'description'],
  unit: 'milliseconds',
  inSeconds: ['http', 'prompt'],
  timeout: 60,
  events: {
    ...same(`PreToolUse PostToolUse PostToolUseFailure PostToolBatch Notification UserPromptSubmit UserPromptExpansion
      SessionStart SessionEnd Stop StopFailure MessageDisplay SubagentStart SubagentStop PreCompact PostCompact
      PermissionRequest PermissionDenied InstructionsLoaded`),
    SessionDelete: on(null),
    TodoCreated: on('TaskCreated'),
    TodoCompleted: on('TaskCompleted'),
  },
  tools: { ...GEMINI_TOOLS, Edit: ['edit', 'replace'], MultiEdit: ['edit', 'replace'] },
  matching: 'search',
  grants: ['PreToolUse', 'PermissionRequest'],
  env: ({ projectDir }) => ({ QWEN_PROJECT_DIR: projectDir }),
  payload: likeClaude,
  answer: byCodeToo,
}

export const droid: AgentSystem = {
  name: 'droid',
  title: 'Droid',
  file: '.factory/hooks.json',
  isAt: /\/\.factory\//,
  layout: 'groups',
  keys: [],
  unit: 'seconds',
  timeout: 60,
  events: same(
    'PreToolUse PostToolUse UserPromptSubmit Notification Stop SubagentStop PreCompact SessionStart SessionEnd',
  ),
  tools: named(
    'Bash=Execute Write=Create Edit=Edit,ApplyPatch MultiEdit=Edit,ApplyPatch WebFetch=FetchUrl Agent=Task',
  ),
  matching: 'list',
  grants: ['PreToolUse'],
  env: ({ projectDir }) => ({ FACTORY_PROJECT_DIR: projectDir }),
  payload: likeClaude,
  answer: (reply, { event, data }) => merged(reply, event, data.tool_input),
}

/** Its `updatedInput` holds only the fields to change. */
function merged(reply: Reply, event: string, input: unknown): Reply {
  const said = objectIn(reply.stdout)
  const specific = said?.hookSpecificOutput
  if (!isObject(specific) || !isObject(specific.updatedInput) || !isObject(input)) return reply
  const { updatedInput, ...others } = specific
  return inClaudeTerms(
    event,
    { input: { ...input, ...updatedInput } },
    { ...said, hookSpecificOutput: others },
    reply,
  )
}

export const devin: AgentSystem = {
  name: 'devin',
  title: 'Devin',
  file: '.devin/hooks.v1.json',
  isAt: /\/\.devin\//,
  layout: 'groups',
  bare: true,
  keys: ['prompt', 'model'],
  unit: 'seconds',
  timeout: 60,
  events: {
    ...same('PreToolUse PostToolUse PermissionRequest UserPromptSubmit Stop SessionStart SessionEnd'),
    PostCompaction: on('PostCompact'),
  },
  tools: named('Bash=exec Read=read Write=write,edit Edit=edit MultiEdit=edit Grep=grep Glob=glob'),
  matching: 'search',
  env: ({ projectDir }) => ({ DEVIN_PROJECT_DIR: projectDir }),
  payload: likeClaude,
  answer: byCodeToo,
}

export const grok: AgentSystem = {
  name: 'grok',
  title: 'Grok',
  file: '.grok/hooks/hooks.json',
  isAt: /\/\.grok\//,
  layout: 'groups',
  topKeys: ['description', 'version', '$schema'],
  keys: CLAUDE_KEYS,
  unit: 'seconds',
  timeout: 5,
  events: {
    ...same(`SessionStart SessionEnd UserPromptSubmit PreToolUse PostToolUse PostToolUseFailure PermissionDenied Stop
      StopFailure Notification SubagentStart SubagentStop PreCompact PostCompact`),
    StopCancelled: on(null),
  },
  tools: {},
  matching: 'search',
  startsInProject: true,
  payload: (sent) => ({
    ...likeClaude(sent),
    ...defined({
      hookEventName: sent.as,
      sessionId: sent.sessionId,
      workspaceRoot: sent.projectDir,
      toolName: sent.tool,
      ...(sent.tool !== undefined && { toolInput: sent.input }),
    }),
  }),
  answer: (reply) => reply,
}

export const letta: AgentSystem = {
  name: 'letta',
  title: 'Letta Code',
  file: '.letta/settings.json',
  isAt: /\/\.letta\//,
  layout: 'groups',
  keys: [],
  unit: 'milliseconds',
  timeout: 60,
  events: same(
    'PreToolUse PostToolUse UserPromptSubmit Notification Stop SubagentStop PreCompact SessionStart SessionEnd PermissionRequest',
  ),
  tools: {},
  matching: 'list',
  payload: ({ as, data, projectDir, tool, input }) =>
    defined({
      ...likeClaude({ as, data, tool, input } as Sent),
      event_type: as,
      working_directory: data.cwd ?? projectDir,
    }),
  answer: (reply) => onlyClosing(reply),
}

export const kimi: AgentSystem = {
  name: 'kimi',
  title: 'Kimi Code',
  file: '.kimi-code/config.toml',
  isAt: /\/\.kimi(?:-code)?\//,
  layout: 'toml',
  keys: ['event'],
  unit: 'seconds',
  timeout: 30,
  events: {
    ...same(`PreToolUse PostToolUse PostToolUseFailure UserPromptSubmit Stop StopFailure SessionStart SessionEnd SubagentStart
      SubagentStop PreCompact PostCompact Notification PermissionRequest`),
    PermissionResult: on(null),
    Interrupt: on(null),
    TurnStarted: on(null),
  },
  tools: {},
  fields: { file_path: 'path' },
  matching: 'search',
  payload: likeClaude,
  answer: (reply) => onlyClosing(reply),
}

export const openhands: AgentSystem = {
  name: 'openhands',
  title: 'OpenHands',
  file: '.openhands/hooks.json',
  isAt: /\/\.openhands\//,
  layout: 'groups',
  topKeys: ['$schema', 'version', 'description'],
  keys: ['async', 'prompt', 'model', 'name'],
  unit: 'seconds',
  timeout: 60,
  events: {
    ...same('PreToolUse PostToolUse UserPromptSubmit SessionStart SessionEnd Stop'),
    pre_tool_use: on('PreToolUse'),
    post_tool_use: on('PostToolUse'),
    user_prompt_submit: on('UserPromptSubmit'),
    session_start: on('SessionStart'),
    session_end: on('SessionEnd'),
    stop: on('Stop'),
  },
  tools: named(
    'Bash=terminal,execute_bash Read=file_editor,str_replace_editor Write=file_editor,str_replace_editor Edit=file_editor,str_replace_editor MultiEdit=file_editor,str_replace_editor',
  ),
  fields: { file_path: 'path', content: 'file_text', old_string: 'old_str', new_string: 'new_str' },
  matching: 'whole',
  env: ({ projectDir, sessionId, as, tool }) => ({
    OPENHANDS_PROJECT_DIR: projectDir,
    OPENHANDS_SESSION_ID: sessionId,
    OPENHANDS_EVENT_TYPE: as,
    ...(tool !== undefined && { OPENHANDS_TOOL_NAME: tool }),
  }),
  payload: ({ event, data, tool, input, sessionId, projectDir }) =>
    defined({
      event_type: event,
      ...(tool !== undefined && { tool_name: tool, tool_input: input }),
      tool_response: data.tool_response,
      message: data.prompt ?? data.last_assistant_message,
      session_id: sessionId,
      working_dir: data.cwd ?? projectDir,
      metadata: {},
    }),
  answer: flat,
}

/** `decision`, `reason`, `additionalContext` and `continue` at the top level. */
function flat(reply: Reply, { event }: Sent): Reply {
  const said = objectIn(reply.stdout)
  if (!said || isObject(said.hookSpecificOutput)) return reply
  const { decision, reason, additionalContext, ...others } = said
  const verdict =
    decision === 'deny' || decision === 'block' ? 'deny' : decision === 'allow' ? 'allow' : undefined
  const spoken = {
    verdict: verdict === 'allow' && event !== 'PreToolUse' ? undefined : verdict,
    reason: typeof reason === 'string' ? reason : undefined,
    context: typeof additionalContext === 'string' ? additionalContext : undefined,
  } as const
  const rest = verdict === undefined && decision !== undefined ? { ...others, decision } : others
  return inClaudeTerms(event, spoken, rest, reply)
}

export const goose: AgentSystem = {
  name: 'goose',
  title: 'goose',
  file: 'hooks/hooks.json',
  isAt: /\/\.config\/goose\/|\/\.goose\/|\/\.agents\/plugins\//,
  layout: 'groups',
  keys: [],
  unit: 'seconds',
  timeout: 30,
  events: {
    ...same(
      'PreToolUse PostToolUse PostToolUseFailure SessionStart SessionEnd UserPromptSubmit Stop SubagentStart SubagentStop',
    ),
    BeforeReadFile: on('PreToolUse', 'Read'),
    AfterFileEdit: on('PostToolUse', 'Write', 'Edit', 'MultiEdit'),
    BeforeShellExecution: on('PreToolUse', 'Bash'),
    AfterShellExecution: on('PostToolUse', 'Bash'),
  },
  tools: named(
    'Bash=developer__shell Write=developer__text_editor Edit=developer__text_editor MultiEdit=developer__text_editor',
  ),
  matching: 'search',
  payload: ({ as, data, tool, input, sessionId }) =>
    defined({
      event: as,
      session_id: sessionId,
      matcher_context: tool ?? '',
      ...(tool !== undefined && { tool_name: tool, tool_input: input }),
      tool_output: data.tool_response,
      message: data.prompt ?? data.last_assistant_message,
      working_dir: data.cwd,
    }),
  answer: flat,
}

export const crush: AgentSystem = {
  name: 'crush',
  title: 'Crush',
  file: 'crush.json',
  isAt: /\/\.?crush\.json$|\/\.config\/crush\//,
  layout: 'flat',
  keys: ['name'],
  unit: 'seconds',
  timeout: 30,
  events: same('PreToolUse'),
  tools: named(
    'Bash=bash Read=view Write=write Edit=edit,multiedit MultiEdit=multiedit,edit Glob=glob Grep=grep WebFetch=fetch Agent=agent TodoWrite=todos',
  ),
  matching: 'search',
  grants: ['PreToolUse'],
  env: ({ projectDir, sessionId, as, tool }) => ({
    CRUSH: '1',
    AGENT: 'crush',
    AI_AGENT: 'crush',
    CRUSH_EVENT: as,
    CRUSH_SESSION_ID: sessionId,
    CRUSH_CWD: projectDir,
    CRUSH_PROJECT_DIR: projectDir,
    ...(tool !== undefined && { CRUSH_TOOL_NAME: tool }),
  }),
  payload: ({ as, data, tool, input, sessionId, projectDir }) =>
    defined({
      event: as,
      session_id: sessionId,
      cwd: data.cwd ?? projectDir,
      tool_name: tool,
      tool_input: input,
    }),
  answer: ofCrush,
}

const HALT = 49

function ofCrush(reply: Reply, { event, data }: Sent): Reply {
  const said = objectIn(reply.stdout)
  if (reply.code === HALT) {
    const stop = { stops: true, reason: reply.stderr.trim() || (said && firstOf(said, 'reason')) || 'Halted' }
    return inClaudeTerms(event, { ...stop, verdict: 'deny' }, {}, { ...reply, code: 0 })
  }
  if (!said || isObject(said.hookSpecificOutput)) return reply
  const { decision, halt, reason, context, updated_input: input, version: _, ...others } = said
  const verdict = halt === true || decision === 'deny' ? 'deny' : decision === 'allow' ? 'allow' : undefined
  const spoken = {
    verdict,
    stops: halt === true,
    reason: typeof reason === 'string' ? reason : undefined,
    context: Array.isArray(context) ? context.join('\n') : typeof context === 'string' ? context : undefined,
    input: isObject(input) ? { ...(data.tool_input as object), ...input } : undefined,
  } as const
  const rest =
    verdict === undefined && decision !== undefined && decision !== null ? { ...others, decision } : others
  return inClaudeTerms(event, spoken, rest, reply)
}

export const antigravity: AgentSystem = {
  name: 'antigravity',
  title: 'Antigravity',
  file: '.agents/hooks.json',
  isAt: /\/\.agents\/hooks\.json$|\/\.gemini\/config\/hooks\.json$|\/\.antigravity\//,
  layout: 'named',
  topKeys: [],
  keys: [],
  unit: 'seconds',
  timeout: 30,
  events: { ...same('PreToolUse PostToolUse Stop'), PreInvocation: on(null), PostInvocation: on(null) },
  tools: named(
    'Bash=run_command Read=view_file Write=write_to_file Edit=replace_file_content,multi_replace_file_content MultiEdit=multi_replace_file_content,replace_file_content Grep=grep_search Glob=find_by_name LS=list_dir WebSearch=search_web WebFetch=read_url_content',
  ),
  fields: {
    command: 'CommandLine',
    file_path: 'TargetFile',
    content: 'CodeContent',
    old_string: 'TargetContent',
    new_string: 'ReplacementContent',
  },
  matching: 'search',
  closedOn: ['PreToolUse'],
  startsInProject: true,
  payload: ({ data, tool, input, sessionId, projectDir }) =>
    defined({
      conversationId: sessionId,
      workspacePaths: [projectDir],
      transcriptPath: data.transcript_path ?? '',
      stepIdx: 0,
      ...(tool !== undefined && {
        toolCall: { name: tool, args: { ...input, Cwd: data.cwd ?? projectDir } },
      }),
    }),
  answer: (reply, sent) => {
    const said = objectIn(reply.stdout)
    if (sent.event !== 'PreToolUse') return flat(reply, sent)
    if (reply.code === 0 && !said) return refused(reply, 'it gave no decision')
    if (!said) return reply
    const { decision, reason, ...others } = said
    const verdict =
      decision === 'force_ask' || decision === 'ask'
        ? 'ask'
        : decision === 'deny' || decision === 'block'
          ? 'deny'
          : decision === 'allow'
            ? 'allow'
            : undefined
    if (verdict === undefined) return refused(reply, `its decision is ${JSON.stringify(decision ?? null)}`)
    return inClaudeTerms(
      'PreToolUse',
      { verdict, reason: typeof reason === 'string' ? reason : undefined },
      others,
      reply,
    )
  },
}
