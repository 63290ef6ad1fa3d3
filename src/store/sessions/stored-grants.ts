// Grants as they are read back: every field is checked, unknown ones are dropped.

import type { Grant } from '../../core/verdict/approval.js'
import { fieldsOf, listOf, optional, type Reader, text } from '../../files/fields.js'

const KEYS = ['id', 'hook', 'event', 'tool', 'cwd', 'digest', 'created'] as const

const grant: Reader<Grant> = (value, where) => {
  const fields = fieldsOf(value, where)
  const read = KEYS.map((key) => [key, text(fields[key], `${where}.${key}`)])
  return {
    ...Object.fromEntries(read),
    ...optional('about', fields.about, text, where),
    ...optional('expires', fields.expires, text, where),
  }
}

/** Throws an Error that names the first field that is wrong: half of what a person decided is not what they decided. */
export function storedGrants(value: unknown): readonly Grant[] {
  return listOf(grant)(value, 'the list of grants')
}
