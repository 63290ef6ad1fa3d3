// A module hook: functions in a JavaScript file, which run in a process of their own that stays warm.

import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Diagnostic, HookError, isHookError } from '../../core/base/errors.js'
import { canonicalJson, isObject, type Json } from '../../core/base/json.js'
import { plainText } from '../../core/base/text.js'
import { type Hook, type HookContext, type HookEvent, WholeData } from '../../core/hooks/hook.js'
import type { HookSpec, StartProblem, Surroundings } from '../hook-spec.js'
import { type Launch, launchOf } from '../process/launch.js'
import { type Resident, Residents } from '../process/residents.js'
import { foreignPlaceholder, madeDataFolder } from '../program/environment.js'
import { noSuchPlaceholder } from '../program/start-failure.js'
import { announce } from '../telling.js'
import {
  CALL_METHOD,
  MOST_BYTES,
  type ModuleCall,
  type ModuleFailure,
  type ModuleReply,
} from './module-call.js'
import { modulePath } from './module-path.js'

/** The fields that only a module hook has. */
export interface ModuleHandler {
  /** As written in its file. */
  readonly module: string
  /** The same, from a folder that may be a placeholder: `${CLAUDE_PLUGIN_ROOT}/guard.mjs`. */
  readonly path: string
  readonly statusMessage?: string
}

export type ModuleSpec = HookSpec<ModuleHandler>

/** Milliseconds for Node.js itself to start. Importing the module counts as part of the call. */
const HELLO_MS = 10_000

/** An ended process is started again for the next event, as often as needed. */
const AT_ONCE = { delay: 0, maxDelay: 0, attempts: Infinity }

/** The newest process of a resident, and the modules that it has imported since they were checked. */
interface Start {
  readonly launch: number
  readonly imported: Set<string>
}

/** Runs the modules of one createHooks(): one process for each plugin, skill or file. */
export class ModuleRunner {
  readonly #residents: Residents
  readonly #starts = new WeakMap<Resident, Start>()
  #launches = 0
  /** A new configuration gets new processes, because files may have changed. */
  #generation = 0
  readonly #isWarm: boolean

  /** `isWarm`: a configuration is read for every event, so a process stays as long as its code does. */
  constructor(isWarm = false) {
    this.#isWarm = isWarm
    this.#residents = new Residents(isWarm)
  }

