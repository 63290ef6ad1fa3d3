// Why a plugin was not fetched, placed or removed: a code for programs, a sentence, and what to do about it.

export type PluginProblemCode =
  | 'SOURCE_INVALID'
  | 'SOURCE_NOT_FOUND'
  | 'FETCH_FAILED'
  | 'ARCHIVE_INVALID'
  | 'UNSAFE_ENTRY'
  | 'TOO_LARGE'
  | 'NAME_INVALID'
  | 'NO_PLUGIN'
  | 'SEVERAL_PLUGINS'
  | 'NO_HOOKS'
  | 'NEWER_FORMAT'
  | 'MISMATCH'
  | 'TAG_MOVED'
  | 'SOURCE_MOVED'
  | 'SOURCE_REFUSED'
  | 'ALREADY_INSTALLED'
  | 'NOT_INSTALLED'
  | 'NOT_TRUSTED'
  | 'LOCK_INVALID'
  | 'BUSY'
  | 'PLACE_UNSAFE'
  | 'NOT_READ'
  | 'NOT_WRITTEN'
  | 'CATALOG_INVALID'
  | 'CATALOG_UNKNOWN'
  | 'CATALOG_TAKEN'
  | 'NOT_IN_CATALOG'

/** Not a bug: the message says what is wrong, the hint says what to do. */
export class PluginProblem extends Error {
  override readonly name = 'PluginProblem'
  readonly code: PluginProblemCode
  readonly hint: string | undefined

  constructor(code: PluginProblemCode, message: string, hint?: string) {
    super(message)
    this.code = code
    this.hint = hint
  }
}
