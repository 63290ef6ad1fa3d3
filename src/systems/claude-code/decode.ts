// Reads the exit code, stdout and stderr of a hook in Claude Code's format. Throws for a failure, and the kernel decides its effect.

import { type Diagnostic, HookError } from '../../core/base/errors.js'
import { plainText } from '../../core/base/text.js'
import { endsChain } from '../../core/events/actions.js'
import { resolveEvent } from '../../core/events/events.js'
import { type HookResult, inject, proceed } from '../../core/events/result.js'
import { closesOnFailure, type FailurePolicy, type HookEvent } from '../../core/hooks/hook.js'
import {
  type Answer,
  type Decision,
  decisionOf,
  effectsOf,
  firstText,
  NO_ANSWER,
  withoutGrant,
} from './answer.js'
import { advised, type Honoured, honouredOn, howToAsk, howToBlock } from './honoured.js'
import { closingAnswer, readStdout, type Stdout } from './stdout.js'

/** How a hook's program ended, and its output. */
export interface Reply {
  readonly code: number | null
  readonly signal: string | null
  readonly stdout: string
  readonly stderr: string
  /** Its stdout was too long. */
  readonly cut: boolean
}

/** The hook that replied. */
export interface Asker {
  readonly name: string
  readonly onFailure: FailurePolicy
  /** Nothing waits for it. It can no longer keep an agent from stopping, but its context still reaches the model. */
  readonly late?: boolean
  /** False: an allow only means that it does not object. Default: it spares the user a question. */
  readonly grants?: boolean
}

interface Case {
  readonly event: HookEvent
  readonly reply: Reply
  readonly asker: Asker
  readonly note: (d: Diagnostic) => void
  readonly honoured: Honoured
}

/** Throws HookError for a failure (ANSWER_INVALID, HOOK_EXIT, HOOK_OUTPUT): the kernel applies onFailure. */
export function decode(
  event: HookEvent,
  reply: Reply,
  asker: Asker,
  note: (d: Diagnostic) => void,
): HookResult {
  const result = decodeEnded({ event, reply, asker, note, honoured: honouredOn(event) })
  return asker.grants === false && result.permission ? withoutAllow(event, result) : result
}

/** What else a ruling on a permission holds goes with its allow. */
function withoutAllow(event: HookEvent, { permission: _, data, host, ...rest }: HookResult): HookResult {
  if (event.name === 'PermissionRequest')
    return { ...rest, action: rest.action === 'modify' ? 'continue' : rest.action }
  return { ...rest, ...(data && { data }), ...(host && { host }) }
}

function decodeEnded(one: Case): HookResult {
  const { event, reply, asker, note } = one
  const blocks = blocksByCode(one)
  if (reply.code === 2 && !blocks) note({ code: 'verdict-ignored', ...exitIgnored(one) })
  if (reply.cut && !blocks) {
    return decodeUnfinished(event, reply, asker, note) ?? tooLong()
  }
  const stdout = readStdout(event, reply.stdout, note)
  if (blocks) return blocked(one, stdout)
  if (reply.code === 0) return succeeded(one, stdout)
  return reply.code === 2 ? ignoredBlock(one, stdout) : ended(one, stdout)
}

function tooLong(): never {
  throw new HookError('HOOK_OUTPUT', 'printed more than the output limit, so its answer cannot be read')
}

/** The output of a hook that did not finish, if it closes. Nothing else in it counts. */
export function decodeUnfinished(
  event: HookEvent,
  reply: Reply,
  asker: Asker,
  note: (d: Diagnostic) => void,
): HookResult | undefined {
  const answer = closingAnswer(event, reply.stdout, note)
  if (!answer) return undefined
  const one: Case = { event, reply, asker, note, honoured: honouredOn(event) }
  return finish(one, answer, decisionOf(event, answer))
}

function blocksByCode({ reply, honoured }: Case): boolean {
  return (reply.code === 2 && honoured.exit2 === 'block') || (honoured.makesPath === true && reply.code !== 0)
}

