// All checks, family by family. One that fails is told, and does not take the others down.

import { textOf } from '../../core/errors.js'
import { configuration } from './configuration.js'
import { duplicates } from './duplicates.js'
import type { Facts } from './facts.js'
import { type Checked, type Family, type Severity, sorted } from './finding.js'
import { folders } from './folders.js'
import { history } from './history.js'
import { machine } from './machine.js'
import { matchers } from './matchers.js'
import { plugins } from './plugins.js'
import { programs } from './programs.js'
import { scripts } from './scripts.js'
import { trust } from './trust.js'

type Check = (facts: Facts) => Checked | Promise<Checked>

/** In the order in which things go wrong. */
const CHECKS: readonly (readonly [name: string, check: Check])[] = [
  ['configuration', configuration],
  ['trust', trust],
  ['plugins', plugins],
  ['programs', programs],
  ['scripts', scripts],
  ['matchers', matchers],
  ['duplicates', duplicates],
  ['history', history],
  ['folders', folders],
  ['environment', machine],
]

export async function examine(facts: Facts): Promise<readonly Family[]> {
  const families: Family[] = []
  for (const [name, check] of CHECKS) {
    const { what, findings } = await attempt(check, facts)
    families.push({ name, what, findings: sorted(findings) })
  }
  return families
}

async function attempt(check: Check, facts: Facts): Promise<Checked> {
  try {
    return await check(facts)
  } catch (error) {
    const text = `this could not be looked at: ${textOf(error)}`
    const fix = 'Look at what the message names; CARABINER_DEBUG=1 shows more.'
    return { what: 'not looked at', findings: [{ severity: 'broken', code: 'check-failed', text, fix }] }
  }
}

export type Summary = Readonly<Record<Severity, number>>

export function summaryOf(families: readonly Family[]): Summary {
  const count = (severity: Severity) =>
    families.flatMap(({ findings }) => findings).filter((one) => one.severity === severity).length
  return { broken: count('broken'), warning: count('warning'), note: count('note') }
}
