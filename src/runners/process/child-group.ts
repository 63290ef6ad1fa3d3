// Everything that ends with a resident process: its process group, or on Windows, which has none, itself alone.

import type { ChildProcess } from 'node:child_process'
import { ProcessGroup } from '../program/process-group.js'

/** `end` asks it to end, and ends what does not; `gone` settles when nothing of it is left. */
export type ChildGroup = Pick<ProcessGroup, 'gone' | 'end'>

/** A program that leads a group of its own can be ended with all it started. On Windows it would get a window instead. */
export const LEADS_GROUP = process.platform !== 'win32'

/** Of a process that was started. */
export function groupOf(child: ChildProcess): ChildGroup {
  if (LEADS_GROUP) return new ProcessGroup(child.pid as number)
  return {
    gone: new Promise((resolve) => {
      child.once('exit', () => resolve())
    }),
    end: () => child.kill(),
  }
}
