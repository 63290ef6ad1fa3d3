// Whether root works in the home folder of somebody else, as with sudo.

import { statSync } from 'node:fs'
import { ifThere } from '../../files/if-there.js'

/** A sentence that says so. `uid`: of this process; undefined where the system has none. */
export function foreignHome(home: string, uid: number | undefined): string | undefined {
  if (uid !== 0) return undefined
  const owner = ifThere(() => statSync(home))?.uid
  if (owner === undefined || owner === 0) return undefined
  return `Root runs this, but ${home} belongs to another user: files in it would become root's`
}
