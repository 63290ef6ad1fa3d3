// Files of hooks: what loading them says, with what to do about it.

import { DIAGNOSTIC_CODES, type Diagnostic, type DiagnosticCode } from '../../core/errors.js'
import { BYPASSED } from '../bypass.js'
import { counted } from '../print/lines.js'
import { entryFix } from './entry-fix.js'
import type { Facts } from './facts.js'
import type { Checked, Finding, Severity } from './finding.js'

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

export function configuration({ notices, files, hooks }: Facts): Checked {
  return {
    what: `${counted(files.length, 'file')}, ${counted(hooks.length, 'hook')}`,
    findings: notices.map(finding),
  }
}

function finding(notice: Diagnostic): Finding {
  const { code, text, file, line } = notice
  return {
    severity: SEVERITY[code] ?? 'warning',
    code,
    text,
    fix: fixOf(notice),
    ...(file !== undefined && { file }),
    ...(line !== undefined && { line }),
  }
}

function fixOf(notice: Diagnostic): string {
  if (notice === BYPASSED) return 'unset CARABINER_OFF'
  return entryFix(notice) ?? todo(notice)
}

function todo({ code }: Diagnostic): string {
  return Object.hasOwn(DIAGNOSTIC_CODES, code)
    ? DIAGNOSTIC_CODES[code as keyof typeof DIAGNOSTIC_CODES].todo
    : 'Correct what the message names.'
}
