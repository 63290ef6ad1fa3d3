// Resident hooks for tests: real processes written in a few lines, asked as the engine would ask them.

import { writeFileSync } from 'node:fs'
import { type Data, type Diagnostic, HookError } from 'carabiner'
import type { Hook, HookContext, HookEvent, Printed } from '../../../src/core/hooks/hook.js'
import type { Outcome } from '../../../src/core/hooks/outcome.js'
import type { Place, StartProblem } from '../../../src/runners/hook-spec.js'
import {
  type ProcessHandler,
  type ProcessSpec,
  processHooks,
} from '../../../src/runners/process/process-hooks.js'
import { Residents } from '../../../src/runners/process/residents.js'
import { laneHook } from '../../core/made-hook.js'
import { Workshop } from '../command/workshop.js'

/** A hook that says hello and lets everything pass. `on[method] = (params, id) => …` changes that. */
export const MANNERS = `
const { appendFileSync, existsSync, writeFileSync } = require('node:fs')
const { spawn } = require('node:child_process')
const on = {
  'hook.hello': (params, id) => reply(id, { ok: true, name: 'test' }),
  'hook.event': () => {},
}
const write = (text, then) => process.stdout.write(text + '\\n', then)
const send = (message, then) => write(JSON.stringify({ jsonrpc: '2.0', ...message }), then)
const reply = (id, result, then) => send({ id, result }, then)
const deny = (id, reason, then) => reply(id, { action: 'deny_tool', reason }, then)
let other = (message) => deny(message.id, String(process.pid))
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line)
  const known = on[message.method]
  known ? known(message.params, message.id, message) : other(message)
})
`

/** Slow machines are no failures. */
const PATIENT = { observe: 20, intercept: 20, approve: 20, hello: 20 }

export interface Asked {
  readonly answer: Promise<{ readonly action?: string; readonly reason?: string } | undefined>
  readonly notes: Diagnostic[]
  readonly prints: Printed[]
}

export class Hall {
  readonly workshop = new Workshop()
  readonly residents = new Residents()
  readonly reports: Diagnostic[] = []

  spec(more: Partial<ProcessHandler> = {}, place: Partial<Place> = {}): ProcessSpec {
    const { run: _, ...hook } = laneHook('project:gate', {
      kind: 'process',
      lane: null,
      onFailure: 'byEvent',
    })
    const { folder } = this.workshop
    return {
      hook,
      processName: 'gate',
      handler: {
        command: [process.execPath, this.workshop.path('hook.js')],
        observe: [],
        intercept: ['before_tool'],
        timeouts: PATIENT,
        restart: { delay: 60, maxDelay: 60, attempts: 5 },
        ...more,
      },
      place: { projectDir: folder, hooksDir: folder, ...place },
      env: 'inherit',
      longestMs: 300_000,
    }
  }

  /** The hooks of an entry whose process is this, after its manners. */
  hooks(text: string, more: Partial<ProcessHandler> = {}): readonly Hook[] {
    writeFileSync(this.workshop.path('hook.js'), MANNERS + text)
    return this.made(this.spec(more))
  }

  /** The one hook of it that intercepts. */
  hook(text: string, more: Partial<ProcessHandler> = {}): Hook {
    return this.hooks(text, more)[0] as Hook
  }

  /** The same for a shell script, which knows no manners. */
  script(text: string, more: Partial<ProcessHandler> = {}): Hook {
    return this.made(this.spec({ command: ['/bin/sh', '-c', text], ...more }))[0] as Hook
  }

  made(spec: ProcessSpec, problem?: StartProblem): readonly Hook[] {
    return processHooks(spec, { report: (d) => this.reports.push(d) }, this.residents, problem)
  }

  codes(): readonly string[] {
    return this.reports.map(({ code }) => code)
  }

  async close(): Promise<void> {
    await this.residents.close()
    this.workshop.close()
  }
}

export const PRE_TOOL_USE: HookEvent = {
  name: 'PreToolUse',
  data: { tool_name: 'Bash', tool_input: { command: 'ls' } },
  session: undefined,
}

export function ask(hook: Hook, data: Data = {}, signal = new AbortController().signal): Asked {
  const notes: Diagnostic[] = []
  const prints: Printed[] = []
  const context = contextOf(signal, notes, prints)
  const event = { ...PRE_TOOL_USE, data: { ...PRE_TOOL_USE.data, ...data } }
  const answer = (async () => hook.run(event, context))() as Asked['answer']
  return { answer, notes, prints }
}

/** The reason of the deny it answered. */
export async function reasonFrom(hook: Hook, data: Data = {}): Promise<string> {
  return (await ask(hook, data).answer)?.reason ?? ''
}

export async function failureOf(asked: Asked): Promise<HookError> {
  const thrown: unknown = await asked.answer.then(
    (answer) => new Error(`It answered ${JSON.stringify(answer)}`),
    (error: unknown) => error,
  )
  if (thrown instanceof HookError) return thrown
  throw thrown
}

/** Shows an observer an event. */
export function tell(hook: Hook, event: HookEvent, outcome?: Outcome): unknown {
  return hook.run(event, contextOf(new AbortController().signal, [], [], outcome))
}

function contextOf(
  signal: AbortSignal,
  notes: Diagnostic[],
  prints: Printed[],
  outcome?: Outcome,
): HookContext {
  return {
    signal,
    onAbort: (listener) => signal.addEventListener('abort', listener, { once: true }),
    session: undefined,
    outcome,
    note: (d) => notes.push(d),
    onFailure: 'continue',
    printed: (output) => prints.push(output),
    lastWord: () => {},
  }
}
