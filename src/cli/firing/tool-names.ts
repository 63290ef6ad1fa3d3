// Under which name the hooks of a project are asked about a tool that their agent and Claude Code call differently.

import type { Plan } from '../../core/run/plan.js'
import { Refusal } from '../refusal.js'
import type { Payload } from './payload.js'

/** Who would be asked about a payload. */
type Explain = (payload: Payload) => Plan

/**
 * The payload with the first name under which every hook is asked that is asked under any of them; the agent's own name
 * comes last, and is kept beside. Throws where there is none: a gate that is not asked would be open.
 */
export function withToolName(payload: Payload, names: readonly string[], explain: Explain): Payload {
  const { tool_name: own } = payload
  if (names.length === 0) return payload
  const renamed = names
    .filter((name) => name !== own)
    .map((name) => ({ ...payload, tool_name: name, host_tool_name: own }))
  const asked = [...renamed, payload].map((one) => ({ payload: one, hooks: askedOf(explain(one)) }))
  const all = new Set(asked.flatMap(({ hooks }) => hooks))
  const found = asked.find(({ hooks }) => hooks.length === all.size)
  if (found) return found.payload
  throw new Refusal('CONFIG_INVALID', `Some hooks are for ${names.join(' or ')}, others for ${own} alone`, {
    hint: `It is the same tool here: write ${[...new Set([...names, own])].join('|')} as their matcher.`,
  })
}

/** By their places in the order, which is the same in every plan. */
function askedOf({ candidates }: Plan): readonly number[] {
  return candidates.filter(({ why }) => why !== 'matcher' && why !== 'if').map(({ order }) => order)
}
