// The methods of PicoClaw's protocol: which event each is called for, in which role, and the mode that announces it.

export type Intercept = 'before_llm' | 'after_llm' | 'before_tool' | 'after_tool' | 'approve_tool'
export type Mode = 'observe' | 'llm' | 'tool' | 'approve'

export interface InterceptRow {
  readonly method: string
  readonly mode: Exclude<Mode, 'observe'>
  readonly role: 'intercept' | 'approve'
  /** Canonical names. */
  readonly events: readonly string[]
}

export const INTERCEPTS: Readonly<Record<Intercept, InterceptRow>> = {
  before_llm: { method: 'hook.before_llm', mode: 'llm', role: 'intercept', events: ['ModelRequest'] },
  after_llm: { method: 'hook.after_llm', mode: 'llm', role: 'intercept', events: ['ModelResponse'] },
  before_tool: { method: 'hook.before_tool', mode: 'tool', role: 'intercept', events: ['PreToolUse'] },
  after_tool: {
    method: 'hook.after_tool',
    mode: 'tool',
    role: 'intercept',
    events: ['PostToolUse', 'PostToolUseFailure'],
  },
  approve_tool: { method: 'hook.approve_tool', mode: 'approve', role: 'approve', events: ['PreToolUse'] },
}

/** Of notifications to observers. */
export const EVENT_METHOD = 'hook.event'

const MODES: readonly Mode[] = ['observe', 'llm', 'tool', 'approve']

/** What hello announces, in the protocol's order. */
export function modesOf(intercept: readonly Intercept[], observes: boolean): readonly Mode[] {
  const used = new Set<Mode>(intercept.map((one) => INTERCEPTS[one].mode))
  return MODES.filter((mode) => (mode === 'observe' ? observes : used.has(mode)))
}
