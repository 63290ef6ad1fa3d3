// A call of Skill that names an agent: the two are easily mixed up, and the call would only fail.

import { join } from 'node:path'
import { isObject, type Json } from '../../core/base/json.js'
import { shown } from '../../core/base/text.js'
import { denied, type Finding } from './finding.js'
import { isFile } from './on-disk.js'

/** One name, no path. */
const NAME = /^[A-Za-z0-9][\w-]{0,100}$/

export function skillFindings(toolName: string, input: Json, homes: readonly string[]): readonly Finding[] {
  if (toolName.toLowerCase() !== 'skill' || !isObject(input)) return []
  const name = [input.skill, input.name, input.command].find((value) => typeof value === 'string')
  if (typeof name !== 'string' || !NAME.test(name)) return []
  const has = (...path: readonly string[]) => homes.some((home) => isFile(join(home, '.claude', ...path)))
  if (has('skills', name, 'SKILL.md') || has('commands', `${name}.md`) || !has('agents', `${name}.md`))
    return []
  return [
    denied(
      'agent-not-skill',
      `${shown(name)} is an agent, not a skill. Call the tool Task with subagent_type ${shown(name)}.`,
    ),
  ]
}
