// The real shells judge: each of them reads any quoted word as it was.

import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { inQuotes, shellQuoted } from '../../../src/effects/shell/shell-quoted.js'
import { runs } from '../../property/runs.js'
import { programOf } from './stub-world.js'

/** Without the start-up files of the person who runs this. */
const SHELLS: Readonly<Record<string, readonly string[]>> = {
  sh: [],
  bash: ['--norc', '--noprofile'],
  zsh: ['-f'],
  fish: ['--no-config'],
}

const word = fc.oneof(
  fc.string({ unit: fc.constantFrom(...'\\\'"$`\n!;~=#%*?[]{}()<>|&^ \tané⟨語😀') }),
  fc.constantFrom('', 'if', '=ls', '%self', '-n', '~', "\\'; touch x #", "it's", '\\', "'", 'a\\', "\\'"),
)

describe.each(Object.entries(SHELLS))('%s', (name, args) => {
  const shell = programOf(name)

  it.skipIf(!shell)('reads each word as it was', () => {
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 40 }), (words) => {
        const line = `printf '%s\\0' ${words.flatMap((one) => [shellQuoted(one), inQuotes(one)]).join(' ')}`
        const read = execFileSync(shell ?? '', [...args, '-c', line], { encoding: 'utf8' })
        expect(read.split('\0').slice(0, -1)).toEqual(words.flatMap((one) => [one, one]))
      }),
      { numRuns: runs(25), seed: 1 },
    )
  })
})
