// Plain words are read without the parser. A line end after them takes the long way, with the same result.

import fc from 'fast-check'
import { expect, it } from 'vitest'
import { effectsOf } from '../../src/effects/effects-of.js'
import { runs, seeded } from '../property/runs.js'
import { CONTEXT } from './part-of.js'

const read = (command: string) => effectsOf({ name: 'Bash', input: { command } }, CONTEXT)

const word = fc.constantFrom(
  ...[
    'a',
    'src',
    '../b',
    '/tmp/x',
    '-rf',
    '-n',
    '--force',
    '-',
    '.',
    '..',
    'main',
    'checkout',
    'switch',
    'push',
  ],
  ...['rm', 'sh', 'python3', '-C', 'a@b', 'x.sh', 'docker'],
)
const program = fc.constantFrom(
  ...[
    'rm',
    'cat',
    'cd',
    'git',
    'grep',
    'npm',
    'cp',
    'mv',
    'tee',
    'sh',
    'xargs',
    'find',
    'env',
    'sudo',
    'pushd',
  ],
  ...[
    'popd',
    'exit',
    'curl',
    'python3',
    'make',
    'unset',
    'read',
    'source',
    '.',
    'exec',
    './run',
    'printf',
    'ls',
  ],
)
const command = fc
  .tuple(program, fc.array(word, { maxLength: 4 }))
  .map(([name, words]) => [name, ...words].join(' '))
const line = fc
  .tuple(command, fc.array(fc.tuple(fc.constantFrom('; ', ' && ', ' || ', ' | '), command), { maxLength: 4 }))
  .map(([first, more]) => first + more.map((one) => one.join('')).join(''))

it('plain words mean the same with and without the parser', async () => {
  await fc.assert(
    fc.asyncProperty(line, async (text) => {
      const found = await read(text)
      // The line end is part of the words of what is told about the whole line.
      const long = JSON.parse(JSON.stringify(await read(`${text}\n`)).replaceAll('\\n"', '"'))
      expect(JSON.parse(JSON.stringify(found))).toEqual(long)
    }),
    { numRuns: runs(3000), ...seeded(25) },
  )
})
