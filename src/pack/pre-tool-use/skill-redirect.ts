// A call of Skill with the name of an agent. The two are easily confused, and the call would only fail.

import { join } from 'node:path'
import { isObject, type Json } from '../../core/base/json.js'
import { shown } from '../../core/base/text.js'
import { isFile } from '../../effects/paths/on-disk.js'
import { denied, type Finding } from './finding.js'

/** A single name, not a path. */
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
      `${shown(name)} is an agent, not a skill. Call the Task tool with subagent_type ${shown(name)}.`,
    ),
  ]
}
