// The reason why a host's settings were not changed.

/** Not a bug: the message says what is in the way, the hint what to do about it. */
export class SetupProblem extends Error {
  override readonly name = 'SetupProblem'
  readonly hint: string | undefined

  constructor(message: string, hint?: string) {
    super(message)
    this.hint = hint
  }
}
