// In which line a text stops being JSON.

import { breakOf } from '../core/base/json.js'

/** From 1. Of a text that is JSON, the last line. */
export function brokenLine(text: string): number {
  return text.slice(0, breakOf(text).at).split('\n').length
}
