// pre-tool-use: checks every tool call before it runs, by the guard's rules and the lists of the settings.

import { resolve } from 'node:path'
import type { HookInput } from '../../author/hook-input.js'
import type { Json } from '../../core/base/json.js'
import { askUser, deny, type HookResult } from '../../core/events/result.js'
import { isReadTool } from '../../effects/tools/read-tools.js'
import { AmbiguousInput, type ToolCall, toolCall } from '../../effects/tools/tool-call.js'
import { InvalidHookInput } from '../../hosts/payload.js'
import { withMessages } from '../answer.js'
import type { PackContext, PackHook } from '../pack-hook.js'
import { guardsPaths, type PackSettings } from '../settings.js'
import { asked, type Finding, worstOf } from './finding.js'
import { skillFindings } from './skill-redirect.js'

const HINT = 'The owner of this machine can change that in ~/.amplifier/pack.json.'
const RULE_HINT = 'The owner of this machine can change the rule by its id in ~/.amplifier/rules.json.'

export const preToolUse: PackHook = {
  name: 'pre-tool-use',
  event: 'PreToolUse',
  also: ['PermissionRequest', 'Unknown'],
  onFailure: 'closed',
  async run(given, context) {
    const input = callIn(given)
    if (!input) return undefined
    const started = context.now()
    const { result, rule } = await answerTo(input, context)
    context.state.append('metrics', {
      event: given.event,
      tool: input.toolName,
      verdict: VERDICTS[result?.action ?? ''] ?? 'none',
      ms: context.now() - started,
      ...(rule === undefined ? {} : { rule }),
      ...(input.sessionId === undefined ? {} : { session: input.sessionId }),
    })
    return result
  },
}

const VERDICTS: Readonly<Record<string, string>> = { deny: 'deny', ask_user: 'ask' }

interface Input {
  readonly sessionId?: string
  readonly toolName: string
  readonly toolInput: Json
  readonly cwd?: string
  readonly host?: string
  readonly permissionMode?: string
}

/** Reads a call from any event about a tool that is about to run, but not from one about a tool that has run. */
function callIn(input: HookInput): Input | undefined {
  const { tool_name: toolName, tool_input: toolInput } = input.extra
  if (input.event === 'PreToolUse' || input.event === 'PermissionRequest')
    return { ...input, toolInput: toolInput ?? input.toolInput }
  if (input.event !== 'Unknown' || typeof toolName !== 'string' || toolInput === undefined) return undefined
  return { ...input, toolName, toolInput }
}

function calledBy(toolName: string, toolInput: Json): ToolCall {
  try {
    return toolCall(toolName, toolInput)
  } catch (error) {
    if (error instanceof AmbiguousInput) throw new InvalidHookInput(error.message)
    throw error
  }
}

interface Answer {
  readonly result: HookResult | undefined
  readonly rule: string | undefined
}

/** A deny by anything, or else the first question. */
async function answerTo(input: Input, context: PackContext): Promise<Answer> {
  const { settings } = context
  if (settings.closed !== undefined) return { result: deny(closedText(settings.closed)), rule: CLOSED }
  const call = calledBy(input.toolName, input.toolInput)
  const found = worstOf([
    ...lostRules(call, settings.unreadable),
    ...(await findingsOf(input, call, context)),
  ])
  if (found?.verdict === 'deny' || !isJudged(input.toolName, call, settings)) return answerOf(found)
  // Loaded only where it matters, because other tools are called more often.
  const { judgedCall } = await import('./judged-call.js')
  const { toolName, toolInput, host, permissionMode } = input
  const cwd = resolve(context.projectDir, input.cwd ?? '.')
  const judged = await judgedCall(
    { toolName, toolInput, kind: call.kind, cwd, agent: host, permissionMode },
    context,
  )
  const lost = found ?? worstOf(lostRules(call, judged.problem))
  const { result, rule } = judged
  const told = judged.shadows.map((text) => `${text}.`)
  if (result.action === 'deny' || (result.action === 'ask_user' && !lost))
    return { result: withMessages(withHint(result), told), rule }
  const more = lost ? answerOf(lost) : { result: isPlain(result) ? undefined : result, rule: undefined }
  return { ...more, result: withMessages(more.result, told) }
}

const CLOSED = 'company-policy'

function closedText(why: string): string {
  return `No call may run, because the company’s policy cannot be relied on: ${why} (${CLOSED})`
}

function isPlain({ action, permission }: HookResult): boolean {
  return action === 'continue' && permission === undefined
}

function withHint(result: HookResult): HookResult {
  return { ...result, reason: `${result.reason} (${RULE_HINT})` }
}

function answerOf(found: Finding | undefined): Answer {
  if (!found) return { result: undefined, rule: undefined }
  const { verdict, rule, reason } = found
  const text = `${reason} (${rule}. ${HINT})`
  const result = verdict === 'deny' ? deny(text) : askUser(`${reason} (${rule})`, { reason: text })
  return { result, rule }
}

/** If the user's rules cannot be read, a person decides, because nobody knows what the rules say about this call. */
function lostRules({ kind }: ToolCall, problem: string | undefined): readonly Finding[] {
  if (problem === undefined || kind === 'other') return []
  return [
    asked(
      'settings-unreadable',
      `Your rules cannot be read, so every command and every file change needs your approval until you fix this: ${problem}.`,
    ),
  ]
}

/** What is decided by settings that are no rules about effects. */
async function findingsOf(input: Input, call: ToolCall, context: PackContext): Promise<readonly Finding[]> {
  const { bash } = context.settings
  const { projectDir, home } = context
  if (call.kind === 'other') return skillFindings(input.toolName, input.toolInput, [projectDir, home])
  if (call.kind !== 'shell' || (bash.allow.length === 0 && bash.deny.length === 0)) return []
  const { listFindings } = await import('./allow-list.js')
  return listFindings(call, resolve(projectDir, input.cwd ?? '.'), context)
}

/** Whether a rule may count for the call. */
function isJudged(toolName: string, call: ToolCall, settings: PackSettings): boolean {
  const { denyList } = settings.bash
  if (call.kind === 'other') return denyList && (/^mcp(?:__|[:_.])/i.test(toolName) || isReadTool(toolName))
  return denyList || guardsPaths(settings)
}
