// The paths that a tool may take a text for.

/** The path as it is, and as a tool may read it: with Windows slashes, or without spaces, quotes, escapes or the part after a NUL. */
export function formsOf(text: string): readonly string[] {
  const [start = ''] = text.split('\0')
  const bare = start
    .trim()
    .replace(/^(['"`])(.*)\1$/s, '$2')
    .replace(/^file:(?!\/\/)/i, '')
  const decoded = bare.replace(/%([2-7][0-9a-f])/gi, (_, code) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  )
  return [...new Set([text, bare, decoded].flatMap((form) => [form, form.replaceAll('\\', '/')]))]
}
