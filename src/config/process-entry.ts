// Reads the entries under `processes`, and reports their problems.

import { isObject } from '../core/base/json.js'
import { nearest, shown } from '../core/base/text.js'
import type { HookMode } from '../core/hooks/hook.js'
import { type JsonPath, under } from '../files/json-text.js'
import {
  type GivenProcess,
  isTexts,
  POINTS,
  PROCESS,
  USUAL_RESTART,
  USUAL_TIMEOUTS,
} from '../runners/process/kind.js'
import type { ProcessHandler } from '../runners/process/process-hooks.js'
import { likelyKind } from '../systems/picoclaw/observation.js'
import type { ConfigFile } from './config-file.js'
import { type HandlerProblem, withoutSlips } from './handler.js'
import { isRemark, type Reading, removalOf, say } from './hook-group.js'
import { type Advice, changeOf } from './notes.js'
import { cleanName, type Owner } from './owner.js'

/** A valid entry, and where it was found. */
export interface ProcessEntry {
  readonly owner: Owner
  readonly file: ConfigFile
  readonly at: JsonPath
  /** Its key. The process learns it from the hello message. */
  readonly key: string
  readonly handler: ProcessHandler
  readonly priority: number
  /** Absent: the role decides. */
  readonly onFailure?: 'block' | 'continue'
  readonly mode: HookMode
  readonly enabled: boolean
}

type Fields = { readonly [key: string]: unknown }
type Timeouts = ProcessHandler['timeouts']

const NEVER: ProcessHandler['restart'] = { ...USUAL_RESTART, attempts: 0 }

/** Reads the `processes` of a file. `defaults` are PicoClaw's timeouts beside it. */
export function readProcesses(
  reading: Reading & { readonly processes: ProcessEntry[] },
  value: unknown,
  at: JsonPath,
  defaults: unknown,
): void {
  if (!isObject(value)) {
    const text = `"processes" must be an object of processes, got ${shown(value)}`
    say(reading, 'entry-invalid', text, at, changeOf('processes', value, 'an object of processes'))
    return
  }
  const usual = usualTimeouts(defaults)
  for (const key of Object.keys(value)) {
    const where = under(at, key)
    const entry = readProcess(reading, key, value[key], where, usual)
    if ('problem' in entry) {
      const place = entry.key === undefined ? where : under(where, entry.key)
      say(reading, 'entry-invalid', `the process ${shown(key)} was left out: ${entry.problem}`, place, entry)
    } else reading.processes.push(entry)
  }
}

function readProcess(
  reading: Reading,
  key: string,
  raw: unknown,
  at: JsonPath,
  usual: Timeouts,
): ProcessEntry | HandlerProblem {
  if (!isObject(raw)) {
    const todo = `Write {"command": ["python3", "hook.py"]} in place of ${shown(raw)}.`
    return { problem: `it must be an object with "command", got ${shown(raw)}`, todo }
  }
  const name = cleanName(key)
  if (name === undefined) return { problem: 'it needs a name' }
  const { read: entry, remarks } = withoutSlips(raw)
  const problem = problemIn(entry)
  if (problem) return problem
  for (const remark of remarks) {
    const text = `the process ${shown(key)}: ${remark.problem}`
    say(reading, 'entry-invalid', text, under(at, remark.key ?? ''), remark)
  }
  for (const other of Object.keys(raw).filter((one) => !isKnown(one) && !isRemark(one))) {
    const { text, todo } = oddKey(other)
    say(reading, 'unknown-key', text, under(at, other), { todo })
  }
  const given = entry as Fields & GivenProcess
  for (const kind of given.observe ?? []) {
    const meant = likelyKind(kind)
    const text = `${name} observes ${shown(kind)}, which only session.notify sends; did you mean ${meant}?`
    const todo = `Write "${meant}" in place of ${shown(kind)}.`
    if (meant !== undefined) say(reading, 'unknown-key', text, under(at, 'observe'), { todo })
  }
  const { command, dir, env, observe = [], intercept = [], timeouts, restart, maxLineBytes } = given
  return {
    owner: reading.owner,
    file: reading.file,
    at,
    key: name,
    enabled: given.enabled ?? true,
    priority: given.priority ?? 0,
    ...(given.onFailure && { onFailure: given.onFailure }),
    mode: given.mode ?? 'enforce',
    handler: {
      command,
      ...(dir !== undefined && { dir }),
      ...(env && { env }),
      observe: [...new Set(observe)],
      intercept: [...new Set(intercept)].filter((one) => (one as string) !== ''),
      timeouts: { ...usual, ...timeouts },
      ...(maxLineBytes !== undefined && { maxLineBytes }),
      restart: restart === false ? NEVER : { ...USUAL_RESTART, ...(isObject(restart) && restart) },
    },
  }
}

