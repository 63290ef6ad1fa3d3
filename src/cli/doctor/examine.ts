// Runs all checks, family by family. A check that throws becomes a finding and does not stop the others.

import { textOf } from '../../core/base/errors.js'
import type { Severity } from '../print/severity.js'
import { agents } from './agents.js'
import { claudeCode } from './claude-code.js'
import { configuration } from './configuration.js'
import { duplicates } from './duplicates.js'
import type { Facts } from './facts.js'
import { CANNOT_START, type Checked, type Family, type Finding, faultOfProject, sorted } from './finding.js'
import { history } from './history.js'
import { folders, machine } from './machine.js'
import { matchers } from './matchers.js'
import { plugins } from './plugins.js'
import { programs } from './programs.js'
import { scripts } from './scripts.js'
import { service } from './service.js'
import { syntax } from './syntax.js'
import { trust } from './trust.js'

interface Check {
  readonly name: string
  readonly check: (facts: Facts) => Checked | Promise<Checked>
  /** Reads whole plugins or the whole audit, or starts programs: only for `doctor` itself. */
  readonly isSlow?: true
}

/** In the order to fix them: nobody should trust a hook that cannot run. */
const CHECKS: readonly Check[] = [
  { name: 'configuration', check: configuration },
  { name: 'plugins', check: plugins, isSlow: true },
  { name: 'programs', check: programs },
  { name: 'scripts', check: scripts },
  { name: 'syntax', check: syntax, isSlow: true },
  { name: 'matchers', check: matchers },
  { name: 'trust', check: trust },
  { name: 'claude-code', check: claudeCode },
  { name: 'agents', check: agents },
  { name: 'service', check: service, isSlow: true },
  { name: 'duplicates', check: duplicates },
  { name: 'history', check: history, isSlow: true },
  { name: 'folders', check: folders },
  { name: 'environment', check: machine },
]

export function examine(facts: Facts): Promise<readonly Family[]> {
  return examined(CHECKS, facts)
}

/** Without the families that take long. */
export function examineQuickly(facts: Facts): Promise<readonly Family[]> {
  return examined(
    CHECKS.filter(({ isSlow }) => !isSlow),
    facts,
  )
}

async function examined(checks: readonly Check[], facts: Facts): Promise<readonly Family[]> {
  const families: Family[] = []
  for (const { name, check } of checks) {
    const { what, findings } = await attempt(() => check(facts))
    const known = families.flatMap((family) => family.findings)
    const own = findings.filter((one) => !isExplained(one, known)).map((one) => asKept(one, facts))
    families.push({ name, what, findings: sorted(own) })
  }
  return families
}

/** A hook that cannot start needs no second finding that says it failed. */
function isExplained({ code, hook, file }: Finding, known: readonly Finding[]): boolean {
  return (
    code === 'failing' &&
    known.some(
      (one) =>
        one.severity === 'broken' && one.hook === hook && one.file === file && CANNOT_START.has(one.code),
    )
  )
}

/** Nothing is broken yet if the hook runs as it was trusted. */
function asKept(finding: Finding, { hooks }: Facts): Finding {
  const { code, hook, file, text } = finding
  const isKept = hooks.some((one) => one.kept !== undefined && one.name === hook && one.file === file)
  if (!isKept || !CANNOT_START.has(code)) return finding
  return { ...finding, severity: 'warning', text: faultOfProject(text) }
}

async function attempt(check: () => Checked | Promise<Checked>): Promise<Checked> {
  try {
    return await check()
  } catch (error) {
    const text = `this check failed: ${textOf(error)}`
    const fix = 'Check what the message names; CARABINER_DEBUG=1 shows more.'
    return { what: 'not checked', findings: [{ severity: 'broken', code: 'check-failed', text, fix }] }
  }
}

export type Summary = Readonly<Record<Severity, number>>

export function summaryOf(families: readonly Family[]): Summary {
  const count = (severity: Severity) =>
    families.flatMap(({ findings }) => findings).filter((one) => one.severity === severity).length
  return { broken: count('broken'), warning: count('warning'), note: count('note') }
}
