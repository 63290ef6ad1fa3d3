// The list of people, for machines that check who may allow.

import { newestPeople } from '../database/people.js'
import type { PeopleAnswer } from '../protocol.js'
import type { Handler } from './request.js'

export const people: Handler = async ({ database }): Promise<PeopleAnswer> => {
  const newest = await newestPeople(database)
  return newest ? { people: newest } : {}
}
