// The program that runs the modules of one plugin or file: imports them, calls their handlers, and answers the engine.

import { existsSync, readFileSync } from 'node:fs'
import { Socket } from 'node:net'
import { basename } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { inspect } from 'node:util'
import { type Diagnostic, HookError, isHookError, textOf } from '../../core/base/errors.js'
import { type Data, frozenCopy } from '../../core/base/json.js'
import { Connection } from '../../rpc/connection.js'
import { methodNotFound } from '../../rpc/message.js'
import { HELLO_METHOD } from '../../systems/picoclaw/protocol.js'
import { answerOf } from './module-answer.js'
import {
  CALL_METHOD,
  MOST_BYTES,
  type ModuleCall,
  type ModuleFailure,
  type ModuleReply,
} from './module-call.js'
import type { ModuleContext } from './module-context.js'
import { type ExportedHandler, FORMS, handlersFor, handlersOf } from './module-exports.js'
import { typeScriptProblem } from './module-path.js'

const CHANNEL = 3
const LAUNCH = Number(process.argv[2])

/** Whether a module printed anything since the last reply. */
let hasPrinted = false

serve()

function serve(): void {
  const { exit } = process
  watchOutput()
  process.exit = (code) => {
    process.stderr.write(`process.exit(${code ?? ''}) was called, which ends the process of the module\n`)
    return exit(code)
  }
  const channel = new Socket({ fd: CHANNEL, readable: true, writable: true })
  const connection = new Connection({
    input: channel,
    output: channel,
    maxLineBytes: MOST_BYTES,
    onRequest: (method, params) => {
      if (method === HELLO_METHOD) return { ok: true, name: 'modules' }
      if (method === CALL_METHOD) return replyTo(params as unknown as ModuleCall)
      throw methodNotFound(method)
    },
    // The engine is gone. A module may have left timers, which must not keep the process alive.
    onClose: () => void connection.finished().then(() => exit(0)),
  })
}

/** Both streams are written at once, so that the engine finds the text when the reply arrives. */
function watchOutput(): void {
  for (const stream of [process.stdout, process.stderr]) {
    const write = stream.write
    stream.write = ((...args: Parameters<typeof write>) => {
      hasPrinted = true
      return write.apply(stream, args)
    }) as typeof write
  }
}

// ---- one call -------------------------------------------------------------------------------------------------

async function replyTo(call: ModuleCall): Promise<ModuleReply> {
  const notes: Diagnostic[] = []
  const given = await answered(call, notes).catch((error: unknown) => ({ failure: failureOf(error) }))
  const reply = { ...given, notes, hasPrinted, launch: LAUNCH }
  hasPrinted = false
  return reply
}

async function answered(
  call: ModuleCall,
  notes: Diagnostic[],
): Promise<Pick<ModuleReply, 'answer' | 'whole'>> {
  const { module, event, isExpected } = call
  const all = await loaded(module)
  const handlers = handlersFor(all, event)
  if (handlers.length === 0 && isExpected) {
    const text = `${basename(module)} has no handler for ${event}`
    throw new HookError('HOOK_NOT_STARTED', text, { hint: FORMS })
  }
  const data = frozenCopy(call.data, event) as Data
  const matching = handlers.filter((one) => one.matches(data))
  return answerOf(matching, event, data, contextOf(call, notes), notes)
}

function contextOf({ session, onFailure, timeoutMs }: ModuleCall, notes: Diagnostic[]): ModuleContext {
  let signal: AbortSignal | undefined
  const context: ModuleContext = {
    get signal() {
      signal ??= AbortSignal.timeout(timeoutMs)
      return signal
    },
    onAbort: (listener) => context.signal.addEventListener('abort', listener, { once: true }),
    session: session && Object.freeze(session),
    onFailure,
    note: (d) => {
      if (typeof d?.text !== 'string') throw new HookError('ANSWER_INVALID', 'note() takes { code, text }')
      notes.push(d)
    },
  }
  return context
}

function failureOf(error: unknown): ModuleFailure {
  if (!isHookError(error)) {
    process.stderr.write(`${inspect(error)}\n`)
    return { text: textOf(error) }
  }
  const { code, message: text, hint } = error
  if (code === 'ANSWER_INVALID' || code === 'HOOK_NOT_STARTED') return { code, text, hint }
  return { text, hint }
}

// ---- importing ------------------------------------------------------------------------------------------------

const modules = new Map<string, Promise<readonly ExportedHandler[]>>()

function loaded(path: string): Promise<readonly ExportedHandler[]> {
  const known = modules.get(path)
  if (known) return known
  const loading = load(path)
  modules.set(path, loading)
  return loading
}

async function load(path: string): Promise<readonly ExportedHandler[]> {
  const name = basename(path)
  const problem = existsSync(path) ? typeScriptProblem(path) : undefined
  if (problem) throw problem
  const exports = await imported(path).catch((error: unknown) => {
    process.stderr.write(`${inspect(error)}\n`)
    throw new HookError('HOOK_NOT_STARTED', `${name} cannot be imported: ${textOf(error)}`, {
      hint: existsSync(path) ? `Correct ${path}.` : `There is no file ${path}.`,
    })
  })
  const handlers = handlersOf(exports)
  if (handlers.length > 0) return handlers
  throw 'register' in exports
    ? isMod(name)
    : new HookError('HOOK_NOT_STARTED', `${name} exports no handler`, { hint: FORMS })
}

function isMod(name: string): HookError {
  return new HookError(
    'HOOK_NOT_STARTED',
    `${name} exports register(), so it is a mod for Claude Code, and only Claude Code can run it`,
    { hint: FORMS },
  )
}

// ---- 'carabiner' inside modules -------------------------------------------------------------------------------

/** The program's own files. A module runs from a copy, which has no node_modules. */
const OWN: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries({
    carabiner: '../index.js',
    'carabiner/core': '../core/index.js',
    'carabiner/author': './author.mjs',
  })
    .map(([name, path]) => [name, new URL(path, import.meta.url).href] as const)
    .filter(([, url]) => existsSync(fileURLToPath(url))),
)

interface ModuleLoaders {
  registerHooks?(hooks: { resolve: Resolve }): void
  register?(url: string, options: { readonly data: typeof OWN }): void
}

type Resolve = (name: string, context: unknown, next: (name: string, context: unknown) => unknown) => unknown

let resolves = false

function imported(path: string): Promise<Readonly<Record<string, unknown>>> {
  const loaders = process.getBuiltinModule('node:module') as unknown as ModuleLoaders
  if (loaders.registerHooks || MAY_NEED_OWN.test(textAt(path))) resolveOwn(loaders)
  return import(pathToFileURL(path).href)
}

/** It, or a file that it imports, may import `carabiner`. */
const MAY_NEED_OWN = /['"](?:carabiner|\.\.?\/)|\bimport\s*\(/

/** In Node.js 20, this starts a thread, so it waits until a module may need it. */
function resolveOwn(loaders: ModuleLoaders): void {
  if (resolves) return
  resolves = true
  if (loaders.registerHooks)
    loaders.registerHooks({
      resolve: (name, context, next) =>
        Object.hasOwn(OWN, name) ? { url: OWN[name], shortCircuit: true } : next(name, context),
    })
  else loaders.register?.(RESOLVER, { data: OWN })
}

const RESOLVER = `data:text/javascript,${encodeURIComponent(`
let own
export const initialize = (data) => { own = data }
export const resolve = (name, context, next) =>
  Object.hasOwn(own, name) ? { url: own[name], shortCircuit: true } : next(name, context)
`)}`

function textAt(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return '' // The import says why.
  }
}
