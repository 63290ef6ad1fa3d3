// Agents that understand an exit code and plain text, and no JSON.

import {
  type Abilities,
  abilityOn,
  feasible,
  type HostEvent,
  type HostVerdict,
  signalled,
} from './host-answer.js'
import type { HostDialect } from './host-dialect.js'

/** Exit code 2 refuses, with the reason on standard error; what is printed is context, where there can be any. */
export function byExitCode(title: string, can: Abilities): HostDialect['encode'] {
  return (event: HostEvent, verdict: HostVerdict) => {
    const told = feasible(title, abilityOn(can, event), event, verdict)
    if (told.act === 'refuse' || told.act === 'signal') return signalled(told)
    return {
      stdout: told.context ? `${told.context}\n` : '',
      exit: 0,
      ...(told.message && { stderr: `${told.message}\n` }),
    }
  }
}
