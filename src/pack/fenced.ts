// Text for the model that others wrote: cleaned, cut to size, and between marks that it cannot end.

import { byteLength, cleanText, cutText } from '../core/base/text.js'
import { renderInjection } from '../core/session/injection.js'

const CUT = '\n[cut: larger than the limit]'

export function bounded(text: string, maxBytes: number): string {
  const clean = cleanText(text).trim()
  return byteLength(clean) <= maxBytes ? clean : cutText(clean, maxBytes, CUT)
}

/** Undefined where nothing is left to say. */
export function fenced(source: string, text: string, maxBytes: number): string | undefined {
  const said = bounded(text, maxBytes)
  if (said === '' || maxBytes <= 0) return undefined
  return renderInjection({ source, text: said, role: 'system', ephemeral: false })
}

/** On one line, for a list: a name of a file or a branch may hold anything. */
export function inline(text: string, maxBytes = 120): string {
  return JSON.stringify(bounded(text.replace(/\s+/g, ' '), maxBytes))
}
