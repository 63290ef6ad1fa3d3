// What agents set in the shells that they start.

/** Whoever means to deceive unsets them: they stop who merely tries. */
export const AGENT_MARKS: readonly string[] = [
  ...['CLAUDECODE', 'AI_AGENT', 'AUGMENT_AGENT', 'CLINE_ACTIVE', 'CODEX_CI', 'CODEX_SANDBOX'],
  ...['CODEX_THREAD_ID', 'COPILOT_CLI', 'CRUSH', 'CURSOR_AGENT', 'GEMINI_CLI', 'GOOSE_TERMINAL'],
  ...['OPENCODE', 'QWEN_CODE'],
]
