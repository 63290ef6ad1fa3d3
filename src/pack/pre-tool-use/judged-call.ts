// What the guard's rules say about a call: reads what it would do, and answers as the strictest rule says.

import { join } from 'node:path'
import type { Json } from '../../core/base/json.js'
import type { HookResult } from '../../core/events/result.js'
import type { Effect } from '../../effects/effect.js'
import { effectsOf } from '../../effects/effects-of.js'
import { ownProgram } from '../../effects/own-program.js'
import { absolutePath } from '../../effects/paths/absolute-path.js'
import { PROTECTED, type SettingFile } from '../../effects/setting-places.js'
import type { ToolCall } from '../../effects/tools/tool-call.js'
import { realOf } from '../../files/within.js'
import { settingFiles } from '../../hosts/setting-files.js'
import type { Hit, RulesInForce, Situation } from '../../rules/rules-in-force.js'
import { thenOf, verdictOf } from '../../rules/verdict.js'
import type { PackContext } from '../pack-hook.js'
import { type Changes, changesIn, guardInForce } from './guard-rules.js'

export interface GuardedCall {
  readonly toolName: string
  readonly toolInput: Json
  readonly kind: ToolCall['kind']
  /** Absolute. */
  readonly cwd: string
  readonly agent: string | undefined
  readonly permissionMode: string | undefined
}

export interface Judgement {
  readonly result: HookResult
  /** The id of the rule that decided. */
  readonly rule: string | undefined
  /** What rules in shadow mode would have done. */
  readonly shadows: readonly string[]
  /** Why the user's changes of the rules are not known. */
  readonly problem: string | undefined
}

export async function judgedCall(call: GuardedCall, context: PackContext): Promise<Judgement> {
  const { home, now } = context
  const file = join(home, '.amplifier', 'rules.json')
  const changes = await changesIn(file, now())
  const effects = await effectsIn(call, context)
  const { permissionMode, agent } = call
  const hits = hitsOf(effects, guardInForce(context, changesKnown(changes)), {
    permissionMode,
    agent,
    now: now(),
  })
  const { result, shadows } = verdictOf(hits, effects, { may: 'all', file })
  const first = hits.find((hit) => hit.rule.mode !== 'shadow' && DECIDES[result.action] === thenOf(hit))
  return {
    result,
    rule: first?.rule.id,
    shadows,
    problem: 'problem' in changes ? changes.problem : undefined,
  }
}

const DECIDES: Readonly<Record<string, string>> = { deny: 'deny', ask_user: 'ask' }

function changesKnown(changes: Changes) {
  return 'problem' in changes ? [] : changes.rules
}

async function effectsIn(
  { toolName, toolInput, kind, cwd }: GuardedCall,
  context: PackContext,
): Promise<readonly Effect[]> {
  const { projectDir, home, env } = context
  const effects = await effectsOf(
    { name: toolName, input: toolInput },
    { cwd, projectDir, home, env, settings: guardedFiles(context) },
  )
  // Nothing is known about most tools of MCP servers, so only what is known of them counts.
  if (kind === 'shell' || kind === 'unclear') return effects
  return effects.filter((effect) => effect.kind !== 'unknown' || effect.unparsed)
}

/** Words that a program gets and may run count like a command. Any other text may never run: a deny asks, and nothing else counts. */
function hitsOf(effects: readonly Effect[], rules: RulesInForce, situation: Situation): readonly Hit[] {
  const certain = effects.filter(({ guess, launched }) => !guess || launched)
  const guessed = effects.filter(({ guess, launched }) => guess && !launched)
  const judged = (some: readonly Effect[]) =>
    rules.judge(
      some.map((effect) => (effect.guess ? { ...effect, guess: false } : effect)),
      situation,
    )
  const doubts = judged(guessed).filter(({ rule }) => rule.then === 'deny')
  return [...judged(certain), ...doubts.map((hit): Hit => ({ ...hit, as: 'ask', because: MAY_RUN }))]
}

const MAY_RUN = 'part of the text may be run as a command'

/** The files of agents and of Carabiner, and the paths that the settings protect even without self-protection. */
function guardedFiles({ settings, projectDir, home, env }: PackContext): readonly SettingFile[] {
  const { selfProtection, protect } = settings
  const own = selfProtection ? [...settingFiles(env), ...ofProgram()] : []
  if (protect.length === 0) return own
  const paths = protect.map((path) => absolutePath(path, projectDir, home))
  const all = new Set(paths.flatMap((path) => [path, realOf(path)]))
  return [...own, ...[...all].map((path) => ({ owner: PROTECTED, path: `${path}/` }))]
}

function ofProgram(): readonly SettingFile[] {
  return ownProgram().map((path) => ({ owner: 'carabiner', path: `${path}/` }))
}
