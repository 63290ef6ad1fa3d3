// Rules that rewrite: the call as they want it, or what follows where it cannot be changed exactly.

import { type Data, isObject } from '../../core/base/json.js'
import type { HookEvent } from '../../core/hooks/hook.js'
import type { Effect } from '../../effects/effect.js'
import { type ToolCall, toolCall } from '../../effects/tools/tool-call.js'
import { isAsWanted, rewritten } from '../../rules/rewrite.js'
import type { RewriteName } from '../../rules/rewrite-names.js'
import type { Hit } from '../../rules/rules-in-force.js'

/** A call, and the rules that it met. */
export interface Judged {
  readonly event: HookEvent
  readonly effects: readonly Effect[]
  readonly hits: readonly Hit[]
}

export interface Rewrite extends Judged {
  /** The new input of the tool. */
  readonly input?: Data
  /** What was changed, for the agent. */
  readonly told: readonly string[]
}

/** So many rules may change one call. */
const MOST_CHANGES = 10

/** A rule that met the call as it was sent still counts for the changed one, unless it allows. */
export async function rewriteOf(
  judged: Judged,
  judge: (event: HookEvent) => Promise<Judged>,
): Promise<Rewrite> {
  let now: Rewrite = { ...judged, told: [] }
  for (let i = 0; i < MOST_CHANGES; i++) {
    const mine = nextOf(now.hits)
    const [first] = mine
    if (!first) break
    const made = await changed(mine, now.event, judge)
    if ('problem' in made)
      return { ...now, hits: [...now.hits.filter(isOther), ...insteadOf(mine, made.problem)] }
    const strict = now.hits.filter((hit) => isOther(hit) && hit.rule.then !== 'allow')
    const { id, say } = first.rule
    const what = `The rule ${id} changed the command to: ${made.command}`
    const told = [...now.told, say === undefined ? what : `${say} ${what}`]
    now = { ...made.judged, hits: [...strict, ...made.judged.hits], input: made.input, told }
  }
  const [left] = nextOf(now.hits)
  const stopped = left ? insteadOf([left], 'too many rules change this call') : []
  return { ...now, hits: [...now.hits.filter(isOther), ...stopped] }
}

function isOther({ rule }: Hit): boolean {
  return rule.then !== 'rewrite' || rule.mode === 'shadow'
}

/** The hits of the first rule that still wants a change. */
function nextOf(hits: readonly Hit[]): readonly Hit[] {
  const left = hits.filter((hit) => !isOther(hit) && !isDone(hit))
  return left.filter(({ rule }) => rule.id === left[0]?.rule.id)
}

function isDone({ rule, effect }: Hit): boolean {
  return isAsWanted(effect.by, rule.to as RewriteName)
}

function insteadOf(hits: readonly Hit[], problem: string): readonly Hit[] {
  return hits.map(({ rule, effect }) => ({
    rule: { ...rule, then: rule.otherwise ?? 'ask' },
    effect,
    because: `the call cannot be rewritten to ${rule.to} (${problem})`,
  }))
}

interface Changed {
  readonly judged: Judged
  readonly input: Data
  readonly command: string
}

async function changed(
  hits: readonly Hit[],
  event: HookEvent,
  judge: (event: HookEvent) => Promise<Judged>,
): Promise<Changed | { readonly problem: string }> {
  const { tool_input: given } = event.data
  const { rule } = hits[0] as Hit
  const found = commandIn(event)
  if (!found || !isObject(given)) return { problem: 'it is not a shell command' }
  const made = rewritten(found.text, rule.to as RewriteName, new Set(hits.map(({ effect }) => effect.by)))
  if ('problem' in made) return made
  const input = { ...given, [found.key]: made.text } as Data
  const judged = await judge({ ...event, data: { ...event.data, tool_input: input } })
  const isLeft = judged.hits.some((hit) => hit.rule.id === rule.id && !isDone(hit))
  return isLeft ? { problem: 'it would do the same in another way' } : { judged, input, command: made.text }
}

/** The field with the only command of the call, whatever the agent or SDK calls its shell. */
function commandIn({
  data: { tool_name: tool, tool_input: given },
}: HookEvent): { readonly key: string; readonly text: string } | undefined {
  if (typeof tool !== 'string' || !isObject(given)) return undefined
  const call = shellCall(tool, given as Data)
  if (call?.kind !== 'shell' || call.isPowerShell || call.commands.length !== 1) return undefined
  const [text] = call.commands
  const keys = Object.keys(given).filter((key) => given[key] === text)
  return text !== undefined && keys.length === 1 ? { key: keys[0] as string, text } : undefined
}

/** Undefined if the input can be read in two ways. */
function shellCall(tool: string, given: Data): ToolCall | undefined {
  try {
    return toolCall(tool, given)
  } catch {
    return undefined
  }
}