// ---- four ways to end -----------------------------------------------------------------------------------------

/** Exit code 2: nothing on stdout revokes the block. */
function blocked(one: Case, stdout: Stdout): HookResult {
  const { event, reply, asker, note } = one
  const answer = stdout.kind === 'answer' ? stdout.answer : NO_ANSWER
  if (reply.cut)
    note({ code: 'HOOK_OUTPUT', text: 'printed more than the output limit; its exit code blocks' })
  if (stdout.kind === 'broken') noteMalformed(one, [stdout.problem])
  if (stdout.kind === 'text' && reply.stderr.trim() === '') {
    const said = advised('it blocks, but its reason is on stdout', 'write it to stderr')
    note({ code: 'answer-misplaced', ...said })
  }
  noteMalformed(one, answer.problems)
  const own = decisionOf(event, answer)
  const given = own && refuses(own) && !own.misplaced ? own.reason : undefined
  const block = answer.top.decision === 'block' ? answer.top.reason : undefined
  const unnamed = reply.code === 2 ? `Blocked by hook ${asker.name}` : `Hook ${asker.name} ${ending(reply)}`
  const reason = firstText(
    given,
    block,
    reply.stderr.trim(),
    own?.misplaced?.reason,
    answer.top.reason,
    unnamed,
  )
  const action = own && isStop(own) ? own.action : 'deny'
  return finish(one, answer, { action, reason })
}

function succeeded(one: Case, stdout: Stdout): HookResult {
  const result = printed(one, stdout)
  if (!one.honoured.makesPath || endsChain(result.action)) return result
  const path = stdout.kind === 'text' ? lastLine(stdout.text) : result.host?.worktreePath
  if (path) return { ...result, host: { ...result.host, worktreePath: path } }
  const { host: _, ...rest } = result
  return { ...rest, action: 'deny', reason: `Hook ${one.asker.name} succeeded but returned no worktree path` }
}

function printed(one: Case, stdout: Stdout): HookResult {
  if (stdout.kind === 'answer') return settle(one, stdout.answer)
  if (stdout.kind === 'broken') throw invalid(one.event, stdout.problem)
  if (stdout.kind === 'async' && isGate(one)) throw invalid(one.event, ASYNC)
  if (stdout.kind !== 'text') return proceed()
  return one.honoured.plainContext ? inject(stdout.text) : proceed()
}

/** A gate that ended without a verdict will never give one. */
function isGate({ event, asker }: Case): boolean {
  return !asker.late && resolveEvent(event.name || 'Unknown').deny === 'block'
}

const ASYNC = 'it answered "async": true and ended without a verdict'

/** Exit code 2 on an event that it cannot block: the answer counts, except for an allow, which the exit code contradicts. */
function ignoredBlock(one: Case, stdout: Stdout): HookResult {
  const { honoured, reply } = one
  if (stdout.kind === 'broken') throw invalid(one.event, stdout.problem)
  const answer = stdout.kind === 'answer' ? stdout.answer : NO_ANSWER
  const result = settle(one, withoutGrant(answer))
  const stderr = honoured.exit2 === 'show' ? forUser(reply.stderr) : undefined
  if (!stderr) return result
  return {
    ...result,
    userMessage: [result.userMessage, stderr].filter(Boolean).join('\n'),
    userMessageLevel: 'warning',
  }
}

/** Any other code, or a signal: a valid answer decides, unless the gate closes on failure. A deny always stands. */
function ended(one: Case, stdout: Stdout): HookResult {
  const { event, reply } = one
  if (stdout.kind === 'broken') throw exitError(reply, stdout.problem)
  if (stdout.kind !== 'answer') throw exitError(reply)
  const { answer } = stdout
  const decision = decisionOf(event, answer)
  if (!decision || !refuses(decision)) {
    if (closes(one)) throw exitError(reply, 'its answer does not count, because onFailure is "block"')
    if (answer.problems.length > 0 && !closesBy(decision)) throw exitError(reply, answer.problems.join('; '))
  }
  return settle(one, answer)
}

