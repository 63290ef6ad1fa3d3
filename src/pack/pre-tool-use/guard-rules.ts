// The guard's rules as the settings of the pack and the user's rules.json change them.

import { readIfThere } from '../../files/plain-file.js'
import { realOf } from '../../files/within.js'
import { GUARD, guardRules } from '../../rules/presets.js'
import type { Rule } from '../../rules/rule.js'
import { type RulesInForce, rulesInForce } from '../../rules/rules-in-force.js'
import type { PackContext } from '../pack-hook.js'
import { guardsPaths, type PackSettings } from '../settings.js'

/** What `selfProtection` and `protect` switch. */
const PROTECTING: ReadonlySet<string> = ids('own-settings settings settings-changed links-held unpacks-home')
/** These count with either switch, because what is not known may do both. */
const UNKNOWN: ReadonlySet<string> = ids('unread unknown-path')
/** What `bash.protectedBranches` names the branches of. */
const BRANCHES: ReadonlySet<string> = ids(
  'protected-branch protected-branch-replaced protected-branch-moved protected-branch-unnamed',
)

function ids(names: string): ReadonlySet<string> {
  return new Set(names.split(' ').map((name) => `${GUARD}/${name}`))
}

/** Every other rule is part of the deny-list. */
function rulesUnder(settings: PackSettings): readonly Rule[] {
  const { denyList, protectedBranches } = settings.bash
  const guards = guardsPaths(settings)
  return guardRules().flatMap((rule): readonly Rule[] => {
    if (PROTECTING.has(rule.id)) return guards ? [rule] : []
    if (UNKNOWN.has(rule.id)) return guards || denyList ? [rule] : []
    if (!denyList) return []
    if (!BRANCHES.has(rule.id)) return [rule]
    return protectedBranches.length === 0 ? [] : [{ ...rule, of: protectedBranches }]
  })
}

// ---- what the user changed --------------------------------------------------------------------------------------

/** The changes of the user's file, or why nobody knows them. */
export type Changes = { readonly rules: readonly Rule[] } | { readonly problem: string }

const MAX_BYTES = 1024 * 1024
const NONE: Changes = { rules: [] }
/** An id may be written with escapes. */
const MAY_CHANGE = /guard\\?\/|\\u/

/** Most files have no rule of the guard, and are not read any further. */
export async function changesIn(path: string, now: number): Promise<Changes> {
  const found = readIfThere(realOf(path), MAX_BYTES)
  if (found === undefined) return NONE
  if ('problem' in found) return { problem: `${path} ${found.problem}` }
  return MAY_CHANGE.test(found.text) ? changesOf(path, found.text, now) : NONE
}

async function changesOf(path: string, text: string, now: number): Promise<Changes> {
  const { JsonText } = await import('../../files/json-text.js')
  const { lostValue, readRules } = await import('../../rules/rules-file.js')
  const { HOST_NAMES } = await import('../../hosts/hosts.js')
  const json = new JsonText(text)
  const parsed = json.parse()
  if ('problem' in parsed) return { problem: `${path}: the file is not valid JSON (line ${parsed.line})` }
  const lost = lostValue(json)
  if (lost) return { problem: `${path}:${lost.line}: ${lost.text}` }
  const { guard, problems } = readRules(parsed.value, { owner: 'user', now, agents: HOST_NAMES })
  const broken = problems.find(({ closes }) => closes)
  return broken ? { problem: `${path}:${json.lineOf(broken.at)}: ${broken.text}` } : { rules: guard }
}

// ---- ready to judge ---------------------------------------------------------------------------------------------

/** A service judges many calls by the same rules. */
let last: { readonly key: string; readonly rules: RulesInForce } | undefined

export function guardInForce(
  { settings, projectDir: project, home }: PackContext,
  changes: readonly Rule[],
): RulesInForce {
  const { denyList, protectedBranches } = settings.bash
  const key = JSON.stringify([denyList, guardsPaths(settings), protectedBranches, changes, project, home])
  if (last?.key !== key)
    last = {
      key,
      rules: rulesInForce({ rules: changesOn(settings, changes) }, { project, home }, rulesUnder(settings)),
    }
  return last.rules
}

/** A rule that the settings switch off stays off. */
function changesOn(settings: PackSettings, changes: readonly Rule[]): readonly Rule[] {
  if (changes.length === 0) return changes
  const known = new Set(rulesUnder(settings).map(({ id }) => id))
  return changes.filter(({ id }) => known.has(id))
}
