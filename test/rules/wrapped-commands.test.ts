// A forbidden command stays forbidden, or is asked about, whatever it is wrapped in, padded with or spelled like.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { effectsOf } from '../../src/effects/effects-of.js'
import type { Rule } from '../../src/rules/rule.js'
import { rulesInForce } from '../../src/rules/rules-in-force.js'
import { verdictOf } from '../../src/rules/verdict.js'
import { HOME, PROJECT } from '../effects/command-lists.js'
import { runs, sample } from '../property/runs.js'

const CONTEXT = { cwd: PROJECT, projectDir: PROJECT, home: HOME, env: {} }
const KEEP: Rule = { id: 'keep', effects: ['delete'], of: '/srv/kept', then: 'deny' }
const UNREAD: Rule = { id: 'unread', effects: ['unknown'], then: 'ask' }
const STRICT = /^(?:deny|ask_user)$/

async function actionOf(command: string, ...rules: readonly Rule[]): Promise<string> {
  const effects = await effectsOf({ name: 'Bash', input: { command } }, CONTEXT)
  const hits = rulesInForce({ rules }, { project: PROJECT, home: HOME }).judge(effects, {
    permissionMode: undefined,
    now: 0,
  })
  return verdictOf(hits, effects, { may: 'all', file: 'rules.json' }).result.action
}

/** Single quotes that would double with every layer are left out: 50 layers of them fill no disk. */
const LAYERS: Readonly<Record<string, (command: string, depth: number) => string>> = {
  subshell: (command) => `( ${command} )`,
  group: (command) => `{ ${command}\n}`,
  substitution: (command) => `echo $( ${command} )`,
  quoted: (command) => `echo "$( ${command} )"`,
  input: (command) => `cat <( ${command} )`,
  condition: (command) => `if true; then ${command}\nfi`,
  loop: (command) => `while sleep 1; do ${command}\ndone`,
  choice: (command) => `case a in a) ${command}\n;; esac`,
  function: (command, depth) => `f${depth}() { ${command}\n}; f${depth}`,
  script: (command, depth) => `sh <<'END${depth}'\n${command}\nEND${depth}\n`,
  negated: (command) => `! true || { ${command}\n}`,
  background: (command) => `{ ${command}\n} & wait`,
  launched: (command) => `true; sudo env A=b nohup time sh <<< 'true' && { ${command}\n}`,
}

/** Ways to run it at the bottom. */
const LAST: readonly string[] = [
  'rm -r /srv/kept',
  "sh -c 'rm -r /srv/kept'",
  "bash <<< 'rm -r /srv/kept'",
  `python3 -c "import os; os.system('rm -r /srv/kept')"`,
  `node -e "require('fs').rmSync('/srv/kept', { recursive: true })"`,
  "git -c alias.x='!rm -r /srv/kept' x",
  'find /srv/kept -delete',
]

describe('wrapped in 50 layers', () => {
  it.each(sample(Object.keys(LAYERS)))('of %s', async (name) => {
    expect(await actionOf(wrapped(Array(50).fill(name)), KEEP, UNREAD)).toMatch(STRICT)
  })

  it('of any kind, in any order', async () => {
    const layers = fc.array(fc.constantFrom(...Object.keys(LAYERS)), { minLength: 1, maxLength: 50 })
    await fc.assert(
      fc.asyncProperty(layers, async (names) => {
        expect(await actionOf(wrapped(names), KEEP, UNREAD)).toMatch(STRICT)
      }),
      { numRuns: runs(400) },
    )
  })

  const LAUNCHERS = [
    'sudo ',
    'env A=b ',
    'nohup ',
    'command ',
    'time ',
    'timeout 5 ',
    'nice ',
    'find . -exec ',
    'stdbuf -o0 ',
    'npx ',
    'flock f ',
    'bundle exec ',
    'uv run ',
    'poetry run ',
    'dotenv -- ',
    'npm exec -- ',
    'python3 -m coverage run ',
  ]

  it.each(sample(LAUNCHERS))('of %s', async (launcher) => {
    for (const depth of [1, 5, 6, 50])
      for (const last of LAST)
        expect(await actionOf(`${launcher.repeat(depth)}${last}`, KEEP, UNREAD), `${depth} ${last}`).toMatch(
          STRICT,
        )
  })

  it('of any launchers, in any order', async () => {
    const layers = fc.array(fc.constantFrom(...LAUNCHERS), { minLength: 1, maxLength: 50 })
    await fc.assert(
      fc.asyncProperty(layers, fc.constantFrom(...LAST), async (names, last) => {
        expect(await actionOf(`${names.join('')}${last}`, KEEP, UNREAD)).toMatch(STRICT)
      }),
      { numRuns: runs(400) },
    )
  })

  it('of xargs, which takes the input for itself', async () => {
    for (const depth of [1, 5, 50])
      expect(await actionOf(`${'xargs '.repeat(depth)}rm -r /srv/kept`, KEEP, UNREAD)).toMatch(STRICT)
  })

  function wrapped(names: readonly string[]): string {
    return names.reduce(
      (inner, name, depth) => (LAYERS[name] as (typeof LAYERS)[string])(inner, depth),
      'rm -r /srv/kept',
    )
  }
})

describe('padded to a megabyte', () => {
  const MEGABYTE = 1 << 20
  it.each([
    'x ',
    ';',
    'true;',
    '\n',
    '#',
    'a|',
    '(',
    ')',
    '$(',
    '`',
    "'",
    '"',
    '\\',
    '{',
    '<<E\n',
    '\0',
    '*',
    '~/',
    '\ud800',
    'é',
  ])('with %j on either side, with no rule for what is unknown', async (text) => {
    const pad = text.repeat(MEGABYTE / text.length)
    for (const command of [`${pad}\nrm -r /srv/kept`, `rm -r /srv/kept\n${pad}`, `rm ${pad} /srv/kept`])
      expect(await actionOf(command, KEEP)).toMatch(STRICT)
  })
})

describe('spelled with', () => {
  const COMMAND = 'rm -r /srv/kept'

  it('a NUL anywhere', async () => {
    for (let i = 0; i <= COMMAND.length; i++)
      expect(await actionOf(`${COMMAND.slice(0, i)}\0${COMMAND.slice(i)}`, KEEP), `${i}`).toMatch(STRICT)
  })

  it.each([
    ['Cyrillic letters', '\u0433m'],
    ['wide letters', '\uff52\uff4d'],
    ['mathematical letters', '\u{1d4fb}\u{1d4f6}'],
    ['a letter that cannot be seen', 'r\u200bm'],
    ['a soft hyphen', 'r\u00adm'],
    ['a mark for the other direction', '\u202erm'],
    ['a combining mark', 'rm\u0301'],
    ['a byte order mark', '\ufeffrm'],
    ['a blank that is not one', 'rm\u00a0'],
    ['half a character', 'rm\ud800'],
  ])('%s in the name of the program', async (_, program) => {
    expect(await actionOf(`${program} -r /srv/kept`, KEEP, UNREAD)).toMatch(STRICT)
  })
})
