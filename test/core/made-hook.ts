// Hooks made by hand, for tests that need one as the kernel sees it.

import type { Hook } from 'carabiner/core'

/** A hook in a step of its own. */
export function madeHook(name: string, more: Partial<Hook> = {}): Hook {
  return {
    id: `test:${name}`,
    name,
    kind: 'function',
    origin: { scope: 'host', source: 'code' },
    events: new Set(['PreToolUse']),
    matcher: null,
    role: 'intercept',
    priority: 0,
    lane: null,
    detached: false,
    once: false,
    timeoutMs: 60_000,
    onFailure: 'byEvent',
    run: () => undefined,
    ...more,
  }
}

/** A hook as configuration files make them: it shares the step of its priority, in a lane of its own. */
export function laneHook(name: string, more: Partial<Hook> = {}): Hook {
  return madeHook(name, { kind: 'command', lane: name, priority: 20, onFailure: 'continue', ...more })
}
