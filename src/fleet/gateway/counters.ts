// Counts for limits of rules that all machines share.

import { fieldsOf, count as number, optional, type Reader, text } from '../../files/fields.js'
import { addCount } from '../database/counters.js'
import { COUNTER_KEY, type CountAnswer, type CountRequest, UUID } from '../protocol.js'
import { type Handler, read } from './request.js'

const countRequest: Reader<CountRequest> = (value, where) => {
  const fields = fieldsOf(value, where)
  return {
    key: matching(COUNTER_KEY, fields.key, `${where}.key`),
    id: matching(UUID, fields.id, `${where}.id`),
    add: number(fields.add, `${where}.add`),
    ...optional('most', fields.most, number, where),
  }
}

function matching(form: RegExp, value: unknown, where: string): string {
  const found = text(value, where)
  if (form.test(found)) return found
  throw new Error(`is not valid: ${where} has another form`)
}

export const count: Handler = async (request): Promise<CountAnswer> =>
  addCount(request.database, request.machine, read(request, countRequest))
