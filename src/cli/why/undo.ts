// What switches a hook on again.

import { shortPath } from '../print/lines.js'

/** By the sentence that says who or what switched it off. */
export function undoOf(detail: string): string {
  const [, command] = /; (carabiner enable .+) undoes it/.exec(detail) ?? []
  if (command !== undefined) return command
  const [, setting, place] = /("\w+": \w+) in (.+:\d+)$/.exec(detail) ?? []
  return place === undefined
    ? 'Change that setting, if the hook is wanted'
    : `Take ${setting} out of ${shortPath(place)}, if the hook is wanted`
}
