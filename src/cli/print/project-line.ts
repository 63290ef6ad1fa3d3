// The line that names the project, for somebody who stands elsewhere in it.

import { resolve } from 'node:path'
import { visible } from '../../core/base/text.js'
import { type Places, projectOf } from '../sources.js'
import { labelled, shortPath } from './lines.js'
import type { Paint } from './paint.js'

/** None where it is the current directory, and for who named it. */
export function projectLine(given: Pick<Places, 'project'>, paint: Paint): readonly string[] {
  if (given.project !== undefined) return []
  const project = projectOf(given)
  return project === resolve('.') ? [] : labelled('project', visible(shortPath(project)), paint.dim)
}
