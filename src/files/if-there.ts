// A look at a path that may not exist.

/**
 * Undefined if nothing is there. Everything else throws, such as a file where a folder should be (ENOTDIR): Node's
 * `throwIfNoEntry: false` says undefined there too, but only in some versions.
 */
export function ifThere<T>(look: () => T): T | undefined {
  try {
    return look()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
