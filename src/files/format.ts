// The format number in every file that Carabiner writes for itself. A newer format is refused, never replaced.

/**
 * Raise the number of a format when older versions of Carabiner cannot read what is written. Then keep reading every
 * older number. A file without a number was written by 0.1.0 and has format 1.
 */
export const FIRST_FORMAT = 1

/** A file from a later version of Carabiner. It is not damaged, so it stays as it is for the program that can read it. */
export class NewerFormat extends Error {
  constructor(file: string | undefined, found: unknown, known: number) {
    const what = `was written by a newer version of Carabiner (format ${String(found)}; this one reads up to ${known})`
    const todo = 'update this one, or set CARABINER_HOME to a folder of its own'
    super(`${file === undefined ? '' : `${file} `}${what}; ${todo}`)
  }
}

/** Returns the format number. Throws NewerFormat for a later one, and an Error for anything that is not a format number. */
export function checkFormat(found: unknown, file?: string, known: number = FIRST_FORMAT): number {
  const format = found === undefined ? FIRST_FORMAT : found
  if (!Number.isSafeInteger(format) || (format as number) < FIRST_FORMAT)
    throw new Error('is not in a Carabiner format')
  if ((format as number) > known) throw new NewerFormat(file, format, known)
  return format as number
}
