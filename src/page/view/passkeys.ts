// Who may sign on the page, and what is signed.

/**
 * - `none`: nobody is on the list, so people allow by typing
 * - `ready`: a passkey of these people allows
 * - `broken`: the list cannot be used, so nothing is allowed
 */
export type PasskeysView =
  | { readonly state: 'none' }
  | { readonly state: 'ready'; readonly names: readonly string[] }
  | { readonly state: 'broken'; readonly why: string }

/** What a passkey has to sign. */
export interface ChallengeView {
  readonly challenge: string
  readonly nonce: string
  readonly option: string
  readonly host: string
  /** Ids of the passkeys that may sign. */
  readonly passkeys: readonly string[]
}

/** What a passkey has to sign, for an act that is not an answer. */
export interface ActChallengeView extends Omit<ChallengeView, 'option'> {
  /** ISO-8601. After that it does not count. */
  readonly expires: string
}

export interface ActDoneView {
  readonly by: string
  /** Why it is not on record, although it was done. */
  readonly problem?: string
}
