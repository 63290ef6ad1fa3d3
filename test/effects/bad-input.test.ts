import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Json } from '../../src/core/base/json.js'
import { effectsOf } from '../../src/effects/effects-of.js'
import { PROGRAMS } from '../../src/effects/programs/programs.js'
import { runs } from '../property/runs.js'
import { BAD } from './command-lists.js'
import { CONTEXT } from './part-of.js'

const bash = (command: string) => effectsOf({ name: 'Bash', input: { command } }, CONTEXT)

describe('what cannot be read is unknown', () => {
  it.each([
    ['a command of a megabyte', `rm ${'x '.repeat(500_000)}`],
    ['a NUL', 'ls \0 -la'],
    ['look-alike letters', '\u0433m -rf /'],
    ['nested 50 deep', `${'eval sudo env '.repeat(50)}rm -rf /`],
    ['parentheses without end', '('.repeat(5000)],
    ['a quote without end', "rm -rf '"],
    ['a program from a variable', '$PROGRAM -rf /'],
    ['a script from a pipe', 'make-script | sh'],
    ['code from a pipe', 'make-code | python3'],
  ])('%s', async (_, command) => {
    expect(await bash(command)).toContainEqual(
      expect.objectContaining({ kind: 'unknown', why: expect.any(String) }),
    )
  })

  it('but substitutions are read to the bottom', async () => {
    const effects = await bash(`${'echo $('.repeat(50)}rm -r /srv${')'.repeat(50)}`)
    expect(effects).toContainEqual(expect.objectContaining({ kind: 'delete', by: 'rm -r /srv' }))
  })

  it('and the same key twice in a text of JSON', async () => {
    const input = '{"command":"ls","command":"rm -rf /"}'
    expect(await effectsOf({ name: 'Bash', input }, CONTEXT)).toMatchObject([{ kind: 'unknown' }])
  })
})

describe('a command as long as one may be', () => {
  const full = (text: string) => text.repeat(Math.floor(9900 / text.length))
  it.each([
    ['of words', `rm ${full('a ')}`],
    ['of patterns', `rm ${full('* ')}`],
    ['of words from a pipe', `echo ${full('a ')}| xargs rm`],
    ['of sockets', full('cat a>/dev/tcp/x/1;')],
    ['of pipes', `${full('cat a | ')}cat`],
    ['of variables that grow', `${full('A=$A$A;')}rm $A`],
  ])(
    '%s comes to an end',
    async (_, command) => {
      expect((await bash(command)).length).toBeLessThan(1000)
    },
    60_000,
  )
})

describe('effects', () => {
  const word = fc.oneof(
    fc.constantFrom(...PROGRAMS.flatMap(({ names }) => names)),
    fc.constantFrom(
      '|',
      '&&',
      ';',
      '$(',
      ')',
      '<(',
      '>',
      '<',
      "'",
      '"',
      '`',
      '{',
      '}',
      '--',
      '-rf',
      '-c',
      '-e',
      '@-',
      '~',
      '/',
      '*',
      '$X',
      '\n',
      '<<EOF',
      'EOF',
      '!',
      'time',
      'toString',
    ),
    fc.string({ maxLength: 12 }),
  )

  it('are found for any words, in order', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(word, { maxLength: 12 }), async (words) => {
        const effects = await bash(words.join(' '))
        expect(effects.every(({ kind, by }) => typeof kind === 'string' && typeof by === 'string')).toBe(true)
      }),
      { numRuns: runs(1000) },
    )
  })

  it('are found for any change of a bad command', async () => {
    const command = fc.constantFrom(...BAD.map((one) => one.command))
    await fc.assert(
      fc.asyncProperty(command, fc.nat(200), fc.string({ maxLength: 3 }), async (text, cut, added) => {
        const effects = await bash(text.slice(0, cut) + added + text.slice(cut + 1))
        expect(Array.isArray(effects)).toBe(true)
      }),
      { numRuns: runs(1000) },
    )
  })

  it.each(Object.getOwnPropertyNames(Object.prototype))('are found for words named like %s', async (name) => {
    for (const command of [
      name,
      `git ${name}`,
      `npm run ${name}`,
      `aws ${name} ${name}`,
      `sudo ${name} ${name}`,
    ]) {
      expect((await bash(command)).map(({ kind }) => kind)).toContain('run')
    }
    for (const tool of [name, `mcp__${name}__${name}`]) {
      const effects = await effectsOf({ name: tool, input: { [name]: name } }, CONTEXT)
      expect(effects.map(({ kind }) => kind)).toContain('unknown')
    }
  })

  it('are found for any tool and input', async () => {
    const name = fc.oneof(
      fc.string(),
      fc.constantFrom(
        'Bash',
        'Write',
        'Read',
        'apply_patch',
        'mcp__github__x',
        'mcp__postgres__query',
        'python',
      ),
    )
    await fc.assert(
      fc.asyncProperty(name, fc.jsonValue(), async (tool, input) => {
        expect(Array.isArray(await effectsOf({ name: tool, input: input as Json }, CONTEXT))).toBe(true)
      }),
      { numRuns: runs(1000) },
    )
  })
})
