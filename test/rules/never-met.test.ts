// The tables of programs and the lists of commands say which values effects really have.

import { beforeAll, describe, expect, it } from 'vitest'
import { exceptionFor } from '../../src/cli/learn/exception.js'
import type { Effect, EffectKind } from '../../src/effects/effect.js'
import { effectsOf } from '../../src/effects/effects-of.js'
import { PROGRAMS } from '../../src/effects/programs/programs.js'
import { SERVER_EXAMPLES } from '../../src/effects/tools/mcp-servers.js'
import { fieldsOf, patternsOf, subjectsOf } from '../../src/rules/effect-kinds.js'
import { GIT_READS, MANAGERS, neverHad, neverMeant } from '../../src/rules/never-met.js'
import { readRules } from '../../src/rules/rules-file.js'
import { BAD, ORDINARY } from '../effects/command-lists.js'
import { CONTEXT } from '../effects/part-of.js'
import { sample } from '../property/runs.js'

const ofCommand = (command: string) => effectsOf({ name: 'Bash', input: { command } }, CONTEXT)

describe('a value that an effect has', () => {
  const seen: Effect[] = []
  beforeAll(async () => {
    const examples = PROGRAMS.flatMap((program) => program.examples.map(({ command }) => command))
    const listed = sample([...BAD, ...ORDINARY]).map(({ command }) => command)
    for (const command of [...examples, ...listed]) seen.push(...(await ofCommand(command)))
    for (const { tool, input } of SERVER_EXAMPLES)
      seen.push(...(await effectsOf({ name: tool, input }, CONTEXT)))
  }, 120_000)

  it('is never refused in "where"', () => {
    const refused = seen.flatMap((effect) =>
      Object.entries(fieldsOf(effect.kind)).flatMap(([key, [, read]]) => {
        const value = read(effect)
        return typeof value === 'string' && neverHad(key, value, effect.kind)
          ? [`${effect.kind} ${value}`]
          : []
      }),
    )
    expect(seen.length).toBeGreaterThan(1000)
    expect(refused).toEqual([])
  })

  it('is never refused in "of", unless it is a remote', () => {
    const refused = seen
      .filter(({ kind }) => patternsOf(kind) === 'hosts' || patternsOf(kind) === 'branches')
      .flatMap((effect) =>
        subjectsOf(effect).flatMap((one) =>
          'text' in one && one.text !== undefined ? [[one.text, effect.kind] as const] : [],
        ),
      )
      .filter(([text, kind]) => neverMeant(text, kind) !== undefined)
      .filter(([text]) => !/^(?:origin|upstream)\//.test(text))
    expect(refused).toEqual([])
  })
})

describe('learn', () => {
  it.each([
    ['git checkout origin/main', 'broad'],
    ['git psuh topic', 'broad'],
    ["echo ''", 'learnt'],
  ])('%s: %s', async (command, wanted) => {
    const made = (await ofCommand(command)).map((effect) => exceptionFor(effect, () => false))
    const rules = made.flatMap((one) =>
      typeof one === 'string' ? [] : [{ id: 'x', effects: one.effects, then: 'ask', unless: [one] }],
    )
    for (const rule of rules)
      expect(readRules({ rules: [rule] }, { owner: 'user', now: 0, agents: [] }).problems).toEqual([])
    expect(made.includes('broad') ? 'broad' : 'learnt').toBe(wanted)
  })
})

describe('the lists', () => {
  it('have every manager of the tables, and no other', async () => {
    const found = new Set<string>()
    for (const name of PROGRAMS.flatMap(({ names }) => names))
      for (const words of ['install x', 'add x', '-S x'])
        for (const effect of await ofCommand(`${name} ${words}`))
          if (effect.kind === 'install') found.add(effect.manager)
    expect([...MANAGERS].sort()).toEqual([...found].sort())
  }, 120_000)

  it.each(GIT_READS)('git %s has no effect of git', async (verb) => {
    expect((await ofCommand(`git ${verb} x`)).filter(({ kind }) => kind === 'git')).toEqual([])
  })
})

describe('a slip', () => {
  it.each<[string, string, EffectKind, string]>([
    ['operation', 'psuh', 'git', 'Did you mean "push"?'],
    ['operation', 'rebse', 'git', 'Did you mean "rebase"?'],
    ['operation', 'destory', 'cloud', 'Did you mean "destroy"?'],
    ['operation', 'terraform destory', 'cloud', 'Did you mean "destroy"?'],
    ['operation', 'DORP TABLE', 'database', 'Did you mean "drop"?'],
    ['operation', 'shutdwon', 'process', 'Did you mean "shutdown"?'],
    ['operation', 'chmdo 777', 'privilege', 'Did you mean "chmod"?'],
    ['operation', 'log', 'git', 'Use the effect run, of "git log".'],
    ['manager', 'nmp', 'install', 'Did you mean "npm"?'],
    ['manager', 'nobody', 'install', 'Choose from npm, '],
  ])('"%s": "%s" of %s is never met', (key, value, kind, todo) => {
    expect(neverHad(key, value, kind)?.todo).toContain(todo)
    expect(neverHad(key, `${value}*`, kind)).toBeUndefined()
  })

  it.each<[string, EffectKind]>([
    ['ci', 'git'],
    ['lg', 'git'],
    ['sync-all', 'git'],
    ['push_files', 'git'],
    ['s3 mb', 'cloud'],
    ['stop-instances', 'cloud'],
    ['VACUUM', 'database'],
  ])('"%s" of %s may be met', (value, kind) => expect(neverHad('operation', value, kind)).toBeUndefined())

  it.each<[string, EffectKind, string]>([
    ['https://example.com/', 'send', 'Write "example.com".'],
    ['HTTPS://example.com/a/b', 'fetch', 'Write "example.com".'],
    ['https://*.example.com/*', 'fetch', 'Write "*.example.com".'],
    ['example.com/*', 'send', 'Write "example.com".'],
    ['localhost:3000', 'send', 'Write "localhost".'],
    ['[::1]:3000', 'send', 'Write "[::1]".'],
    ['git@github.com', 'send', 'Write "github.com".'],
    ['ssh://git@github.com:22/a', 'send', 'Write "github.com".'],
    ['s3://bucket/x', 'send', 'Write "s3://bucket".'],
    [' example.com', 'send', 'Write "example.com".'],
    ['origin/main', 'git', 'Write "main".'],
    ['refs/heads/main', 'git', 'Write "main".'],
    ['refs/heads/release/*', 'git', 'Write "release/*".'],
    ['remotes/upstream/main', 'git', 'Write "main".'],
    ['$HOME/.ssh', 'read', 'Write "~/.ssh".'],
    ['$PWD/build', 'delete', 'Write "build".'],
    ['$DIR/x', 'delete', 'Write the path.'],
    ['file:///etc', 'write', 'Write "/etc".'],
    ['https://example.com', 'read', 'Use send or fetch'],
  ])('"%s" of %s is never meant', (pattern, kind, todo) => {
    expect(neverMeant(pattern, kind)?.todo).toContain(todo)
  })

  it.each<[string, EffectKind]>([
    ['*', 'send'],
    ['127.*', 'send'],
    ['::1', 'send'],
    ['s3://bucket', 'send'],
    ['s3:*', 'send'],
    ['*//*', 'send'],
    ['backup:', 'send'],
    ['feature/x', 'git'],
    ['original/x', 'git'],
    ['~/.ssh', 'read'],
    ['a $b', 'read'],
    // As for `echo ''`.
    ['echo ', 'run'],
  ])('"%s" of %s may be meant', (pattern, kind) => expect(neverMeant(pattern, kind)).toBeUndefined())
})
