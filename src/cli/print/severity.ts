// The severity of each diagnostic, and its colour.

import type { DiagnosticCode } from '../../core/base/errors.js'
import type { Paint } from './terminal.js'

/** Worst first. */
export const SEVERITIES = ['broken', 'warning', 'note'] as const

/**
 * - `broken`: a hook does not run, or does not do what its file says
 * - `warning`: it runs, and may surprise
 * - `note`: as somebody decided, and good to know
 */
export type Severity = (typeof SEVERITIES)[number]

/** All others are warnings. */
const OF_CODE: Readonly<Partial<Record<DiagnosticCode, Severity>>> = {
  bypassed: 'broken',
  'config-invalid': 'broken',
  'entry-invalid': 'broken',
  'entry-unsupported': 'broken',
  'unknown-event': 'broken',
  'matcher-invalid': 'broken',
  'setting-invalid': 'broken',
  'answer-misplaced': 'broken',
  'verdict-ignored': 'broken',
  'async-verdict-ignored': 'broken',
  'malformed-field': 'broken',
  'late-failed': 'broken',
  'trust-kept': 'broken',
  'trust-unguarded': 'broken',
  'trust-unreadable': 'broken',
  'bypass-refused': 'note',
  'setting-ignored': 'note',
  'wake-waits': 'note',
  'context-waits': 'note',
  'process-restarted': 'note',
}

export function severityOf(code: DiagnosticCode): Severity {
  return OF_CODE[code] ?? 'warning'
}

export function severityColour(severity: Severity, paint: Paint): (text: string) => string {
  if (severity === 'broken') return paint.red
  return severity === 'warning' ? paint.yellow : paint.cyan
}