/** If there is no gate to close (Stop and the like, notifications), the answer can safely count. */
function closes({ event, asker }: Case): boolean {
  return closesOnFailure(resolveEvent(event.name), asker.onFailure, false)
}

// ---- from answer to result ------------------------------------------------------------------------------------

function isStop({ action }: Decision): boolean {
  return action === 'abort_turn' || action === 'hard_abort'
}

function refuses(decision: Decision): boolean {
  return decision.action === 'deny' || isStop(decision)
}

/** A closing decision counts, however malformed the rest of the answer is. */
function closesBy(decision: Decision | undefined): decision is Decision {
  return decision !== undefined && decision.action !== 'allow'
}

function settle(one: Case, answer: Answer): HookResult {
  const { event } = one
  const decision = decisionOf(event, answer)
  const problems = problemsBeside(decision, answer)
  if (problems.length > 0) {
    if (!closesBy(decision)) throw invalid(event, answer)
    noteMalformed(one, problems)
  }
  noteApproval(one, answer, decision)
  noteIgnored(one, answer, decision)
  return finish(one, answer, decision)
}

/** Leaves out the problem of the deciding word, which was already reported. */
function problemsBeside(decision: Decision | undefined, { problems }: Answer): readonly string[] {
  const path = decision?.misplaced?.path
  return path === undefined ? problems : problems.filter((problem) => !problem.startsWith(`${path} `))
}

/** Words in their proper place that have no effect on this event. */
function noteIgnored({ event, note }: Case, { top, said }: Answer, decision: Decision | undefined): void {
  const ignored = (said: Pick<Diagnostic, 'text' | 'todo'>) => note({ code: 'verdict-ignored', ...said })
  const isBlocked = decision !== undefined && refuses(decision)
  const { decision: word } = top
  if (word && !isBlocked && (event.name === 'PermissionRequest' || word === 'block')) {
    const what = `"decision":"${word}" at the top level does not decide ${event.name}`
    ignored(advised(what, howToBlock(event)))
  }
  if (top.continue === false && !isBlocked) {
    ignored({ text: `"continue":false stops nothing on ${event.name}, as in Claude Code` })
  }
  if (said.action === 'ask_user' && !closesBy(decision)) {
    ignored(advised(`"action":"ask_user" does not decide ${event.name}`, howToAsk(event)))
  }
  if (said.action === 'deny' && !closesBy(decision)) {
    ignored(advised(`"action":"deny" does not decide ${event.name}`, howToBlock(event)))
  }
}

/** Terms without a question suggest that the author meant to ask. */
function noteApproval({ event, note }: Case, { approval, slips, said }: Answer, decision?: Decision): void {
  if (decision?.action === 'ask_user') {
    for (const slip of slips)
      note({ code: 'malformed-field', text: `${slip}; it is ignored, and the ask stands` })
    return
  }
  const [term] = Object.keys(approval)
  // A full HookResult also contains the default terms.
  if (term === undefined || said.action !== undefined || closesBy(decision)) return
  note({ code: 'answer-misplaced', ...advised(`${term} only counts if the hook asks`, howToAsk(event)) })
}

function finish(one: Case, answer: Answer, decision: Decision | undefined): HookResult {
  const { event, asker, note, honoured } = one
  const isRefused = decision !== undefined && refuses(decision)
  const effects = effectsOf(event, isRefused ? withoutGrant(answer) : answer, note)
  const reason = decision?.reason
  switch (decision?.action) {
    case 'hard_abort':
    case 'abort_turn':
      return { ...effects, action: decision.action, reason: reason ?? `Stopped by hook ${asker.name}` }
    case 'deny':
      return { ...effects, action: 'deny', reason: reason ?? `Blocked by hook ${asker.name}` }
    case 'ask_user':
      return { ...effects, ...asked(answer, decision, asker) }
  }
  if (answer.said.action === 'respond') return { ...effects, ...responded(answer) }
  if (honoured.contextGoesOn && !asker.late && effects.contextInjection) {
    // The text becomes the agent's next instruction, so it is not injected too.
    const { contextInjection, ...rest } = effects
    return { ...rest, action: 'deny', reason: contextInjection }
  }
  const action = effects.data ? 'modify' : effects.contextInjection ? 'inject_context' : 'continue'
  return { ...effects, action, ...(decision && { permission: 'allow', ...(reason && { reason }) }) }
}

