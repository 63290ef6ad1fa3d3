// For each prompt: adds the user's preferences, and the earlier work of the agents that the prompt names.

import { readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { saying } from './answer.js'
import { preferences, recalledAgents } from './memory.js'
import type { PackContext, PackHook } from './pack-hook.js'

const MOST_AGENTS = 5
/** Names are at the beginning or the end of a prompt. A pasted log in the middle is skipped. */
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

/** Finds any agent by `@name`, `@agent-name` or the path of its file, and one that is defined here also by its bare name. */
function agentsNamed(prompt: string, { home, projectDir }: PackContext): readonly string[] {
  const text = (
    prompt.length <= MAX_PROMPT ? prompt : prompt.slice(0, MAX_PROMPT / 2) + prompt.slice(-MAX_PROMPT / 2)
  ).toLowerCase()
  const mentioned = [...text.matchAll(/(?<![\w@.])@"?(?:agent-)?([a-z][\w:-]{0,99})/g)].map(
    ([, name]) => name ?? '',
  )
  const files = [...text.matchAll(AGENT_FILE)].map(([, path]) => basename(path ?? '', '.md'))
  const words = new Set(text.match(/[a-z][\w:-]*/g) ?? [])
  const bare = definedAgents([projectDir, home]).filter((name) => words.has(name))
  return [...new Set([...files, ...mentioned, ...bare])].slice(0, MOST_AGENTS)
}

/** `@.claude/agents/core/reviewer.md` */
const AGENT_FILE = /(?<![\w@.])@"?((?:~|\.{0,2})\/?(?:[\w.-]+\/){0,20}agents\/[\w./-]{1,200}\.md)\b/g

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
    return [] // The folder is missing or unreadable.
  }
}
