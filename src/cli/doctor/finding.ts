// A finding: what is wrong, where, and how to fix it.

import type { DiagnosticCode } from '../../core/base/errors.js'
import { SEVERITIES, type Severity } from '../print/severity.js'

/** Codes beyond the engine's own diagnostics. docs/use/doctor.md lists them. */
export const FINDING_CODES = [
  // trust
  'untrusted',
  'modified',
  'trust-stale',
  'trust-unreadable',
  'disabled',
  'switched-off',
  'switch-stale',
  'switches-unreadable',
  'approval-waiting',
  'approvals-unreadable',
  'grant-stale',
  'grants-unreadable',
  // plugins
  'plugin-modified',
  'plugin-missing',
  'plugin-interrupted',
  'plugin-leftover',
  'lock-unreadable',
  // programs
  'program-missing',
  'placeholder-foreign',
  'launcher',
  'model-missing',
  'server-missing',
  // scripts
  'script-missing',
  'relative-path',
  'unquoted-path',
  'not-executable',
  'crlf',
  'interpreter-missing',
  'bash-syntax',
  // syntax
  'script-syntax',
  // matchers
  'matcher-ignored',
  'timeout-unit',
  // claude-code
  'hooks-off',
  'removal-cut-short',
  'registration',
  'not-asked',
  // service
  'clip-unusable',
  'clip-older',
  'service-unused',
  'service-silent',
  'service-failed',
  // duplicates
  'duplicate',
  'runs-elsewhere',
  'nobody-runs',
  'judged-twice',
  // history
  'failing',
  'slow',
  'audit-broken',
  'audit-unwitnessed',
  'fleet-damaged',
  'fleet-key',
  'fleet-people',
  'fleet-silent',
  'fleet-unfetched',
  'fleet-failed',
  'fleet-history',
  // folders
  'folder-unusable',
  'folder-open',
  'folder-in-project',
  // environment
  'ca-certs',
  'project-env',
  // anywhere
  'check-failed',
] as const

export type FindingCode = (typeof FINDING_CODES)[number]

/** A hook with one of these fails whenever it runs. */
export const CANNOT_START: ReadonlySet<Finding['code']> = new Set<Finding['code']>([
  'program-missing',
  'script-missing',
  'not-executable',
  'crlf',
  'interpreter-missing',
  'unquoted-path',
  'script-syntax',
])

/** A fix that cannot loosen anything, so that a program may do it when a person says so. */
export type Repair =
  | { readonly kind: 'revoke-grant'; readonly id: string }
  /** A script that a hook of the user starts. */
  | { readonly kind: 'make-executable'; readonly path: string }
  /** A folder of Carabiner itself. */
  | { readonly kind: 'make-writable'; readonly path: string }

export interface Finding {
  readonly severity: Severity
  /** Stable, for programs and for looking it up. */
  readonly code: FindingCode | DiagnosticCode
  /** One sentence. */
  readonly text: string
  /** A command to type, or what to change in the file. */
  readonly fix: string
  /** The same as `fix`, if that is safe. */
  readonly repair?: Repair
  /** Name of the hook, if the finding is about one. */
  readonly hook?: string
  readonly file?: string
  readonly line?: number
}

/** The result of one family of checks. */
export interface Checked {
  /** What was checked, for people: `3 programs, 2 scripts`. */
  readonly what: string
  readonly findings: readonly Finding[]
}

export interface Family extends Checked {
  readonly name: string
}

/** A hook's place, in a finding's fields. */
export function at(hook: {
  readonly name: string
  readonly file?: string | undefined
  readonly line?: number | undefined
}): Pick<Finding, 'hook' | 'file' | 'line'> {
  const { name, file, line } = hook
  return { hook: name, ...(file !== undefined && { file }), ...(line !== undefined && { line }) }
}

/** Worst first, otherwise in the order found. */
export function sorted(findings: readonly Finding[]): readonly Finding[] {
  return findings.toSorted((a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity))
}

/** For a hook that runs as it was trusted, in place of what the project has now. */
export function faultOfProject(text: string): string {
  return `the version in the project could not start: ${text}; the version that you trusted runs`
}
