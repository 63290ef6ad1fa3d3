// The kinds of hook, one row each, and the roles a hook can have.

interface KindRow {
  /** The hook does not speak Claude Code's format, so it cannot deny where only such hooks may. */
  readonly ownProtocol?: true
  /** Runs in this process: comes before hooks of other kinds with the same priority. */
  readonly inProcess?: true
  /** Its process may serve several callers of a service, outside the sandbox of each. */
  readonly isShared?: true
  /** The advice when it is too slow; the general advice is to make the hook faster. */
  readonly slow?: string
}

export const HOOK_KINDS = {
  function: { ownProtocol: true, inProcess: true },
  process: { ownProtocol: true, isShared: true },
  module: { isShared: true, slow: 'Make the module faster' },
  command: {},
  http: { slow: 'Make its server faster' },
  prompt: { slow: 'Use a faster model' },
  agent: { slow: 'Use a faster model' },
  rules: { inProcess: true, slow: 'Use fewer rules' },
  mcp_tool: { isShared: true, slow: 'Make the tool of its server faster' },
} as const satisfies Record<string, KindRow>

export type HookKind = keyof typeof HOOK_KINDS

export function kindRow(kind: HookKind): KindRow {
  return HOOK_KINDS[kind]
}

/** `approve`: sees the final call, may not change it. `observe`: off the path, gets event and outcome. */
export type HookRole = 'intercept' | 'approve' | 'observe'
