// What the screen Trust shows.

import type { PasskeysView } from './passkeys.js'

export interface UnitView {
  /** What an act names it by. */
  readonly id: string
  readonly name: string
  readonly path: string
  readonly state: string
  readonly why: string
  readonly digest?: string
  readonly hooks: readonly { readonly name: string; readonly on: string; readonly command: string }[]
  readonly risks: readonly { readonly where: string; readonly text: string }[]
  /** Lines of a diff begin with `+`, `-` or a space. */
  readonly differences: readonly { readonly text: string; readonly diff: readonly string[] }[]
  readonly programs: readonly string[]
  readonly problems: readonly string[]
  /** False if something keeps it from being trusted. */
  readonly canTrust: boolean
}

/** Everything that a trust would cover, to read before it. */
export interface UnitFilesView {
  readonly files: readonly {
    readonly path: string
    /** Absent for a link, and for a file that is not text or too large to show. */
    readonly text?: string
    readonly size: number
    /** Where a link leads. */
    readonly link?: string
    readonly isExecutable: boolean
  }[]
  /** Programs that it names and that are not in PATH. */
  readonly missing: readonly string[]
}

export interface TrustView {
  readonly passkeys: PasskeysView
  readonly trusted: number
  /** The worst first. */
  readonly waiting: readonly UnitView[]
  /** What was trusted and is not there as expected. */
  readonly gone: readonly GoneView[]
}

export interface GoneView {
  /** Of the unit, which may also wait for a review. */
  readonly id: string
  readonly name: string
  /** What guards its calls now: the version that was trusted, a refusal of each call, or nothing. */
  readonly guardedBy: 'copy' | 'closed' | 'nothing'
  readonly why: string
  readonly repair: string
}
