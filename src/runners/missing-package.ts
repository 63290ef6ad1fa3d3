// Tells a missing optional package from one that fails to load.

/** The codes of import() and of require(). */
const MISSING = ['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND']

export function isMissingPackage(error: unknown): boolean {
  return MISSING.includes(String((error as NodeJS.ErrnoException | null)?.code))
}
