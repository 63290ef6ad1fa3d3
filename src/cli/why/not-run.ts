// Says that a hook file of another agent does not run here, and how to run it.

import { visible } from '../../core/base/text.js'
import { counted, shortPath } from '../print/lines.js'

export interface NotRun {
  readonly agent: string
  readonly title: string
  readonly file: string
  /** Hooks that Carabiner could run and does not. */
  readonly hooks: number
  /** The command that makes Carabiner run them. */
  readonly migrate: string
}

export function notRunText({ file, hooks, title, migrate }: NotRun): string {
  return `found ${visible(shortPath(file))} (${counted(hooks, 'hook')} of ${title}): not run here; to run it: ${migrate}`
}
