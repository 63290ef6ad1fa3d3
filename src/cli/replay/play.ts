// Plays a recorded call through rules, and compares the decision with the one on record. Runs nothing.

import { callDigest } from '../../core/base/digest.js'
import { type Data, isObject, type Json } from '../../core/base/json.js'
import { REDACTED, withoutSecrets } from '../../core/base/secrets.js'
import { isAction, isVerdict, rankOf, type Verdict } from '../../core/events/actions.js'
import type { HookEvent } from '../../core/hooks/hook.js'
import type { AuditedHook, AuditRecord } from '../../core/session/audit-record.js'
import type { Effect } from '../../effects/effect.js'
import { type EffectContext, effectsOf } from '../../effects/effects-of.js'
import { effectText } from '../../rules/effect-kinds.js'
import { limitOf } from '../../rules/limit.js'
import type { Then } from '../../rules/rule.js'
import type { Hit, Situation } from '../../rules/rules-in-force.js'
import { countedOf, thenOf, verdictOf } from '../../rules/verdict.js'
import { rewriteOf } from '../../runners/rules/rewrites.js'
import { gistOf } from '../../store/audit-calls/kept-call.js'
import type { KeptCall } from '../../store/audit-calls.js'
import type { RuleFile } from './rule-files.js'

/** A rule that decides, and why. */
export interface ByRule {
  readonly rule: string
  readonly file: string
  /** `delete /srv/data and everything in it`. */
  readonly effect: string
  /** The words of the call that do it. */
  readonly words: string
}

export interface Played {
  readonly id: string
  readonly time: string
  readonly session: string
  readonly tool: string
  /** The text by which a person recognises the call. */
  readonly call: string
  /** What all hooks decided then, and the names of those that did. */
  readonly was: {
    readonly action: Verdict
    readonly by: readonly string[]
    /** Rules that changed the call, and went on with it. */
    readonly changedBy: readonly string[]
  }
  /** What the rules would decide now, together with what other hooks decided then. */
  readonly would: {
    readonly action: Verdict
    readonly by: readonly (ByRule | { readonly hook: string })[]
    /** The command that rules would make of it. */
    readonly command?: string
  }
  readonly changes: boolean
  /** Rules would spare the agent's own question. Nobody recorded whether they did so before. */
  readonly allowed: boolean
  /** Other hooks that did not run, because another one had already refused the call. */
  readonly unasked: readonly string[]
}

/** Why a call cannot be played. */
export type Unplayable = 'secret' | 'cut' | 'changed' | 'unrecorded' | 'where' | 'limit'

export const UNPLAYABLE: Readonly<Record<Unplayable, string>> = {
  secret: 'a secret was removed from the record',
  cut: 'the call is too long to be recorded in full',
  changed: 'the call was changed after it was recorded',
  unrecorded: 'the audit log no longer says what was decided',
  where: 'the rules depend on the agent or its permission mode, which was not recorded',
  limit: 'a rule with a limit decides, and what it would have counted was not recorded',
}

export type Surroundings = Pick<EffectContext, 'projectDir' | 'home' | 'env' | 'settings'>

export async function play(
  kept: KeptCall,
  record: Pick<AuditRecord, 'digest' | 'hooks'> | undefined,
  files: readonly RuleFile[],
  around: Surroundings,
): Promise<Played | Unplayable> {
  const { call } = kept
  if (!kept.exact) return JSON.stringify(kept).includes(REDACTED) ? 'secret' : 'cut'
  if (!record || !Array.isArray(record.hooks)) return 'unrecorded'
  if (callDigest(kept.event, call as Data) !== record.digest) return 'changed'
  const read: ReadEffects = ({ data }) => {
    const { tool_name: name, tool_input: input = null, host_tool_name: own } = data
    const hostName = typeof own === 'string' ? own : undefined
    const use = { name: String(name), input: input as Json, hostName }
    return effectsOf(use, { ...around, cwd: kept.cwd ?? around.projectDir })
  }
  const event = { name: kept.event, data: call } as HookEvent
  const where = situations(files, kept)
  const [judged, ...others] = await Promise.all(where.map((one) => judge(files, event, read, one)))
  if (!judged || others.some((other) => signOf(other) !== signOf(judged))) return 'where'
  const within = await Promise.all(where.map((one) => judge(files, event, read, one, false)))
  if (within.some((other) => signOf(other) !== signOf(judged))) return 'limit'
  return compared(kept, record.hooks, judged)
}

// ---- the rules ------------------------------------------------------------------------------------------------

interface Judged {
  readonly action: Verdict
  readonly allowed: boolean
  readonly by: readonly ByRule[]
  readonly command?: string
}

type ReadEffects = (event: HookEvent) => Promise<readonly Effect[]>

type Where = Pick<Situation, 'permissionMode' | 'agent'>

/** An agent that no rule names. */
const OTHER_AGENT = ''

/** Every situation in which the call may have been made, as far as rules tell them apart. */
function situations(files: readonly RuleFile[], { mode, agent: known }: KeptCall): readonly Where[] {
  const modes = mode === undefined ? [undefined, ...files.flatMap((file) => file.modes)] : [mode]
  const agents = known === undefined ? [OTHER_AGENT, ...files.flatMap((file) => file.agents)] : [known]
  return [...new Set(modes)].flatMap((permissionMode) =>
    [...new Set(agents)].map((agent) => ({ permissionMode, agent })),
  )
}

