// Kind `rules`: a file of rules. All its rules together are one hook, so that many rules cost little.

import { isObject } from '../../core/base/json.js'
import { isList, isText } from '../../core/base/options.js'
import { limitOf, limitText } from '../../rules/limit.js'
import type { HookSpec } from '../hook-spec.js'
import type { Kind } from '../kind.js'
import type { RulesHandler } from './rules-hook.js'

export const RULES: Kind<HookSpec<RulesHandler>> = {
  summary: 'Rules about what a call would do.',
  fields: {
    preset: [isText, 'The shipped rules that this file builds on.'],
    rules: [isList, 'The rules.'],
    broken: [isText, 'Why the file cannot be used.'],
    untrusted: [[(value) => value === true, 'true'], 'Whether the rules can only refuse.'],
  },
  required: ['rules'],
  target: ({ preset, rules, broken }) =>
    broken ?? [...(preset === undefined ? [] : [`preset ${preset}`]), ...rules.map(lineOf)].join('\n'),
  listed: (handler) =>
    handler.untrusted ? `not trusted: it can only deny\n${RULES.target(handler)}` : RULES.target(handler),
  async load() {
    const { rulesHooks } = await import('./rules-hook.js')
    return { hooks: (spec) => rulesHooks(spec) }
  },
}

/** `deny no-force-push: git where force, of main`. */
function lineOf(rule: object): string {
  const { id, mode, until } = rule as Readonly<Record<string, unknown>>
  const about = aboutRule(rule)
  const parts = [
    `${thenOfRule(rule)} ${id}${about === '' ? '' : `: ${about}`}`,
    mode === 'shadow' ? 'in shadow mode' : '',
    until === undefined ? '' : `until ${until}`,
  ]
  return parts.filter((part) => part !== '').join(' ')
}

/** What follows from a rule, in a word. */
export function thenOfRule(rule: object): string {
  const { then, off, redact } = rule as Readonly<Record<string, unknown>>
  return off === true ? 'off' : String(then ?? (redact === undefined ? 'change' : 'redact'))
}

/** What a rule is about: `git where force, of main`. Empty if it only changes another rule. */
export function aboutRule(rule: object): string {
  const { effects, of, except, unless, redact } = rule as Readonly<Record<string, unknown>>
  const { where, in: only } = rule as { readonly where?: unknown; readonly in?: unknown }
  const limit = limitOf(rule)
  const texts = (value: unknown) => [value].flat().join(', ')
  const kinds = effects === undefined ? '' : effects === '*' ? 'everything' : texts(effects)
  const parts = [
    redact === undefined ? kinds : `secrets in ${texts(redact)}`,
    isObject(where) ? `where ${JSON.stringify(where)}` : '',
    of === undefined ? '' : `of ${texts(of)}`,
    except === undefined ? '' : `except ${texts(except)}`,
    unless === undefined ? '' : `unless ${JSON.stringify(unless)}`,
    limit === undefined ? '' : `beyond ${limitText(limit)}`,
    isObject(only)
      ? `in ${Object.entries(only)
          .map(([key, list]) => `${key} ${texts(list)}`)
          .join(' and ')}`
      : '',
  ]
  return parts.filter((part) => part !== '').join(' ')
}
