// The list of people, for machines that check who may allow.

import { readList } from '../database/people.js'
import type { PeopleAnswer } from '../protocol.js'
import type { Handler } from './request.js'

export const people: Handler = async ({ database }): Promise<PeopleAnswer> => {
  const newest = await readList(database)
  return newest ? { people: newest.signed } : {}
}
