// A prompt was sent: the user's preferences, and what the agents that it names did here before.

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { saying } from './answer.js'
import { recalledAgents } from './memory.js'
import type { PackContext, PackHook } from './pack-hook.js'
import { preferences } from './preferences.js'

const MOST_AGENTS = 5
/** Names stand at its beginning or its end; a pasted log in the middle is not read through. */
const MAX_PROMPT = 65_536

export const userPromptSubmit: PackHook = {
  name: 'user-prompt-submit',
  event: 'UserPromptSubmit',
  run(input, context) {
    if (input.event !== 'UserPromptSubmit') return undefined
    const wishes = preferences(context)
    const agents = agentsNamed(input.userPrompt ?? '', context)
    return saying([wishes.text, recalledAgents(agents, context)], [wishes.problem])
  },
}

/** By `@name` or `@agent-name` whoever it is; by the bare name where somebody defined such an agent. */
function agentsNamed(prompt: string, { home, projectDir }: PackContext): readonly string[] {
  const text = (
    prompt.length <= MAX_PROMPT ? prompt : prompt.slice(0, MAX_PROMPT / 2) + prompt.slice(-MAX_PROMPT / 2)
  ).toLowerCase()
  const mentioned = [...text.matchAll(/(?<![\w@.])@"?(?:agent-)?([a-z][\w:-]{0,99})/g)].map(
    ([, name]) => name ?? '',
  )
  const words = new Set(text.match(/[a-z][\w:-]*/g) ?? [])
  const bare = definedAgents([projectDir, home]).filter((name) => words.has(name))
  return [...new Set([...mentioned, ...bare])].slice(0, MOST_AGENTS)
}

function definedAgents(places: readonly string[]): readonly string[] {
  return places
    .flatMap((place) => [join(place, '.claude', 'agents'), join(place, '.amplifier', 'agents')])
    .flatMap(namesIn)
    .filter((name) => name.endsWith('.md'))
    .map((name) => name.slice(0, -'.md'.length).toLowerCase())
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    // No such folder, or none that can be read: nobody is defined there.
    return []
  }
}
