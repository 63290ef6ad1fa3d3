// What is to be said of a place in a file that is carried over.

import { visible } from '../../core/base/text.js'
import type { Remark } from '../../plugins/migrate/movable-hooks.js'
import { labelled, placeOf } from './lines.js'

export function remarkLines(
  label: string,
  remarks: readonly Remark[],
  colour: (text: string) => string,
): readonly string[] {
  return remarks.flatMap((remark) => {
    const what = remark.what === undefined ? '' : `${remark.what}: `
    return labelled(label, `${placeOf(remark)} ${visible(`${what}${remark.why}`)}`, colour)
  })
}
