// Whose hooks they are: the user's, the project's, or those of a file or plugin that somebody named.

import { plainText } from '../core/base/text.js'
import type { Place } from '../runners/hook-spec.js'

/** What was named is as unreviewed as the project, but nothing that a project says about hooks reaches it. */
export type Scope = 'user' | 'project' | 'named'

export interface Owner {
  readonly scope: Scope
  /** For people: a plugin's name, `user`, `project`, or the name of an explicit file. */
  readonly source: string
  readonly place: Place
  /** Within one realm a repeated hook runs once: all settings and root files are one, each plugin is one. */
  readonly realm: string
}

const LONGEST_NAME = 80

/** A name from outside, fit for ids, paths and terminals; undefined if nothing is left of it. */
export function cleanName(name: unknown): string | undefined {
  if (typeof name !== 'string') return undefined
  if (/^[\w@.-]{1,80}$/.test(name)) return name
  const clean = plainText(name.slice(0, 10 * LONGEST_NAME))
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, LONGEST_NAME)
  return clean === '' ? undefined : clean
}
