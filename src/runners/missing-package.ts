// Whether a package that is loaded when it is needed is not there at all.

/** What import() says of it, and what require() says. */
const MISSING = ['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND']

export function isMissingPackage(error: unknown): boolean {
  return MISSING.includes(String((error as NodeJS.ErrnoException | null)?.code))
}
