// The unit of trust: a folder with everything in it, or one file of hooks with the scripts that its commands name.

import type { TrustRecord, UnitHook } from '../store/trust-records.js'

export type {
  CopyKey,
  CopyStamps,
  ImplicitLoad,
  Programs,
  TrustedFile,
  TrustedFolder,
  TrustRecord,
  UnitHook,
} from '../store/trust-records.js'

export interface Unit {
  /** `folder`: a plugin or a skill. `file`: a hooks.json or settings.json. */
  readonly kind: 'folder' | 'file'
  readonly path: string
  /** For people: the plugin's name, `project`, `skill x`. */
  readonly name: string
  readonly projectDir: string
  /** The value of `$AMPLIFIER_HOOKS_DIR`. Default: the folder that contains `path`. For a skill, `path` itself. */
  readonly hooksDir?: string
  readonly hooks: readonly UnitHook[]
}

/** A unit that may not run. */
export interface Untrusted {
  readonly kind: Unit['kind']
  readonly name: string
  readonly path: string
  readonly state: 'untrusted' | 'modified'
  readonly why: string
  /** Names of its hooks. */
  readonly hooks: readonly string[]
}

/** The state of a unit now. `why` is a sentence. */
export type Standing =
  | { readonly state: 'trusted'; readonly record: TrustRecord; readonly copy: string | undefined }
  | {
      readonly state: 'untrusted' | 'modified'
      readonly why: string
      readonly record?: TrustRecord
      /** The fleet revoked it, so the user cannot trust it. */
      readonly isRevoked?: true
    }

export function isExecutable({ mode }: { readonly mode: number }): boolean {
  return (mode & 0o111) !== 0
}
