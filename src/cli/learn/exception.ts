// The narrowest exception for one effect: of a path, host, program, branch or name, with all fields of the effect.

import { lstatSync } from 'node:fs'
import { REDACTED, withoutSecrets } from '../../core/base/secrets.js'
import { visible } from '../../core/base/text.js'
import type { Effect, EffectKind, Place } from '../../effects/effect.js'
import { ifThere } from '../../files/if-there.js'
import { fieldsOf } from '../../rules/effect-kinds.js'
import { neverHad, neverMeant } from '../../rules/never-met.js'
import type { Roots } from '../../rules/path-pattern.js'
import { presetRules } from '../../rules/presets.js'
import { type Exception, LONGEST_PATTERN, type Rule, type Where } from '../../rules/rule.js'
import { rulesInForce } from '../../rules/rules-in-force.js'

/** `secret`: it is about secrets. `broad`: nothing in it can be named that is not much more than what was approved. */
export type Unlearnable = 'secret' | 'broad'

export function exceptionFor(effect: Effect, isSecret: SecretTest): Exception | Unlearnable {
  if (placesOf(effect).some(isSecret)) return 'secret'
  const of = namesIn(effect)
  if (of === undefined || of.length === 0 || !of.every(isPlain)) return 'broad'
  if (of.some((text) => text.includes(REDACTED) || withoutSecrets(text) !== text)) return 'secret'
  const { where = {} } = whereOf(effect)
  const isSlip =
    of.some((text) => neverMeant(text, effect.kind)) ||
    Object.entries(where).some(
      ([key, value]) => typeof value === 'string' && neverHad(key, value, effect.kind),
    )
  // The reader of rules would take it for a mistake, and close every call.
  if (isSlip) return 'broad'
  return { effects: [effect.kind], ...whereOf(effect), of }
}

/** Without `*`, `?` and braces, which would stand for more, and without characters that nobody sees. */
function isPlain(text: string): boolean {
  return text !== '' && text.length <= LONGEST_PATTERN && !/[*?{}[\]]/.test(text) && visible(text) === text
}

function namesIn(effect: Effect): readonly string[] | undefined {
  const named = (text: string | undefined) => (text === undefined ? undefined : [text])
  switch (effect.kind) {
    case 'read':
    case 'write':
    case 'delete':
      return isOnePath(effect) ? [effect.place.path] : undefined
    case 'run':
      return [[effect.program, ...effect.args].join(' ')]
    case 'send':
      // Nobody knows what a variable holds.
      return effect.from.some((one) => one.of === 'variable') ? undefined : named(effect.host)
    case 'fetch':
      // Tomorrow, the host may serve other code.
      return effect.runs ? undefined : named(effect.host)
    case 'git':
      return named(effect.branch)
    case 'cloud':
    case 'database':
      return named(effect.resource)
    case 'install':
      return effect.packages
    case 'process':
      // The number of a process means another one tomorrow.
      return /^\d*$/.test(effect.target ?? '') ? undefined : named(effect.target)
    default:
      return undefined
  }
}

type OnPlace = Extract<Effect, { readonly kind: 'read' | 'write' | 'delete' }>

/** A pattern also means everything below its path, so a folder counts only if all of it was meant. */
function isOnePath({ kind, place, by }: OnPlace): boolean {
  const { known, wild, deep, path } = place
  if (!known || wild || !path.startsWith('/')) return false
  if (deep) return true
  try {
    const stats = ifThere(() => lstatSync(path))
    return stats ? stats.isFile() : kind === 'delete' && !/\brmdir\b/.test(by)
  } catch {
    return false
  }
}

/** All fields of the effect that a rule can ask for, so that nothing else is excepted. */
function whereOf(effect: Effect): { readonly where?: Where } {
  const found = Object.entries(fieldsOf(effect.kind)).flatMap(([key, [, read]]) => {
    const value = read(effect)
    const isSaid = Array.isArray(value) ? value.length > 0 : value !== undefined && value !== ''
    return isSaid && !IMPLIED.includes(key) ? [[key, value]] : []
  })
  return found.length === 0 ? {} : { where: Object.fromEntries(found) as Where }
}

/** Fields that an exception for one path or branch always has, and those that only say how the effect was read. */
const IMPLIED: readonly string[] = ['known', 'all', 'below', 'named', 'guess', 'launched', 'code', 'stored']

// ---- secrets --------------------------------------------------------------------------------------------------

export type SecretTest = (place: Place) => boolean

const ON_FILES: readonly EffectKind[] = ['read', 'write', 'delete', 'move']

/** Whether the shipped rules take what is there for secrets, whatever the user's rules say. */
export function secretTest(roots: Roots): SecretTest {
  const about = presetRules('careful').filter(({ id }) => /\/secrets-(?:read|write)$/.test(id))
  const rules = [...about, ...presetRules('standard').filter(({ id }) => id === 'standard/env-lost')].map(
    (rule): Rule => ({ ...rule, effects: ON_FILES }),
  )
  const inForce = rulesInForce({ rules }, roots)
  return (place) =>
    inForce.judge([{ kind: 'read', place, by: '' }], { permissionMode: undefined, now: Date.now() }).length >
    0
}

function placesOf(effect: Effect): readonly Place[] {
  if (effect.kind === 'send') return effect.from.flatMap((one) => (one.of === 'file' ? [one.place] : []))
  if (effect.kind === 'move') return [effect.place, effect.to]
  return 'place' in effect && effect.place ? [effect.place] : []
}
