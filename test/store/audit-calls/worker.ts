// A process of its own that keeps calls: `worker PLACES COUNT`. It prints a line for each call that was written.

import { writeSync } from 'node:fs'
import { FileCalls } from '../../../src/store/audit-calls/file-calls.js'
import { judged } from './judged.js'

const [places = '{}', count = '0'] = process.argv.slice(2)
const calls = new FileCalls(JSON.parse(places))
const filler = 'x y '.repeat(500)
for (let i = 0; i < (Number(count) || Infinity); i++) {
  const id = `${process.pid}-${i}`
  calls.append([judged(id, { data: { tool_name: 'Bash', tool_input: { command: id, filler } } })])
  writeSync(1, `${id}\n`)
}
