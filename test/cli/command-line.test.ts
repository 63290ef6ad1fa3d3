import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type Command, readCommandLine } from '../../src/cli/command.js'

const OPTIONS = {
  'root-key': { type: 'string', value: 'KEY', help: 'A key.' },
  out: { type: 'string', value: 'FILE', help: 'A file.' },
} as const
const command = { name: 'x', positionals: ['[WORD]'], options: OPTIONS } as unknown as Command<typeof OPTIONS>

it('any public key is the value of an option', () => {
  const keys = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes))
  const dashed = keys.map((bytes) => Buffer.from([0xf8, ...bytes.subarray(1)]))
  fc.assert(
    fc.property(fc.oneof(keys, dashed), (bytes) => {
      const key = bytes.toString('base64url')
      const { options, positionals } = readCommandLine(command, ['word', '--root-key', key, '--out', 'file'])
      expect([options['root-key'], options.out, positionals]).toEqual([key, 'file', ['word']])
    }),
  )
})

it('an option in the place of a value is still refused', () => {
  expect(() => readCommandLine(command, ['--root-key', '--out', 'file'])).toThrow(/root-key/)
})
