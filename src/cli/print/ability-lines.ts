// What hooks cannot do under an agent as in Claude Code, for people.

import { abilityFacts } from '../../hosts/abilities.js'
import type { Host } from '../../hosts/host.js'
import { labelled } from './lines.js'
import type { Paint } from './terminal.js'

/** Empty if there is nothing that they cannot do. */
export function abilityLines(host: Host, paint: Paint): readonly string[] {
  const facts = abilityFacts(host)
  const missing = facts.filter(({ how }) => how === 'no').map(({ wish }) => wish)
  const others = facts.filter(({ how }) => how === 'via').map(({ wish, text }) => `${wish} (${text})`)
  return [
    ...(missing.length > 0 ? labelled('  cannot', missing.join(', '), paint.dim) : []),
    ...(others.length > 0 ? labelled('  otherwise', others.join(', '), paint.dim) : []),
  ]
}

/** The same below a heading. Nothing for Claude Code, whose terms hooks are written in. */
export function abilityBlock(host: Host, paint: Paint): readonly string[] {
  const lines = host.name === 'claude-code' ? [] : abilityLines(host, paint)
  return lines.length === 0 ? [] : [`under ${host.title}, hooks`, ...lines]
}
