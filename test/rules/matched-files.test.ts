// A pattern is never judged more mildly than a file that it matches on the disk.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { effectsOf } from '../../src/effects/effects-of.js'
import { settingFiles } from '../../src/hosts/setting-files.js'
import type { Rules } from '../../src/rules/rule.js'
import { rulesInForce } from '../../src/rules/rules-in-force.js'
import { verdictOf } from '../../src/rules/verdict.js'
import { runs } from '../property/runs.js'

const root = realpathSync(mkdtempSync(join(tmpdir(), 'matched-')))
const home = join(root, 'home')
const project = join(home, 'app')

/** Secrets by name, and files beside them. */
const FILES = [
  'service-account.json',
  'credentials.json',
  'client_secret_1.json',
  'package.json',
  'tsconfig.json',
  'config/secrets.yml',
  'config/app.yml',
  'config/credentials.toml',
  'wp-config.php',
  'index.php',
  'certs/server.pem',
  'certs/server.key',
  'id_rsa',
  'README.md',
  '.env',
  '.env.local',
  '.npmrc',
]

beforeAll(() => {
  for (const file of FILES) {
    mkdirSync(dirname(join(project, file)), { recursive: true })
    writeFileSync(join(project, file), 'x')
  }
})

afterAll(() => rmSync(root, { recursive: true }))

const ORDER = ['continue', 'ask_user', 'deny']

async function judged(command: string, rules: Rules): Promise<{ action: string; reason: string }> {
  const context = { cwd: project, projectDir: project, home, env: {}, settings: settingFiles({ HOME: home }) }
  const effects = await effectsOf({ name: 'Bash', input: { command } }, context)
  const hits = rulesInForce(rules, { project, home }).judge(effects, { permissionMode: undefined, now: 0 })
  const { result } = verdictOf(hits, effects, { may: 'all', file: 'rules.json' })
  return { action: result.action, reason: result.reason ?? '' }
}

const OWN: Rules = {
  rules: [
    {
      id: 'named',
      effects: ['read'],
      of: ['service-account.json', 'config/app.yml'],
      where: { wild: false },
      then: 'deny',
    },
    { id: 'keys', effects: ['read', 'delete', 'write'], of: '**/*.key', then: 'deny' },
  ],
}

/** Patterns that match the file: parts of its names become stars, question marks or classes. */
const pattern = (file: string) =>
  fc
    .array(fc.constantFrom('*', '?', '[]', 'as it is'), { minLength: file.length, maxLength: file.length })
    .map((signs) =>
      [...file]
        .map((letter, i) => {
          // In a shell, no sign stands for a slash, or for a dot at the beginning of a name.
          if (letter === '/' || (letter === '.' && (i === 0 || file[i - 1] === '/'))) return letter
          const sign = signs[i]
          return sign === 'as it is' ? letter : sign === '[]' ? `[${letter}]` : sign
        })
        .join('')
        .replace(/\*{2,}/g, '*'),
    )

describe('a pattern', () => {
  it.each<[string, Rules]>([
    ['standard', { preset: 'standard', rules: [] }],
    ['careful', { preset: 'careful', rules: [] }],
    ['relaxed', { preset: 'relaxed', rules: [] }],
    ['own rules', OWN],
  ])('is never judged more mildly than a file that it matches: %s', async (_, rules) => {
    const programs = ['cat', 'head -1', 'grep -n key', 'base64', 'wc -l', 'rm', 'truncate -s 0']
    const matched = fc.constantFrom(...FILES).chain((file) => fc.tuple(fc.constant(file), pattern(file)))
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...programs), matched, async (program, [file, glob]) => {
        const [exact, wild] = [
          await judged(`${program} ${file}`, rules),
          await judged(`${program} ${glob}`, rules),
        ]
        expect(ORDER.indexOf(wild.action), `${program} ${file}: ${glob}`).toBeGreaterThanOrEqual(
          ORDER.indexOf(exact.action),
        )
      }),
      { numRuns: runs(300) },
    )
  })

  it('is asked about with the file that it matches', async () => {
    const { action, reason } = await judged('cat *.json', { preset: 'standard', rules: [] })
    expect(action).toBe('ask_user')
    expect(reason).toMatch(/read \S+\/(?:client_secret_1|credentials|service-account)\.json \(cat \*\.json\)/)
  })

  it('that matches no such file is not asked about', async () => {
    for (const command of ['cat tsconfig*.json', 'cat *.md', 'head config/a*.yml', 'cat src/*.json'])
      expect((await judged(command, { preset: 'standard', rules: [] })).action, command).toBe('continue')
  })

  it('that matches too many files to look at is unknown', async () => {
    const many = join(project, 'many')
    mkdirSync(many)
    for (let i = 0; i <= 5000; i++) writeFileSync(join(many, `${i}.txt`), '')
    const { action, reason } = await judged('cat many/*.txt', { preset: 'standard', rules: [] })
    expect([action, reason]).toEqual(['ask_user', expect.stringContaining('too many files')])
  }, 60_000)
})
