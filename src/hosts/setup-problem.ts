// Why the settings of a host were left alone.

/** Not a bug: the message says what is in the way, the hint what to do about it. */
export class SetupProblem extends Error {
  override readonly name = 'SetupProblem'
  readonly hint: string | undefined

  constructor(message: string, hint?: string) {
    super(message)
    this.hint = hint
  }
}
