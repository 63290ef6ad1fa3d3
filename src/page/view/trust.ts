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
  readonly files: readonly { readonly path: string; readonly text?: string; readonly size: number }[]
}

export interface TrustView {
  readonly passkeys: PasskeysView
  readonly trusted: number
  /** The worst first. */
  readonly waiting: readonly UnitView[]
  /** What was trusted and is not there as expected. */
  readonly gone: readonly { readonly why: string; readonly repair: string }[]
}
