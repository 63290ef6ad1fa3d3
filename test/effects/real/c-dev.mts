import fc from 'fast-check'
import { randomCommand } from './random-commands.js'
import { tried } from './sandbox.js'

const [, , count, seed] = process.argv
const commands = fc.sample(randomCommand, { numRuns: Number(count), seed: Number(seed) })
const t = Date.now()
const r = await tried(commands)
console.log(
  `seed ${seed}: ${r.ran} ran, ${r.changed} changed, ${r.unknown} unknown, ${r.missed.length} missed, ${Date.now() - t} ms`,
)
for (const m of r.missed)
  console.log(
    JSON.stringify(m.command),
    '=>',
    m.seen.join('; '),
    '   ||| ',
    m.predicted.filter((p) => !/^run/.test(p)).join('; '),
  )
