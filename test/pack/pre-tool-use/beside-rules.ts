// The guard and the preset `standard` side by side: what each says about a call, and why the preset may say less.

import type { Json } from '../../../src/core/base/json.js'
import type { HookResult } from '../../../src/core/events/result.js'
import type { Effect } from '../../../src/effects/effect.js'
import { type EffectContext, effectsOf } from '../../../src/effects/effects-of.js'
import { settingFiles } from '../../../src/hosts/setting-files.js'
import type { PresetName } from '../../../src/rules/rule.js'
import { rulesInForce } from '../../../src/rules/rules-in-force.js'
import { verdictOf as judgedBy } from '../../../src/rules/verdict.js'

export type Verdict = 'deny' | 'ask' | 'none'

export function verdictOf(answer: HookResult | undefined): Verdict {
  if (answer?.action === 'deny') return 'deny'
  return answer?.action === 'ask_user' ? 'ask' : 'none'
}

export interface ComparedCall {
  readonly name: string
  readonly input: Json
  readonly context: Omit<EffectContext, 'settings'>
  /** The folder that everything is in. The preset lets agents delete temporary files, so it must not look like one. */
  readonly root?: string
}

export interface Comparison {
  readonly guard: Verdict
  /** The guard's own words end with the name of its rule. */
  readonly reason: string
  readonly rules: Verdict
  readonly effects: readonly Effect[]
}

export async function compare(
  { name, input, context, root }: ComparedCall,
  answer: HookResult | undefined,
): Promise<Comparison> {
  const given = await effectsOf({ name, input }, { ...context, settings: settingFiles(context.env) })
  const moved = <T>(value: T): T =>
    root === undefined ? value : JSON.parse(JSON.stringify(value).replaceAll(root, '/people'))
  const effects = moved(given)
  const roots = moved({ project: context.projectDir, home: context.home })
  return {
    guard: verdictOf(answer),
    reason: answer?.reason ?? '',
    rules: presetVerdict('standard', effects, roots),
    effects,
  }
}

function presetVerdict(
  preset: PresetName,
  effects: readonly Effect[],
  roots: { readonly project: string; readonly home: string },
): Verdict {
  const hits = rulesInForce({ preset, rules: [] }, roots).judge(effects, {
    permissionMode: undefined,
    now: 0,
  })
  return verdictOf(judgedBy(hits, effects, { may: 'all', file: 'rules.json' }).result)
}

// ---- differences ------------------------------------------------------------------------------------------------

/** Why the preset says nothing about calls that the guard stops. */
const WHY: readonly {
  readonly why: string
  /** Rules of the guard. */
  readonly rules: RegExp
  readonly isMeant: (effects: readonly Effect[]) => boolean
}[] = [
  {
    why: 'The branches to protect are a setting of the pack. The effect names the branch, so that a rule can.',
    rules: /^protected-branch$/,
    isMeant: (effects) => effects.some((one) => one.kind === 'git' && isProtected(one.branch)),
  },
  {
    why: 'The preset does not ask about what cannot be read, because careful does. The effect says so.',
    rules: /./,
    isMeant: (effects) => effects.some(({ kind }) => kind === 'unknown'),
  },
  {
    why: 'Text that may only look like a command counts for no rule of a preset: it may be the name of a test.',
    rules: /^(?:destructive-delete|unresolved-delete|self-protection|disk|skipped-checks|fork-bomb)$/,
    isMeant: (effects) => effects.some(({ guess }) => guess),
  },
  {
    why: 'A file whose name is only known at run time is written often. Only its loss is worth a question.',
    rules: /^not-understood$/,
    isMeant: (effects) => effects.some((one) => one.kind === 'write' && !one.place.known),
  },
  {
    why: 'The name of a skill or an agent is no effect.',
    rules: /^agent-not-skill$/,
    isMeant: () => true,
  },
]

/** Undefined if no branch is named, which every pattern means. */
function isProtected(branch: string | undefined): boolean {
  return branch === undefined || branch === 'main' || branch === 'master'
}

/** The same for single calls. */
const WHY_OF: Readonly<Record<string, string>> = {
  'rm -rf up': 'A fault of the guard: rm removes the link, not the folder that it leads to.',
  'mv !(x) /tmp':
    'A fault of the guard: the pattern leaves out names that begin with a dot, such as settings.',
  'chmod -R a-w .': 'Nothing is lost: the rights of the files can be changed back.',
  'ln -s out/home/proj l && cd l && sort -o inner/settings.json x':
    'The link is not there yet. Changes through a link that is there are seen.',
  "make -f - <<< 'all:; rm -rf ../proj'": 'The rules of make are not read, and neither are those in a file.',
  'rm -rf .': 'In a folder of the project. The preset lets agents delete folders of the project.',
}

/** Undefined if the preset must stop the call too. */
export function explanation(input: Json, { reason, effects }: Comparison): string | undefined {
  const rule = /\(([a-z-]+)(?:\.[^()]*)?\)$/.exec(reason)?.[1] ?? ''
  const command = typeof input === 'object' && input !== null && 'command' in input ? input.command : ''
  if (typeof command === 'string' && Object.hasOwn(WHY_OF, command)) return WHY_OF[command]
  if (/^rm (?:\*\/\*\/\* )+$/.test(String(command)))
    return 'A fault of the guard: the pattern names files in folders of folders, not the working folder.'
  return WHY.find(({ rules, isMeant }) => rules.test(rule) && isMeant(effects))?.why
}

/** Whether the guard stops a call that the preset lets through, without a reason that we know. */
export function isHole(input: Json, comparison: Comparison): boolean {
  const { guard, rules } = comparison
  if (guard === 'none' || rules !== 'none') return false
  return explanation(input, comparison) === undefined
}
