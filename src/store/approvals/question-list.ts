// Which questions there are: one list, changed by compare-and-swap, so that the same question is raised once.

import { join } from 'node:path'
import { count, fieldsOf, listOf, type Reader, text } from '../../files/fields.js'
import { VersionedFile } from '../../files/versioned-file.js'
import { isId } from './question-id.js'

export interface Entry {
  readonly id: string
  readonly binding: string
  /** Milliseconds since 1970. */
  readonly expires: number
}

const NONE: readonly Entry[] = []

const entry: Reader<Entry> = (value, where) => {
  const fields = fieldsOf(value, where)
  const id = text(fields.id, `${where}.id`)
  // It becomes the name of a folder.
  if (!isId(id)) throw new Error(`is not valid: ${where}.id is no id`)
  const binding = text(fields.binding, `${where}.binding`)
  return { id, binding, expires: count(fields.expires, `${where}.expires`) }
}

export function questionList(folder: string): VersionedFile<readonly Entry[]> {
  return new VersionedFile({
    folder: join(folder, 'list'),
    what: 'the list of questions',
    fresh: NONE,
    check: (value) => listOf(entry)(value, 'the list of questions'),
  })
}