/** `beyond`: as if the limits of rules were reached. */
async function judge(
  files: readonly RuleFile[],
  event: HookEvent,
  read: ReadEffects,
  where: Where,
  beyond = true,
): Promise<Judged> {
  const judged = async ({ inForce, authority }: RuleFile, now: HookEvent) => {
    const effects = await read(now)
    const met = inForce.judge(effects, { ...where, now: Date.now() })
    const hits = beyond ? met : met.filter(({ rule }) => limitOf(rule) === undefined)
    return { event: now, effects, hits: countedOf(hits, authority) }
  }
  const all = []
  let input: Data | undefined
  let now = event
  for (const file of files) {
    // A rule that rewrites leaves the changed call to the files after it.
    const made = await rewriteOf(await judged(file, now), (one) => judged(file, one))
    const { result } = verdictOf(made.hits, made.effects, file.authority)
    all.push({ hits: made.hits, authority: file.authority, result, action: verdict(result.action) })
    input = made.input ?? input
    now = made.event
  }
  const action = strictest(all.map((one) => one.action))
  const thens: readonly Then[] = action === 'ask_user' ? ['ask'] : ['end_turn', 'deny']
  const deciding = all.filter((one) => one.action === action && action !== 'continue')
  return {
    action,
    allowed: action === 'continue' && all.some(({ result }) => result.permission === 'allow'),
    by: deciding.flatMap(({ hits, authority: { file } }) => {
      const met = hits.filter((hit) => thens.includes(thenOf(hit)) && hit.rule.mode !== 'shadow')
      // Of each rule the first effect.
      return [...new Map(met.toReversed().map((hit) => [hit.rule.id, hit])).values()]
        .reverse()
        .map((hit) => byRule(hit, file))
    }),
    ...(input && (action === 'continue' || action === 'ask_user') && { command: commandOf(input, event) }),
  }
}

/** The text that differs from the call as it was. */
function commandOf(input: Data, { data: { tool_input: before } }: HookEvent): string {
  const texts = Object.entries(input).flatMap(([key, value]) =>
    typeof value === 'string' && !(isObject(before) && before[key] === value) ? [value] : [],
  )
  return withoutSecrets(texts[0] ?? '')
}

/** The environment may have put a secret into it. */
function byRule({ rule, effect }: Hit, file: string): ByRule {
  return {
    rule: rule.id,
    file,
    effect: withoutSecrets(effectText(effect)),
    words: withoutSecrets(effect.by),
  }
}

function signOf({ action, allowed, command }: Judged): string {
  return `${action} ${allowed} ${command}`
}

// ---- the record -----------------------------------------------------------------------------------------------

function compared(kept: KeptCall, hooks: readonly AuditedHook[], judged: Judged): Played {
  // Hooks for another event answered a question about this one.
  const own = hooks.filter(({ event }) => event === undefined)
  const others = own.filter(({ kind }) => kind !== 'rules')
  const was = strictest(own.map(decisionOf))
  const byOthers = strictest(others.map(decisionOf))
  const action = strictest([byOthers, judged.action])
  const deciding = (all: readonly AuditedHook[], wanted: Verdict) =>
    wanted === 'continue' ? [] : all.filter((hook) => decisionOf(hook) === wanted).map(({ name }) => name)
  const changedBy = own
    .filter((hook) => hook.kind === 'rules' && hook.action === 'modify')
    .map(({ name }) => name)
  const isOpen = (one: Verdict) => one === 'continue' || one === 'ask_user'
  const isRewritten = (one: Verdict, by: boolean) => isOpen(one) && by
  return {
    id: kept.id,
    time: kept.time,
    session: kept.session,
    tool: String(kept.call.tool_name),
    call: gistOf(kept),
    was: {
      action: was,
      by: [...new Set(deciding(own, was))],
      changedBy: isOpen(was) ? [...new Set(changedBy)] : [],
    },
    would: {
      action,
      by: [
        ...(judged.action === action ? judged.by : []),
        ...[...new Set(deciding(others, action))].map((hook) => ({ hook })),
      ],
      ...(isOpen(action) && judged.command !== undefined && { command: judged.command }),
    },
    changes:
      was !== action ||
      isRewritten(was, changedBy.length > 0) !== isRewritten(action, judged.command !== undefined),
    allowed: action === 'continue' && judged.allowed,
    unasked: others.filter(({ why }) => why === 'ended').map(({ name }) => name),
  }
}

function decisionOf({ status, action, countsAs }: AuditedHook): Verdict {
  if (status === 'failed') return countsAs === 'deny' ? 'deny' : 'continue'
  return verdict(action)
}

function verdict(action: unknown): Verdict {
  return isAction(action) && isVerdict(action) ? action : 'continue'
}

function strictest(verdicts: readonly Verdict[]): Verdict {
  return verdicts.reduce((most, one) => (rankOf(one) > rankOf(most) ? one : most), 'continue')
}
