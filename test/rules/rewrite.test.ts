// Rules that rewrite a command: only the words that stand there, and nothing else.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Effect } from '../../src/effects/effect.js'
import { effectsOf } from '../../src/effects/effects-of.js'
import { isAsWanted, rewritten } from '../../src/rules/rewrite.js'
import { REWRITE_NAMES, type RewriteName } from '../../src/rules/rewrite-names.js'
import { runs } from '../property/runs.js'

function to(name: RewriteName, text: string, ...which: readonly string[]): string {
  const made = rewritten(text, name, new Set(which.length > 0 ? which : [text]))
  return 'text' in made ? made.text : `! ${made.problem}`
}

describe('force-with-lease', () => {
  it.each([
    ['git push --force', 'git push --force-with-lease'],
    ['git push -f origin main', 'git push --force-with-lease origin main'],
    ['git  push origin  "my branch" -f', 'git  push origin  "my branch" --force-with-lease'],
    ['git -C sub -c a=b push --force', 'git -C sub -c a=b push --force-with-lease'],
    ['X=1 git push --force 2>log', 'X=1 git push --force-with-lease 2>log'],
    ['/usr/bin/git push --force -- origin', '/usr/bin/git push --force-with-lease -- origin'],
    ['git push -o --force -f', 'git push -o --force --force-with-lease'],
    ['git push --force-with-lease', 'git push --force-with-lease'],
  ])('%s', (text, wanted) => {
    expect(to('force-with-lease', text)).toBe(wanted)
    expect(isAsWanted(wanted, 'force-with-lease')).toBe(true)
  })

  it.each([
    ['git push origin +main', '! +main cannot be changed'],
    ['git push -fu origin main', '! -fu cannot be changed'],
    ['git push -uf origin main', '! -uf cannot be changed'],
    ['git push --mirror', '! --mirror cannot be changed'],
    ['git push --force --no-force-with-lease', '! --no-force-with-lease cannot be changed'],
    ['git push "--force"', '! it is written with quotes'],
    ['git push --force $REMOTE', '! a word of it is known only when it runs'],
    ['git push --force origin *', '! a word of it is known only when it runs'],
    ['git commit --amend', '! there is no such change of git commit --amend'],
    ['sudo git push --force', '! there is no such change of sudo git push --force'],
    ["sh -c 'git push --force'", "! there is no such change of sh -c 'git push --force'"],
    ['', '! its words are not a call of their own'],
  ])('%s is left alone', (text, problem) => {
    expect(to('force-with-lease', text)).toBe(problem)
    expect(isAsWanted(text, 'force-with-lease')).toBe(false)
  })

  it('changes only the calls that are meant', () => {
    const text = 'git push -f origin topic && echo "git push -f" && git push -f origin main'
    expect(to('force-with-lease', text, 'git push -f origin main')).toBe(
      'git push -f origin topic && echo "git push -f" && git push --force-with-lease origin main',
    )
    expect(to('force-with-lease', text, 'git push -f')).toBe('! its words are not a call of their own')
  })
})

describe('ignore-scripts and dry-run', () => {
  it.each<[RewriteName, string, string]>([
    ['ignore-scripts', 'npm install', 'npm install --ignore-scripts'],
    ['ignore-scripts', 'npm i left-pad', 'npm i --ignore-scripts left-pad'],
    ['ignore-scripts', 'npm ci --ignore-scripts', 'npm ci --ignore-scripts'],
    ['ignore-scripts', 'pnpm add -D x', 'pnpm add --ignore-scripts -D x'],
    ['ignore-scripts', 'npm ci --ignore-scripts=false', '! --ignore-scripts=false cannot be changed'],
    ['ignore-scripts', 'npm --prefix a install', '! there is no such change of npm --prefix a install'],
    ['ignore-scripts', 'npm install -- --ignore-scripts', 'npm install --ignore-scripts -- --ignore-scripts'],
    ['ignore-scripts', 'pip install x', '! there is no such change of pip install x'],
    ['dry-run', 'git clean -fdx', 'git clean --dry-run -fdx'],
    ['dry-run', 'rsync -a --delete a/ b/', 'rsync --dry-run -a --delete a/ b/'],
    ['dry-run', 'npm publish --tag x', 'npm publish --dry-run --tag x'],
    ['dry-run', 'git clean --no-dry-run -f', '! --no-dry-run cannot be changed'],
    ['dry-run', 'rm -rf x', '! there is no such change of rm -rf x'],
  ])('%s: %s', (name, text, wanted) => {
    expect(to(name, text)).toBe(wanted)
  })
})