function asked({ approval }: Answer, { reason }: Decision, { name }: Asker): HookResult {
  const approvalPrompt = firstText(approval.approvalPrompt, reason) ?? `Hook ${name} wants a person to decide`
  return { action: 'ask_user', ...approval, approvalPrompt, ...(reason && { reason }) }
}

function responded({ said, top }: Answer): HookResult {
  const { response = null } = said
  return { action: 'respond', response, ...(top.reason && { reason: top.reason }) }
}

// ---- words ----------------------------------------------------------------------------------------------------

function noteMalformed({ note }: Case, problems: readonly string[]): void {
  for (const problem of problems) note({ code: 'malformed-field', text: `${problem}; the verdict stands` })
}

function exitIgnored({ event, reply }: Case): ReturnType<typeof advised> {
  const line = firstLine(reply.stderr)
  const what = `exit code 2 does not block ${event.name}${line && ` (it said: ${line})`}`
  return advised(what, howToBlock(event))
}

function invalid(event: HookEvent, problem: string | Answer): HookError {
  const text = typeof problem === 'string' ? problem : problem.problems.join('; ')
  const hint = `Print one JSON object as Claude Code documents it; ${howToBlock(event)}.`
  return new HookError('ANSWER_INVALID', text, { hint })
}

function lastLine(text: string): string {
  return text.slice(text.lastIndexOf('\n') + 1).trim()
}

// ---- how a program ended ----------------------------------------------------------------------------------------

type Ended = Pick<Reply, 'code' | 'signal' | 'stderr'>

export function ending({ code, signal }: Ended): string {
  if (code !== null) return `exited with ${code}`
  return signal ? `was killed by ${signal}` : 'ended without an exit code'
}

/** A shell's exit codes, which rarely come from the command itself. */
const HINTS: Readonly<Record<number, string>> = {
  126: 'Make the file executable (chmod +x), or start it with its interpreter; exit 0 to go on, 2 to block.',
  127: `Install the program, or correct its path, which is relative to the session's folder ("\${CLAUDE_PLUGIN_ROOT}/…" is the plugin's). A script needs a first line such as #!/bin/sh that does not end in CR.`,
}

/** For a code other than 0 and 2, or a signal, without an answer that counts. */
function exitError(reply: Ended, because?: string): HookError {
  const line = firstLine(reply.stderr)
  const text = `${ending(reply)}${line && `: ${line}`}${because ? `; ${because}` : ''}`
  const hint = reply.code === null ? undefined : HINTS[reply.code]
  const { code: exitCode, signal } = reply
  return new HookError('HOOK_EXIT', text, {
    cause: { exitCode, signal },
    ...(hint !== undefined && { hint }),
  })
}

const LONGEST_LINE = 300

/** The most informative line, or nothing. Python prints it last, other programs first. */
export function firstLine(text: string): string {
  const trimmed = text.trim()
  const line = /^Traceback \(most recent call last\):/m.test(trimmed)
    ? trimmed.slice(trimmed.lastIndexOf('\n') + 1)
    : (/[^\r\n]*/.exec(trimmed)?.[0] ?? '')
  const plain = plainText(line.slice(0, 4 * LONGEST_LINE)).trim()
  return plain.length > LONGEST_LINE ? `${plain.slice(0, LONGEST_LINE)}…` : plain
}

const LONGEST_MESSAGE = 2000

/** Shortened, because the trace keeps the rest. */
function forUser(text: string): string {
  const whole = text.trim()
  return whole.length > LONGEST_MESSAGE ? `${whole.slice(0, LONGEST_MESSAGE)}…` : whole
}
