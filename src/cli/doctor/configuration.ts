// Hook files: each problem found while loading, with a fix.

import { DIAGNOSTIC_CODES, type Diagnostic } from '../../core/base/errors.js'
import { BYPASSED } from '../bypass.js'
import { counted } from '../print/lines.js'
import { severityOf } from '../print/severity.js'
import type { Facts } from './facts.js'
import type { Checked, Finding } from './finding.js'

export function configuration({ notices, files, hooks }: Facts): Checked {
  return {
    what: `${counted(files.length, 'file')}, ${counted(hooks.length, 'hook')}`,
    findings: notices.filter(({ code }) => !ELSEWHERE.test(code)).map(finding),
  }
}

/** The families of matchers and trust say more about those. */
const ELSEWHERE = /^(?:matcher-never|trust-)/

export function finding(notice: Diagnostic): Finding {
  const { code, text, file, line } = notice
  return {
    severity: severityOf(code),
    code,
    text,
    fix: fixOf(notice),
    ...(file !== undefined && { file }),
    ...(line !== undefined && { line }),
  }
}

function fixOf(notice: Diagnostic): string {
  if (notice === BYPASSED) return 'unset CARABINER_OFF'
  return notice.todo ?? todoOf(notice.code)
}

/** The general advice for a code. */
export function todoOf(code: string): string {
  const entry = Object.hasOwn(DIAGNOSTIC_CODES, code)
    ? DIAGNOSTIC_CODES[code as keyof typeof DIAGNOSTIC_CODES]
    : undefined
  return entry?.todo ?? 'Correct what the message names.'
}