  hooks(spec: ModuleSpec, surroundings: Surroundings, problem: StartProblem): readonly Hook[] {
    const { hook, handler, place } = spec
    const foreign = foreignPlaceholder([handler.path], place)
    const made = { ...hook, startupMs: HELLO_MS }
    if (foreign !== undefined) return [{ ...made, run: () => Promise.reject(noSuchPlaceholder(foreign)) }]
    const resident = this.#resident(spec, surroundings, problem)
    const isExpected = hook.events !== 'all'
    const module = modulePath(handler.path, place)
    const run: Hook['run'] = async (event, context) => {
      announce(spec, surroundings, context.note)
      // A module outside a copy may have changed since the process was started. On the cold path, every event starts one.
      if (this.#isWarm || !this.#starts.get(resident)?.imported.has(module)) refuse(problem)
      const call = callOf(event, context, { module, isExpected, timeoutMs: hook.timeoutMs })
      const question = {
        method: CALL_METHOD,
        params: call as unknown as Json,
        timeoutMs: hook.timeoutMs,
        // It may have been replaced between the check and its import.
        check: (answer: Json) => {
          if (!this.#isKnown(resident, module, answer as unknown as ModuleReply)) refuse(problem)
        },
        hasPrinted: (answer: Json) => isObject(answer) && answer.hasPrinted === true,
      }
      return resident
        .ask(question, context, (answer) => {
          const reply = answer as unknown as ModuleReply
          const start = this.#starts.get(resident)
          if (start?.launch === reply.launch) start.imported.add(module)
          return read(reply, context)
        })
        .catch(explained)
    }
    return [{ ...made, run }]
  }

  /** Whether the process that replied had imported the module before. */
  #isKnown(resident: Resident, module: string, reply: ModuleReply): boolean {
    const start = this.#starts.get(resident)
    return start?.launch === reply.launch && start.imported.has(module)
  }

  /** Files are looked at again, as for every configuration. */
  look(): void {
    this.#residents.look()
  }

  renew<T>(make: () => T): T {
    this.#generation++
    return this.#residents.renew(make)
  }

  endIdle(ms: number): void {
    this.#residents.endIdle(ms)
  }

  close(): Promise<void> {
    return this.#residents.close()
  }

  #resident(spec: ModuleSpec, { report }: Surroundings, problem: StartProblem): Resident {
    const { hook, place } = spec
    const key = keyOf(spec)
    const options = {
      launch: () => {
        refuse(problem)
        madeDataFolder(place, report)
        this.#starts.set(resident, { launch: ++this.#launches, imported: new Set() })
        return launch(spec, this.#launches, report)
      },
      hello: {},
      helloMs: HELLO_MS,
      observeMs: 0,
      restart: AT_ONCE,
      maxLineBytes: MOST_BYTES,
      endsLate: true,
      report: (d: Diagnostic) => report({ ...d, text: `${hook.origin.source}: ${d.text}` }),
    }
    const entry = `${key} ${spec.handler.path}`
    const resident: Resident = this.#residents.of(key, this.#versionOf(spec), options, entry)
    return resident
  }

  /** A reload keeps the process of a reviewed module until other code is trusted. */
  #versionOf(spec: ModuleSpec): string {
    if (!this.#isWarm) return spec.hook.content ?? String(this.#generation)
    return this.#residents.versionOf(spec, [modulePath(spec.handler.path, spec.place)])
  }
}

function keyOf({ hook, place, env }: ModuleSpec): string {
  const { scope, file = '' } = hook.origin
  const unit = place.plugin?.root ?? place.skillDir ?? file
  return canonicalJson(JSON.parse(JSON.stringify({ unit, scope, place, env })) as Json)
}

function refuse(problem: StartProblem): void {
  const found = problem()
  if (found !== undefined) throw new HookError('HOOK_NOT_TRUSTED', found)
}

// ---- the process ----------------------------------------------------------------------------------------------

/** One process serves gates and other hooks, so it gets the environment of a gate. */
function launch(spec: ModuleSpec, number: number, note: Surroundings['report']): Launch {
  const hook = { ...spec.hook, events: 'all', detached: false, observe: false } as const
  const command = [
    process.execPath,
    ...(process.versions.bun === undefined ? NODE_OPTIONS : []),
    hostFile(),
    String(number),
  ]
  return { ...launchOf({ ...spec, hook, handler: { command } }, note), ownChannel: true }
}

/** Limits the memory of a module that leaks. Its crash is a failure, and the next event starts a new process. */
const NODE_OPTIONS = ['--max-old-space-size=512', '--disable-warning=ExperimentalWarning']

const HOST = 'module-host.mjs'

let host: string | undefined

/** Beside the program, or in the `bin` of the package that the library belongs to. */
function hostFile(): string {
  const start = dirname(fileURLToPath(import.meta.url))
  const places = ['.', 'bin', '../bin', '../../../dist/bin'].map((place) => join(start, place, HOST))
  host ??= places.find((path) => existsSync(path))
  if (host !== undefined) return host
  throw new HookError('INSTALL_BROKEN', `${HOST} is missing from the package in ${start}`)
}

// ---- a call ---------------------------------------------------------------------------------------------------

function callOf(
  { name, data, session }: HookEvent,
  { onFailure }: HookContext,
  terms: Pick<ModuleCall, 'module' | 'isExpected' | 'timeoutMs'>,
): ModuleCall {
  return { ...terms, event: name, data, ...(session && { session }), onFailure }
}

function read({ answer, whole, failure, notes }: ModuleReply, { note }: HookContext): unknown {
  for (const one of notes) note({ ...one, text: plainText(one.text) })
  if (failure) throw errorOf(failure)
  return whole === undefined ? answer : new WholeData(whole)
}

function errorOf({ code, text, hint }: ModuleFailure): Error {
  // Without a code, the engine adds advice that depends on the text.
  return code === undefined ? new Error(text) : new HookError(code, text, hint === undefined ? {} : { hint })
}

function explained(error: unknown): never {
  if (!isHookError(error, 'HOOK_TIMEOUT')) throw error
  throw new HookError('HOOK_TIMEOUT', `${error.message}, so its process was ended`, {
    cause: error,
    hint: 'Make the module faster, or give the hook a larger "timeout" (seconds).',
  })
}
