// A file of rules as one hook: reads what a call would do, and answers as the strictest rule says.

import type { Data, Json } from '../../core/base/json.js'
import { deny, type HookResult, modify } from '../../core/events/result.js'
import type { Hook, HookContext, HookEvent } from '../../core/hooks/hook.js'
import type { Effect } from '../../effects/effect.js'
import { effectsOf } from '../../effects/effects-of.js'
import { callerEnv } from '../../files/caller.js'
import { userHome } from '../../files/homes.js'
import { settingFiles } from '../../hosts/setting-files.js'
import { type RedactedText, type Rule, type Rules, TEXT_FIELDS } from '../../rules/rule.js'
import { rulesInForce, type Situation } from '../../rules/rules-in-force.js'
import { countedOf, foreseen, untrustedOf, verdictOf } from '../../rules/verdict.js'
import type { HookSpec } from '../hook-spec.js'
import { countAfter, type RulesSource, settled, watchedFor } from './limits.js'
import { type Judged, rewriteOf } from './rewrites.js'

/** A rules file after all checks. Its reader knows more about the rules. */
export interface RulesHandler {
  readonly preset?: string
  readonly rules: readonly object[]
  /** Why the file cannot be used. Then every tool call is refused. */
  readonly broken?: string
  /** The file is not trusted: its rules can only refuse, and their texts are not shown. */
  readonly untrusted?: true
}

/** What a call would do. */
export type EffectReader = (event: HookEvent, projectDir: string) => Promise<readonly Effect[]>

/** The gate, and what counts for its limits after an event. */
export function rulesHooks(
  { hook, handler, place }: HookSpec<RulesHandler>,
  read: EffectReader = readEffects,
): readonly Hook[] {
  const { broken } = handler
  if (broken !== undefined) {
    const reason = `${broken} Every tool call is refused until that is corrected.`
    return [{ ...hook, run: () => deny(reason), foresee: async () => [`deny: ${reason}`] }]
  }
  const rules = rulesInForce(handler as unknown as Rules, { project: place.projectDir, home: userHome() })
  const authority = {
    may: handler.untrusted ? 'deny' : 'all',
    file: hook.origin.file ?? hook.name,
  } as const
  const source: RulesSource = {
    file: authority.file,
    owner: [hook.origin.scope, hook.origin.source, hook.mode ?? 'enforce'],
    isTrusted: !handler.untrusted,
  }
  const judged = async (event: HookEvent) => {
    const effects = await read(event, place.projectDir)
    return { effects, hits: rules.judge(effects, situationOf(event)) }
  }
  const redacting = (event: HookEvent, text: RedactedText) =>
    authority.may === 'all' ? rules.redacting(text, situationOf(event)) : []
  const run = async (event: HookEvent, { note, count }: HookContext): Promise<HookResult> => {
    const text = textsOf(event)
    if (text) {
      const { redactedText } = await import('./redacted-text.js')
      return redactedText(event, redacting(event, text), note)
    }
    const judgedHere = async (one: HookEvent) => ({ event: one, ...(await judged(one)) })
    const counted = ({ hits, ...rest }: Judged) => ({ ...rest, hits: countedOf(hits, authority) })
    const sent = await judgedHere(event)
    const made = await rewriteOf(counted(sent), async (one) => counted(await judgedHere(one)))
    const limited = await settled(made.hits, made.event, source, count)
    const { result, shadows } = verdictOf(limited.hits, made.effects, authority)
    for (const text of shadows) note({ code: 'shadow', text })
    for (const text of limited.warnings) note({ code: 'rule-uncounted', text })
    const changed = made.input === undefined ? result : withInput(result, made.input, made.told)
    const held = result.action === 'deny' ? [] : untrustedOf(sent.hits, authority)
    for (const text of held) note({ code: 'rule-untrusted', text })
    const warnings = [...limited.warnings, ...held]
    return warnings.length === 0 ? changed : warned(changed, warnings)
  }
  const foresee = async (event: HookEvent) => {
    const text = textsOf(event)
    if (text) return redacting(event, text).map(({ id }) => `redact by ${id}: secrets in ${text}`)
    if (typeof event.data.tool_name !== 'string') return []
    const { effects, hits } = await judged(event)
    return foreseen(hits, effects, authority)
  }
  return [{ ...hook, run, foresee }, ...watching(hook, rules.all, source)]
}

/** A call that is refused is not changed. */
function withInput(result: HookResult, input: Data, told: readonly string[]): HookResult {
  const { action, contextInjection, permission: _, ...rest } = result
  if (action === 'deny' || action === 'abort_turn') return result
  const texts = [...(contextInjection === undefined ? [] : [contextInjection]), ...told]
  const more = { ...rest, contextInjection: texts.join('\n') }
  return action === 'ask_user'
    ? { ...more, action, data: { tool_input: input } }
    : modify({ tool_input: input }, more)
}

function warned(result: HookResult, warnings: readonly string[]): HookResult {
  return { ...result, userMessage: warnings.join('\n'), userMessageLevel: 'warning' }
}

/** Counts what a limit is about that is known only after an event. */
function watching(
  hook: HookSpec<RulesHandler>['hook'],
  rules: readonly Rule[],
  source: RulesSource,
): readonly Hook[] {
  const events = watchedFor(rules)
  if (events.length === 0) return []
  const run = async (event: HookEvent, { outcome, count }: HookContext): Promise<undefined> => {
    await countAfter(rules, event, outcome?.action === 'deny', source, count)
  }
  return [
    {
      ...hook,
      id: `${hook.id}-counts`,
      name: `${hook.name}-counts`,
      events: new Set(events),
      role: 'observe',
      onFailure: 'continue',
      run,
    },
  ]
}

function situationOf({ data, session }: HookEvent): Situation {
  const mode = data.permission_mode
  return {
    permissionMode: typeof mode === 'string' ? mode : undefined,
    agent: session?.agent,
    now: Date.now(),
  }
}

/** Undefined for a call, which is judged by its effects. */
function textsOf({ name }: HookEvent): RedactedText | undefined {
  return TEXT_FIELDS[name]?.texts
}

// ---- effects --------------------------------------------------------------------------------------------------

/** Several files may have rules, but each call is read only once. */
const known = new WeakMap<object, { readonly key: string; readonly effects: Promise<readonly Effect[]> }>()

function readEffects({ data, session }: HookEvent, projectDir: string): Promise<readonly Effect[]> {
  const cwd = typeof data.cwd === 'string' ? data.cwd : (session?.cwd ?? projectDir)
  const key = `${projectDir}\0${cwd}`
  const before = known.get(data)
  if (before?.key === key) return before.effects
  const { host_tool_name: own } = data
  const use = {
    name: String(data.tool_name),
    input: (data.tool_input ?? null) as Json,
    hostName: typeof own === 'string' ? own : undefined,
  }
  const env = callerEnv()
  const context = { cwd, projectDir, home: userHome(), env, settings: settingFiles(env) }
  const effects = effectsOf(use, context)
  known.set(data, { key, effects })
  return effects
}
