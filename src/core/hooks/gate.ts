// Gates: hooks whose answer can stop something.

import { resolveEvent } from '../events/events.js'
import type { Hook } from './hook.js'

/** Somebody waits for its answer, on an event where a deny stops something or makes the agent go on. A logger (`observe`) is none. */
export function isGate({
  role,
  detached,
  observe,
  events,
}: Pick<Hook, 'role' | 'detached' | 'observe' | 'events'>): boolean {
  if (role === 'observe' || detached || observe) return false
  return events === 'all' || [...events].some(canStop)
}

function canStop(event: string): boolean {
  const { deny } = resolveEvent(event)
  return deny === 'block' || deny === 'go-on'
}
