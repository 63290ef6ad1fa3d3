// Stand-ins for gates that cannot run as they were trusted: they refuse what those gates would judge, and say what to do.

import { HookError } from '../core/base/errors.js'
import { CATALOGUE } from '../core/events/catalogue.js'
import { resolveEvent } from '../core/events/events.js'
import { isGuard } from '../core/hooks/gate.js'
import type { Hook } from '../core/hooks/hook.js'
import { compileMatcher, type Matcher } from '../core/hooks/matcher.js'
import { type Expectation, expectationText } from '../trust/expectation.js'
import type { UnitHook } from '../trust/unit.js'

/** Whether a recorded hook can refuse something. If the record does not say enough, assume that it can. */
export function wasGuard(hook: UnitHook): boolean {
  const detached = hook.terms?.some((term) => term === 'async' || term === 'asyncRewake') ?? false
  const observe = hook.terms?.includes('observe') ?? false
  return isGuard({ kind: 'command', role: 'intercept', detached, observe, events: eventsOf(hook) })
}

const OBSERVES = 'observes '

/** A process is recorded with the names of its own protocol. */
function eventsOf({ type, event }: UnitHook): ReadonlySet<string> {
  if (event === '*') return blockable()
  if (type !== 'process') return new Set([event])
  const asked = event.split(', ').filter((name) => name !== '' && !name.startsWith(OBSERVES))
  return new Set(
    asked.map((name) => {
      const kind = resolveEvent(`hook.${name}`)
      return kind.custom ? 'PreToolUse' : kind.name
    }),
  )
}

/** Whether a hook is such a stand-in. */
export function isClosedGate({ id }: Pick<Hook, 'id'>): boolean {
  return id.startsWith('closed:')
}

/** Refuses every call that the gate would see, and perhaps more: only the matcher counts, not an `if` rule. */
export function closedGate(hook: UnitHook, expectation: Expectation): Hook {
  const { unit } = expectation
  return closed(expectationText(expectation), {
    id: `closed:${unit.name}:${hook.event}:${hook.hash.slice(0, 16)}`,
    name: hook.name,
    origin: { scope: 'project', source: unit.name, file: unit.path, line: 1 },
    events: eventsOf(hook),
    matcher: matcherOf(hook.matcher),
  })
}

/** For unreadable records: any gate may be missing. */
export function closedToAll(expectation: Expectation): Hook {
  const { name, path } = expectation.unit
  return closed(expectationText(expectation), {
    id: `closed:${name}`,
    name,
    origin: { scope: 'project', source: name, file: path, line: 1 },
    events: blockable(),
    matcher: null,
  })
}

/** For a session with unreadable state: its skills may have brought any gate. */
export function closedSession(problem: string): Hook {
  const name = 'skills of this session'
  const origin = { scope: 'session', source: name } as const
  return closed(lossText(problem), { id: `closed:${name}`, name, origin, events: blockable(), matcher: null })
}

export function lossText(problem: string): string {
  return `The hooks from this session’s skills are lost: ${problem}. Everything they could have refused is refused. Start a new session (in Claude Code: /clear).`
}

function blockable(): ReadonlySet<string> {
  return new Set(Object.keys(CATALOGUE).filter((name) => resolveEvent(name).deny === 'block'))
}

function closed(text: string, hook: Pick<Hook, 'id' | 'name' | 'origin' | 'events' | 'matcher'>): Hook {
  return {
    ...hook,
    kind: 'command',
    role: 'intercept',
    priority: 0,
    lane: null,
    detached: false,
    once: false,
    timeoutMs: 1000,
    onFailure: 'block',
    run: () => {
      throw new HookError('HOOK_NOT_TRUSTED', text)
    },
  }
}

/** A pattern that cannot be compiled here matches everything. */
function matcherOf(pattern: string | null): Matcher | null {
  try {
    return compileMatcher(pattern)
  } catch {
    return null
  }
}
