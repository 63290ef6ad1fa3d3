// Looks at a path that may not exist.

/**
 * Returns undefined if nothing is there. Throws for everything else, such as a file in place of a folder (ENOTDIR). Node's
 * `throwIfNoEntry: false` returns undefined for that, too, but only in some versions.
 */
export function ifThere<T>(look: () => T): T | undefined {
  // Most of the time a missing path takes goes into a stack trace that nobody reads.
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  try {
    return look()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}
