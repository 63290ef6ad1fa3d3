// pre-tool-use: checks every tool call before it runs. Denies calls that destroy data, skip checks or change the guard.

import { resolve } from 'node:path'
import type { HookInput } from '../../author/hook-input.js'
import type { Json } from '../../core/base/json.js'
import { shown } from '../../core/base/text.js'
import { askUser, deny, type HookResult } from '../../core/events/result.js'
import { AmbiguousInput, type ToolCall, toolCall } from '../../effects/tools/tool-call.js'
import { InvalidHookInput } from '../../hosts/payload.js'
import type { PackContext, PackHook } from '../pack-hook.js'
import { guardsPaths } from '../settings.js'
import { asked, denied, type Finding, worstOf } from './finding.js'
import { Places } from './places.js'
import { LEFT_TO_USER, STARTED, UNGUARDING } from './protected-paths.js'
import { skillFindings } from './skill-redirect.js'

const HINT = 'The owner of this machine can change the rules in ~/.amplifier/pack.json.'

export const preToolUse: PackHook = {
  name: 'pre-tool-use',
  event: 'PreToolUse',
  also: ['PermissionRequest', 'Unknown'],
  onFailure: 'closed',
  async run(given, context) {
    const input = callIn(given)
    if (!input) return undefined
    const started = context.now()
    const finding = worstOf([...lostRules(input, context), ...(await findingsOf(input, context))])
    context.state.append('metrics', {
      event: given.event,
      tool: input.toolName,
      verdict: finding?.verdict ?? 'none',
      ms: context.now() - started,
      ...(finding ? { rule: finding.rule } : {}),
      ...(input.sessionId === undefined ? {} : { session: input.sessionId }),
    })
    return finding && answerOf(finding)
  },
}

interface Input {
  readonly sessionId?: string
  readonly toolName: string
  readonly toolInput: Json
  readonly cwd?: string
}

/** Reads a call from any event about a tool that is about to run, but not from one about a tool that has run. */
function callIn(input: HookInput): Input | undefined {
  const { tool_name: toolName, tool_input: toolInput } = input.extra
  if (input.event === 'PreToolUse' || input.event === 'PermissionRequest')
    return { ...input, toolInput: toolInput ?? input.toolInput }
  if (input.event !== 'Unknown' || typeof toolName !== 'string' || toolInput === undefined) return undefined
  const { cwd, sessionId } = input
  return {
    toolName,
    toolInput,
    ...(cwd !== undefined && { cwd }),
    ...(sessionId !== undefined && { sessionId }),
  }
}

function calledBy(toolName: string, toolInput: Json): ToolCall {
  try {
    return toolCall(toolName, toolInput)
  } catch (error) {
    if (error instanceof AmbiguousInput) throw new InvalidHookInput(error.message)
    throw error
  }
}

function answerOf({ verdict, rule, reason }: Finding): HookResult {
  if (verdict === 'deny') return deny(`${reason} (${rule}. ${HINT})`)
  return askUser(`${reason} (${rule})`, { reason: `${reason} (${rule}. ${HINT})` })
}

/** If the user's rules cannot be read, a person decides, because nobody knows what the rules say about this call. */
function lostRules({ toolName, toolInput }: Input, { settings }: PackContext): readonly Finding[] {
  if (settings.unreadable === undefined || calledBy(toolName, toolInput).kind === 'other') return []
  return [
    asked(
      'settings-unreadable',
      `Your rules cannot be read, so every command and every file change needs your approval until you fix this: ${settings.unreadable}.`,
    ),
  ]
}