// ---- problems with an entry ------------------------------------------------------------------------------------

function problemIn(raw: Fields): HandlerProblem | undefined {
  if (raw.command === undefined) {
    const todo = 'Add "command": ["python3", "hook.py"] to it.'
    const slip = slipIn(Object.keys(raw), ['command'])
    return { problem: `it needs "command"${slip.text}`, todo: slip.todo ?? todo }
  }
  for (const [key, [[accepts, wanted]]] of Object.entries(PROCESS.fields)) {
    const value = raw[key]
    if (value === undefined || accepts(value)) continue
    const slip = slipsOf(key, value)
    const { todo } = changeOf(key, value, wanted)
    return {
      problem: `"${key}" must be ${wanted}, got ${shown(value)}${slip.text}`,
      key,
      todo: slip.todo ?? todo,
    }
  }
  const { observe, intercept } = raw as Fields & GivenProcess
  const listens = (observe?.length ?? 0) > 0 || intercept?.some((one) => (one as string) !== '')
  return listens ? undefined : { problem: 'it has nothing to do: "intercept" and "observe" are empty' }
}

/** Suggests corrections for unknown parts of a value. */
function slipsOf(key: string, value: unknown): Slip {
  if (key === 'intercept' && isTexts(value)) return slipIn(value, POINTS)
  return key === 'timeouts' && isObject(value)
    ? slipIn(Object.keys(value), Object.keys(USUAL_TIMEOUTS))
    : { text: '' }
}

interface Slip extends Advice {
  readonly text: string
}

function slipIn(words: readonly string[], known: readonly string[]): Slip {
  const slip = words.find((word) => !known.includes(word) && nearest(word, known) !== undefined)
  if (slip === undefined) return { text: '' }
  const meant = nearest(slip, known)
  return {
    text: `; ${shown(slip)} is not known; did you mean "${meant}"?`,
    todo: `Write "${meant}" in place of ${shown(slip)}.`,
  }
}

function isKnown(key: string): boolean {
  return Object.hasOwn(PROCESS.fields, key)
}

/** Why the key is not needed, and what to write in its place. */
const MEANT: Readonly<Record<string, readonly [why: string, right?: string]>> = {
  args: ['write them into "command", after the program', 'Move "args" into "command", after the program.'],
  cwd: ['write "dir"', 'Write "dir" in place of "cwd".'],
  on_failure: ['write "onFailure"', 'Write "onFailure" in place of "on_failure".'],
  timeout: [
    'write "timeouts": {"intercept": …}, in seconds',
    'Write "timeouts": {"intercept": …}, in seconds, in place of "timeout".',
  ],
  modes: ['they follow from "intercept" and "observe"'],
  events: ['write "observe"', 'Write "observe" in place of "events".'],
  matcher: ['a process gets the calls of every tool'],
  type: ['everything under "processes" is a process'],
}

function oddKey(key: string): Slip {
  const text = `${shown(key)} is not a key of a process and is ignored`
  const [why, todo = removalOf(key)] = (Object.hasOwn(MEANT, key) && MEANT[key]) || []
  if (why !== undefined) return { text: `${text}: ${why}`, todo }
  const near = nearest(key, Object.keys(PROCESS.fields))
  if (near === undefined) return { text, todo: removalOf(key) }
  return { text: `${text}; did you mean "${near}"?`, todo: `Write "${near}" in place of ${shown(key)}.` }
}

// ---- PicoClaw's own file ------------------------------------------------------------------------------------------

const DEFAULT_KEYS = {
  observe: 'observer_timeout_ms',
  intercept: 'interceptor_timeout_ms',
  approve: 'approval_timeout_ms',
} as const

/** PicoClaw's file gives milliseconds for all processes. A value of zero or less keeps the default. */
function usualTimeouts(defaults: unknown): Timeouts {
  if (!isObject(defaults)) return USUAL_TIMEOUTS
  const given = Object.entries(DEFAULT_KEYS).flatMap(([role, key]) => {
    const ms = defaults[key]
    return Number.isFinite(ms) && (ms as number) > 0 ? [[role, (ms as number) / 1000]] : []
  })
  return { ...USUAL_TIMEOUTS, ...Object.fromEntries(given) }
}
