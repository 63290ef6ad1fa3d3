// The rules that ship with us.

import careful from './presets/careful.json' with { type: 'json' }
import guard from './presets/guard.json' with { type: 'json' }
import relaxed from './presets/relaxed.json' with { type: 'json' }
import standard from './presets/standard.json' with { type: 'json' }
import type { PresetName, RedactedText, Rule, Rules } from './rule.js'

const PRESETS = { careful, standard, relaxed } as unknown as Readonly<Record<PresetName, PresetFile>>

/** A rules file that people can read and copy. */
export interface PresetFile {
  readonly description: string
  readonly rules: readonly Rule[]
}

export function presetFile(preset: PresetName): PresetFile {
  return PRESETS[preset]
}

/** Its rules, with the preset's name before their ids. */
export function presetRules(preset: PresetName | undefined): readonly Rule[] {
  return preset === undefined ? [] : prefixed(PRESETS[preset].rules, preset)
}

function prefixed(rules: readonly Rule[], name: string): readonly Rule[] {
  return rules.map((rule) => ({ ...rule, id: `${name}/${rule.id}` }))
}

/** What the ids of the guard's rules begin with. */
export const GUARD = 'guard'

/** The guard judges calls, so it has all rules of `standard` but those about texts. Its own replace them by id. */
export function guardFile(): PresetFile {
  const own = guard.rules as unknown as readonly Rule[]
  const replaced = new Set(own.map(({ id }) => id))
  const shared = PRESETS.standard.rules.filter(({ id, redact }) => !redact && !replaced.has(id))
  return { description: guard.description, rules: [...shared, ...own] }
}

export function guardRules(): readonly Rule[] {
  return prefixed(guardFile().rules, GUARD)
}

/** The texts that a file may remove secrets from, by rules of its own or of its preset. */
export function redactedTexts({ preset, rules }: Rules): ReadonlySet<RedactedText> {
  const off = new Set(rules.filter((rule) => rule.off && rule.until === undefined).map(({ id }) => id))
  const all = [...presetRules(preset).filter(({ id }) => !off.has(id)), ...rules]
  return new Set(all.flatMap(({ redact }) => redact ?? []))
}
