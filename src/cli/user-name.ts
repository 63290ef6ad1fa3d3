// Who is on record as having decided something.

import { userInfo } from 'node:os'

/** As the system knows whoever types. */
export function userName(): string {
  try {
    return userInfo().username
  } catch {
    return process.getuid === undefined ? 'person' : `user ${process.getuid()}`
  }
}
