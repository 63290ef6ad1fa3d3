// The hooks of a skill as a document: they come with an event, not from a file, but say the same things in the same way.

import { join, resolve, sep } from 'node:path'
import type { Skill } from '../core/session/session-store.js'
import { realOf } from '../files/within.js'
import type { ConfigSources } from './discovery.js'
import type { HookDocument } from './hook-document.js'
import { JsonText } from './json-text.js'
import { cleanName, type Owner } from './owner.js'

/** Where a user keeps skills, below the home folder. */
const OF_USER = ['.amplifier', '.claude'] as const

export function skillDocument(skill: Skill, sources: ConfigSources): HookDocument {
  const directory = resolve(skill.directory)
  const value = { hooks: skill.hooks }
  const owner: Owner = {
    scope: isOfUser(directory, sources) ? 'user' : 'project',
    source: `skill ${cleanName(skill.name) ?? ''}`.trim(),
    realm: `skill\0${skill.name}`,
    place: { projectDir: sources.projectDir ?? directory, hooksDir: directory, skillDir: directory },
  }
  // One line: what is wrong with an entry is said with the file of the skill, whose lines the host has not told.
  const file = { path: join(directory, 'SKILL.md'), json: new JsonText(JSON.stringify(value)), value }
  return { owner, role: 'skill', file, at: null }
}

/** A skill in the project came with the project, whatever its folder is called or where a link in it leads. */
function isOfUser(directory: string, { homeDir, projectDir }: ConfigSources): boolean {
  if (homeDir === undefined) return false
  const real = realOf(directory)
  const inside = (folder: string) => real.startsWith(realOf(folder) + sep)
  if (projectDir !== undefined && realOf(projectDir) !== realOf(homeDir) && inside(projectDir)) return false
  return OF_USER.some((name) => inside(join(homeDir, name)))
}