async function findingsOf(input: Input, context: PackContext): Promise<readonly Finding[]> {
  const { settings } = context
  const call = calledBy(input.toolName, input.toolInput)
  if (call.kind === 'other') {
    return skillFindings(input.toolName, input.toolInput, [context.projectDir, context.home])
  }
  const cwd = resolve(context.projectDir, input.cwd ?? '.')
  const places = new Places(context, cwd)
  switch (call.kind) {
    case 'shell':
      return commandFindings(call, cwd, context, places)
    case 'files':
      return [
        ...fileFindings(input.toolName, call, cwd, context, places),
        ...startFindings(input, call, context),
      ]
    case 'unclear': {
      const matters = guardsPaths(settings) || (call.missing !== 'path' && settings.bash.denyList)
      return matters
        ? [
            asked(
              'not-understood',
              `${shown(input.toolName)} does not name the ${call.missing} that it is about.`,
            ),
          ]
        : []
    }
  }
}

async function commandFindings(
  { commands, folder, isPowerShell }: Extract<ToolCall, { kind: 'shell' }>,
  cwd: string,
  context: PackContext,
  places: Places,
): Promise<readonly Finding[]> {
  const { bash } = context.settings
  if (!bash.denyList && !guardsPaths(context.settings) && bash.allow.length === 0 && bash.deny.length === 0)
    return []
  // Loaded only for commands, because other tools are called more often.
  const { shellFindings } = await import('./shell-guard.js')
  const start = folder === undefined ? cwd : places.absolute(folder, cwd)
  const findings: Finding[] = []
  for (const text of commands) {
    findings.push(...(await shellFindings(text, start, context, places)))
    if (isPowerShell && !/^[\w./:=@%+, -]*$/.test(text)) {
      findings.push(
        asked('not-understood', 'This is PowerShell, and Carabiner only understands plain commands of it.'),
      )
    }
  }
  return findings
}

/** The path as it is, and as a tool may read it: with Windows slashes, or without spaces, quotes, escapes or the part after a NUL. */
function formsOf(text: string): readonly string[] {
  const [start = ''] = text.split('\0')
  const bare = start
    .trim()
    .replace(/^(['"`])(.*)\1$/s, '$2')
    .replace(/^file:(?!\/\/)/i, '')
  const decoded = bare.replace(/%([2-7][0-9a-f])/gi, (_, code) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  )
  return [...new Set([text, bare, decoded].flatMap((form) => [form, form.replaceAll('\\', '/')]))]
}

/** A file that is read at every start would set a variable that removes the guard. */
function startFindings(
  { toolName, toolInput }: Input,
  { paths }: Extract<ToolCall, { kind: 'files' }>,
  { settings }: PackContext,
): readonly Finding[] {
  if (!guardsPaths(settings) || !paths.some((path) => formsOf(path).some((form) => STARTED.test(form))))
    return []
  const [name] = UNGUARDING.exec(JSON.stringify(toolInput)) ?? []
  return name === undefined
    ? []
    : [asked('self-protection', `${shown(toolName)} writes \`${name}\`, which ${LEFT_TO_USER}`)]
}

function fileFindings(
  toolName: string,
  { paths, deep, gone, writes }: Extract<ToolCall, { kind: 'files' }>,
  cwd: string,
  { settings }: PackContext,
  places: Places,
): readonly Finding[] {
  const findings: Finding[] = []
  for (const text of paths) {
    for (const path of formsOf(text).map((form) => places.absolute(form, cwd))) {
      const hit = guardsPaths(settings) ? places.hit({ path, wild: false, deep }) : undefined
      if (hit) {
        const sentence = `${shown(toolName)} would change ${shown(text)}: ${hit.what}, which agents may read but not change. Tell the user what to change, and let them do it.`
        const isSure = writes && hit.verdict === 'deny'
        findings.push(isSure ? denied('self-protection', sentence) : asked('self-protection', sentence))
      }
      if (gone.includes(text) && settings.bash.denyList && places.isAbove(path)) {
        findings.push(
          denied(
            'destructive-delete',
            `${shown(toolName)} would delete ${shown(text)}, which is or contains the working folder, the project or the home folder. Name the specific files or folders in it instead.`,
          ),
        )
      }
    }
  }
  return findings
}
