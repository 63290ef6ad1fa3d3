// Where a trusted hook lives while it runs: in the copy of its folder.

import { dirname } from 'node:path'
import type { Place } from '../runners/hook-spec.js'
import type { Standing } from './unit.js'

/** Unchanged for what has no copy: a file of hooks. */
export function runPlace(standing: Standing, place: Place): Place {
  if (standing.state !== 'trusted' || standing.copy === undefined) return place
  const { record, copy } = standing
  const moved = (path: string) => {
    if (path === record.path) return copy
    return path === dirname(record.path) ? dirname(copy) : path
  }
  return {
    ...place,
    hooksDir: moved(place.hooksDir),
    ...(place.plugin && { plugin: { ...place.plugin, root: moved(place.plugin.root) } }),
    ...(place.skillDir !== undefined && { skillDir: moved(place.skillDir) }),
  }
}
