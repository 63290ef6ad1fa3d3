// Resident hooks: an entry provides up to three hooks (intercept, approve, observe) that share one process.

import { HookError } from '../../core/base/errors.js'
import { canonicalJson, type Json } from '../../core/base/json.js'
import type { FailurePolicy, Hook, HookContext, HookEvent } from '../../core/hooks/hook.js'
import { decodeAnswer, goesOn } from '../../systems/picoclaw/decode.js'
import { encodeCall } from '../../systems/picoclaw/encode.js'
import { type Observing, observationsOf, observing } from '../../systems/picoclaw/observation.js'
import {
  helloParams,
  INTERCEPTS,
  type Intercept,
  type InterceptRow,
  modesOf,
} from '../../systems/picoclaw/protocol.js'
import type { HookSpec, StartProblem, Surroundings } from '../hook-spec.js'
import { RAISE_LIMIT } from '../kind.js'
import { namedFiles } from '../program/code-stamp.js'
import { foreignPlaceholder, madeDataFolder } from '../program/environment.js'
import { noSuchPlaceholder } from '../program/start-failure.js'
import type { Restart } from './back-off.js'
import { type LaunchFields, launchOf } from './launch.js'
import type { Resident, Residents } from './residents.js'

/** The fields that only resident hooks have, checked and complete. */
export interface ProcessHandler extends LaunchFields {
  /** Kinds of events that it is told about. */
  readonly observe: readonly string[]
  readonly intercept: readonly Intercept[]
  /** Seconds. */
  readonly timeouts: {
    readonly observe: number
    readonly intercept: number
    readonly approve: number
    readonly hello: number
  }
  readonly restart: Restart
  /** The longest line that it may print, in bytes. Default 1 MiB. */
  readonly maxLineBytes?: number
}

export interface ProcessSpec extends HookSpec<ProcessHandler> {
  /** Its name in the hello. */
  readonly processName: string
  /** Roles whose timeout is less than the entry asks for. */
  readonly cappedRoles?: readonly Role[]
}

type Role = Hook['role']

export function processHooks(
  spec: ProcessSpec,
  surroundings: Surroundings,
  residents: Residents,
  problem?: StartProblem,
): readonly Hook[] {
  const { hook, handler, place } = spec
  const foreign = foreignPlaceholder([...handler.command, handler.dir ?? ''], place)
  const report: Surroundings['report'] = (d) => surroundings.report({ ...d, text: `${hook.name}: ${d.text}` })
  const resident = residents.of(keyOf(spec), versionOf(spec, residents), {
    launch: () => {
      const launch = launchOf(spec, report)
      refuse(problem)
      madeDataFolder(place, report)
      return launch
    },
    hello: helloParams(spec.processName, modesOf(handler.intercept, handler.observe.length > 0)),
    helloMs: handler.timeouts.hello * 1000,
    observeMs: handler.timeouts.observe * 1000,
    restart: residents.isWarm ? AT_ONCE : handler.restart,
    maxLineBytes: handler.maxLineBytes,
    // The next event must not wait behind this one's.
    endsLate: residents.isWarm,
    report,
  })
  const made = (role: Role, events: Hook['events'], run: Hook['run']): Hook => ({
    ...hook,
    id: `${hook.id}/${role}`,
    ...(hook.sameAs !== undefined && { sameAs: `${hook.sameAs}\0${role}` }),
    role,
    events,
    timeoutMs: handler.timeouts[role] * 1000,
    ...(spec.cappedRoles?.includes(role) && { cappedBy: RAISE_LIMIT }),
    startupMs: handler.timeouts.hello * 1000,
    onFailure: hook.onFailure === 'byEvent' ? ON_FAILURE[role] : hook.onFailure,
    run: foreign === undefined ? run : () => Promise.reject(noSuchPlaceholder(foreign)),
  })
  const asked = (['intercept', 'approve'] as const).flatMap((role) => {
    const events = eventsOf(handler.intercept, role)
    // A process that outlasts the event must not keep code that was swapped after the check.
    const checkAgain = residents.isWarm ? () => refuse(problem) : () => {}
    const ask = asking(role, spec, resident, checkAgain)
    // On the cold path, every event starts a process, and so checks what it starts.
    const run: Hook['run'] = (event, context) => {
      if (residents.isWarm) refuse(problem)
      return ask(event, context)
    }
    return events.size === 0 ? [] : [made(role, events, run)]
  })
  if (handler.observe.length === 0) return asked
  const wanted = observing(handler.observe)
  return [...asked, made('observe', wanted.events, telling(wanted, resident))]
}

function refuse(problem: StartProblem | undefined): void {
  const found = problem?.()
  if (found !== undefined) throw new HookError('HOOK_NOT_TRUSTED', found)
}

/** Every event starts its own process on the cold path, so a warm one that ended must not leave the next event without a gate. */
const AT_ONCE: Restart = { delay: 0, maxDelay: 0, attempts: Infinity }

/** The default by role: an approver that fails denies, the others do not block anything. */
const ON_FAILURE: Readonly<Record<Role, FailurePolicy>> = {
  intercept: 'continue',
  approve: 'block',
  observe: 'continue',
}

/** Entries with the same key share one process, so the key covers everything that the process is started with. */
function keyOf({ hook, handler, place, env, processName }: ProcessSpec): string {
  const content = { name: hook.name, hash: hook.origin.hash ?? '', handler, place, env, processName }
  return canonicalJson(JSON.parse(JSON.stringify(content)) as Json)
}

function versionOf(spec: ProcessSpec, residents: Residents): string {
  if (!residents.isWarm) return spec.hook.content ?? ''
  return residents.versionOf(spec, namedFiles(launchOf(spec, () => undefined)))
}

function eventsOf(intercept: readonly Intercept[], role: InterceptRow['role']): ReadonlySet<string> {
  const rows = intercept.map((one) => INTERCEPTS[one]).filter((row) => row.role === role)
  return new Set(rows.flatMap((row) => row.events))
}

function asking(
  role: InterceptRow['role'],
  { handler }: ProcessSpec,
  resident: Resident,
  checkAgain: () => void,
): Hook['run'] {
  const check = (_: Json, isFirst: boolean) => {
    if (isFirst) checkAgain()
  }
  const timeoutMs = handler.timeouts[role] * 1000
  const points = new Map(
    handler.intercept
      .filter((point) => INTERCEPTS[point].role === role)
      .flatMap((point) => INTERCEPTS[point].events.map((event) => [event, point] as const)),
  )
  return (event: HookEvent, context: HookContext) => {
    const point = points.get(event.name)
    if (point === undefined) return undefined // The engine sends no other event.
    const question = { method: INTERCEPTS[point].method, params: encodeCall(point, event), timeoutMs, check }
    return resident.ask(question, context, (answer) =>
      goesOn(point, answer) ? undefined : decodeAnswer(point, event, answer, context.note),
    )
  }
}

function telling(wanted: Observing, resident: Resident): Hook['run'] {
  return (event, context) => {
    for (const one of observationsOf(event, context.outcome)) {
      if (wanted.wants(event.name, one.Kind)) resident.observe({ ...one })
    }
  }
}