// ---- any command ------------------------------------------------------------------------------------------------

const CONTEXT = { cwd: '/work', projectDir: '/work', home: '/home/ann', env: {} }

function effects(command: string): Promise<readonly Effect[]> {
  return effectsOf({ name: 'Bash', input: { command } }, CONTEXT)
}

/** Everything but the words. */
function kinds(all: readonly Effect[]): readonly string[] {
  return all
    .map(({ by: _, ...one }) => JSON.stringify(one.kind === 'run' ? { ...one, args: [] } : one))
    .sort()
}

const other = fc.constantFrom(
  'ls',
  'echo "git push --force"',
  'cd sub',
  "printf '%s' -f",
  'X=1 make -f a.mk',
  'rm old.txt',
)
const joint = fc.constantFrom(' && ', '; ', ' || ', '\n')
const option = fc.constantFrom('-q', '--tags', '-o ci.skip', "-o 'a b'", '--no-verify', '-u')
const forced = fc.constantFrom('--force', '-f')
const target = fc.constantFrom('', ' origin', ' origin main', ' origin "my branch"', ' origin HEAD:main')

const push = fc
  .tuple(
    fc.constantFrom('git', 'git -C sub', '/usr/bin/git'),
    fc.array(option, { maxLength: 3 }),
    forced,
    target,
  )
  .map(([git, options, force, where]) => ({
    text: [`${git} push`, ...options, force].join(' ') + where,
    wanted: [`${git} push`, ...options, '--force-with-lease'].join(' ') + where,
  }))

const clean = fc
  .tuple(fc.constantFrom('git clean -fd', 'git clean -f src', 'rsync -a --delete a/ b/', 'npm publish'))
  .map(([text]) => text)

/** Without the difference. */
function plain(text: string): string {
  return text
    .replaceAll(/(?<=\s)(?:-f|--force-with-lease)(?=\s|$)/g, '--force')
    .replaceAll(/ --(?:ignore-scripts|dry-run)/g, '')
}

describe('in any command', () => {
  it('a push becomes one with a lease; the rest of the text and all effects stay', async () => {
    const property = fc.asyncProperty(
      fc.array(other, { maxLength: 2 }),
      push,
      fc.array(other, { maxLength: 2 }),
      joint,
      async (before, { text, wanted }, after, by) => {
        const whole = [...before, text, ...after].join(by)
        const made = to('force-with-lease', whole, text)
        expect(made).toBe([...before, wanted, ...after].join(by))
        expect(to('force-with-lease', made, wanted)).toBe(made)
        expect(kinds(await effects(made))).toEqual(kinds(await effects(whole)))
      },
    )
    await fc.assert(property, { numRuns: runs(400) })
  })

  it('a dry run loses, deletes and sends no more than before, and loses no work', async () => {
    const property = fc.asyncProperty(
      fc.array(other, { maxLength: 2 }),
      clean,
      joint,
      async (before, text, by) => {
        const made = to('dry-run', [...before, text].join(by), text)
        expect(made).not.toMatch(/^! /)
        expect(made.replace(' --dry-run', '')).toBe([...before, text].join(by))
        const old = new Set(kinds(await effects([...before, text].join(by))))
        const now = await effects(made)
        expect(now.filter((one) => one.kind === 'git' && one.loses !== 'nothing')).toEqual([])
        expect(kinds(now.filter(({ kind }) => kind !== 'git')).filter((one) => !old.has(one))).toEqual([])
      },
    )
    await fc.assert(property, { numRuns: runs(200) })
  })

  it('any text is changed in those words alone, or left alone', () => {
    const piece = fc.constantFrom(
      'git',
      'push',
      '-f',
      '--force',
      'npm',
      'install',
      ' ',
      '"',
      "'",
      '$(',
      ')',
      ';',
      '\\',
      '\n',
      '>',
      '--',
      '{',
      'é',
      '\0',
    )
    const property = fc.property(
      fc.array(piece, { maxLength: 12 }),
      fc.constantFrom(...REWRITE_NAMES),
      (pieces, name) => {
        const text = pieces.join(' ')
        const made = to(name, text)
        if (made.startsWith('! ')) return
        expect(plain(made)).toBe(plain(text))
      },
    )
    fc.assert(property, { numRuns: runs(3000) })
  })
})
