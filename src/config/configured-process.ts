// A configured process: an entry made into what its hooks have in common, before anything is started.

import { frozenCopy, type Json } from '../core/base/json.js'
import type { Hook } from '../core/hooks/hook.js'
import { digest } from '../core/verdict/digest.js'
import type { HookSpec } from '../runners/hook-spec.js'
import type { ProcessHandler } from '../runners/process/process-hooks.js'
import { loweredText, type Making } from './configured-hook.js'
import { FileOrigin } from './file-origin.js'
import { under } from './json-text.js'
import { type ProcessEntry, USUAL_TIMEOUTS } from './process-entry.js'
import type { Silence } from './silence.js'

/** `hook` is what its hooks share; `byEvent` as a failure policy leaves the choice to their roles. */
export interface ConfiguredProcess extends HookSpec<ProcessHandler> {
  readonly type: 'process'
  /** As its file calls it. */
  readonly processName: string
  /** Why it does not run. */
  readonly disabled?: Silence
}

const NO_EVENTS: ReadonlySet<string> = new Set()

/** Throws for what JSON cannot carry. */
export function configureProcess(entry: ProcessEntry, making: Omit<Making, 'compileIf'>): ConfiguredProcess {
  const { owner, key, file, at, priority, onFailure = 'byEvent' } = entry
  const { merge, names } = making
  const handler = frozenCopy(withinLimits(entry, making), key) as unknown as ProcessHandler
  const content = digest({ process: key, priority, onFailure, handler: handler as unknown as Json })
  const hook: Omit<Hook, 'run'> = {
    id: names.id(owner, `process ${key}`, content.slice(0, SHORT)),
    name: names.ofProcess(owner, key),
    kind: 'process',
    origin: new FileOrigin(owner, file, at, content),
    events: NO_EVENTS,
    matcher: null,
    role: 'intercept',
    priority,
    lane: null,
    detached: false,
    once: false,
    timeoutMs: handler.timeouts.intercept * 1000,
    onFailure,
  }
  const { env, max_timeout } = merge.terms[owner.scope]
  const disabled = merge.disabled[owner.scope] ?? switchedOff(entry)
  return {
    type: 'process',
    processName: key,
    hook,
    handler,
    place: owner.place,
    env,
    longestMs: max_timeout * 1000,
    ...(disabled !== undefined && { disabled }),
  }
}

/** Of a digest, in an id. */
const SHORT = 16

function switchedOff({ enabled, file, at }: ProcessEntry): Silence | undefined {
  if (enabled) return undefined
  return { setting: '"enabled": false', file: file.path, line: file.json.lineOf(under(at, 'enabled')) }
}

/** Nothing may keep an agent waiting longer than the settings allow. */
function withinLimits(
  { owner, key, handler, file, at }: ProcessEntry,
  { merge, notes }: Pick<Making, 'merge' | 'notes'>,
) {
  const { max_timeout } = merge.terms[owner.scope]
  const timeouts = Object.entries(handler.timeouts).map(([role, seconds]) => {
    if (seconds <= max_timeout) return [role, seconds]
    if (seconds === USUAL_TIMEOUTS[role as keyof typeof USUAL_TIMEOUTS]) return [role, max_timeout]
    const text = `${key}: the ${role} time-out of ${loweredText(seconds, max_timeout)}`
    notes.add('timeout-clamped', text, { file, at: under(under(at, 'timeouts'), role) })
    return [role, max_timeout]
  })
  return { ...handler, timeouts: Object.fromEntries(timeouts) }
}
