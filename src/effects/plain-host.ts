// A host in its one plain spelling, as the programs that reach it understand it.

import { domainToASCII } from 'node:url'

/** Letters, digits and dashes, and no number at the end, which would be an address. */
const PLAIN = /^(?:[a-z0-9_-]+\.)*[a-z_-][a-z0-9_-]*$/
/** A name or an address alone, without a scheme, a port or a path. */
const ALONE = /^(?:\[[^\]]*\]|[^/:\\\s]+)$/

/** `EXAMPLE.com.` is `example.com`, `bücher.example` is in punycode, and `0x7f.1` and `2130706433` are `127.0.0.1`. */
export function plainHost(host: string): string {
  const lower = host.toLowerCase()
  if (PLAIN.test(lower) || !ALONE.test(lower)) return lower
  try {
    return new URL(`http://${lower}/`).hostname.replace(/(.)\.$/, '$1')
  } catch {
    return lower
  }
}

/** The letters of a pattern in the same spelling. Stars stay. */
export function plainHostPattern(pattern: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII is plain
  if (/^[\x00-\x7f]*$/.test(pattern)) return pattern
  const labels = pattern.split(/[.。．｡]/)
  return labels.map((label) => (/[*?]/.test(label) ? label : domainToASCII(label) || label)).join('.')
}
