// What programs inherit from this process, and a helper has from its own start: the user, the rights, the limits.

import { closeSync, openSync, readSync } from 'node:fs'
import { getPriority } from 'node:os'

const OF_STATUS = /^(?:Umask|[UG]id|Groups|Cap\w+|NoNewPrivs|Seccomp|Cpus_allowed):.*$/gm

/** Read anew for each start. Undefined if the system does not say, because there are too many open files, for instance. */
export function inherited(): string | undefined {
  try {
    return `${contentOf('/proc/self/status').match(OF_STATUS)} ${contentOf('/proc/self/limits')} ${getPriority()}`
  } catch {
    return undefined
  }
}

const buffer = Buffer.alloc(65_536)

/** The system gives such a file in one piece. This takes half as long as readFileSync. */
function contentOf(file: string): string {
  const fd = openSync(file, 'r')
  try {
    const length = readSync(fd, buffer, 0, buffer.length, null)
    if (length === buffer.length) throw new Error(`${file} is too long`)
    return buffer.toString('latin1', 0, length)
  } finally {
    closeSync(fd)
  }
}
