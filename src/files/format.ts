// The format of a file that Carabiner writes for itself: every such file says it, and a newer one is refused, never replaced.

/**
 * Raise the number of a format when older versions of Carabiner cannot read what is written. Then keep reading every
 * older number. A file without a number was written by 0.1.0 and has format 1.
 */
export const FIRST_FORMAT = 1

/** A file of a later version of Carabiner. It is not damaged: it stays as it is, for the program that can read it. */
export class NewerFormat extends Error {
  constructor(file: string | undefined, found: unknown, known: number) {
    const what = `was written by a newer version of Carabiner (format ${String(found)}; this one reads up to ${known})`
    const todo = 'update this one, or set CARABINER_HOME to a folder of its own'
    super(`${file === undefined ? '' : `${file} `}${what}; ${todo}`)
  }
}

/** Answers the number of the format. Throws NewerFormat for a later one, and an Error for what is no number of a format. */
export function checkFormat(found: unknown, file?: string, known: number = FIRST_FORMAT): number {
  const format = found === undefined ? FIRST_FORMAT : found
  if (!Number.isSafeInteger(format) || (format as number) < FIRST_FORMAT)
    throw new Error('is not in a format of Carabiner')
  if ((format as number) > known) throw new NewerFormat(file, format, known)
  return format as number
}
