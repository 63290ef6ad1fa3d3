// What of a project waits for trust, and why.

import { visible, visibleName } from '../../core/base/text.js'
import type { Untrusted } from '../../trust/unit.js'
import { labelled, shortPath } from './lines.js'
import type { Paint } from './paint.js'

export function waitingLines({ state, name, path, why }: Untrusted, paint: Paint, by = 0): readonly string[] {
  const text = `${visibleName(name)} (${visible(shortPath(path))}): ${visible(why)}`
  return labelled(state, text, paint.yellow, by)
}
