// Files of hooks: what loading them says, with what to do about it.

import { DIAGNOSTIC_CODES, type Diagnostic, type DiagnosticCode } from '../../core/errors.js'
import { BYPASSED } from '../bypass.js'
import { counted, placeOf } from '../print/lines.js'
import type { Facts } from './facts.js'
import type { Checked, Finding, Severity } from './finding.js'
import { asRule } from './matchers.js'

/** What is not in here is a warning. */
const SEVERITY: Readonly<Partial<Record<DiagnosticCode, Severity>>> = {
  bypassed: 'broken',
  'bypass-refused': 'note',
  'config-invalid': 'broken',
  'entry-invalid': 'broken',
  'entry-unsupported': 'broken',
  'unknown-event': 'broken',
  'matcher-invalid': 'broken',
  'setting-invalid': 'broken',
  'setting-ignored': 'note',
}

export function configuration(facts: Facts): Checked {
  const { notices, files, hooks } = facts
  return {
    what: `${counted(files.length, 'file')}, ${counted(hooks.length, 'hook')}`,
    findings: notices.map((notice) => finding(notice, facts)),
  }
}

function finding(notice: Diagnostic, facts: Facts): Finding {
  const { code, text, file, line } = notice
  return {
    severity: SEVERITY[code] ?? 'warning',
    code,
    text,
    fix: fixOf(notice, facts),
    ...(file !== undefined && { file }),
    ...(line !== undefined && { line }),
  }
}

function fixOf(notice: Diagnostic, facts: Facts): string {
  if (notice === BYPASSED) return 'unset CARABINER_OFF'
  if (notice.code === 'timeout-clamped') return inSeconds(notice, facts) ?? todo(notice)
  const [, pattern = ''] = /[Tt]he matcher "([^"]+)"/.exec(notice.text) ?? []
  const rule = notice.code === 'matcher-invalid' ? asRule(pattern) : undefined
  if (rule !== undefined) return rule
  const [, meant, called] = /did you mean "?([^"?]{1,80})"?\?$|here it is (\w+)$/.exec(notice.text) ?? []
  const name = meant ?? called
  return name === undefined ? todo(notice) : `Write ${name} at ${placeOf(notice)}.`
}

function todo({ code }: Diagnostic): string {
  return Object.hasOwn(DIAGNOSTIC_CODES, code)
    ? DIAGNOSTIC_CODES[code as keyof typeof DIAGNOSTIC_CODES].todo
    : 'Correct what the message names.'
}

/** From here on a number of seconds was most likely meant as milliseconds. */
const LIKE_MILLISECONDS = 1000

/** The text begins with the name of its hook. */
function inSeconds({ text, file }: Diagnostic, { specs }: Facts): string | undefined {
  const spec = specs.find(({ hook }) => hook.origin.file === file && text.startsWith(`${hook.name}: `))
  const timeout = spec && 'common' in spec ? spec.common.timeout : undefined
  if (timeout === undefined || timeout < LIKE_MILLISECONDS) return undefined
  return `Write "timeout": ${Math.max(1, Math.round(timeout / 1000))}, in seconds.`
}
