// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the shell's own

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { commandPattern, fits, mayFit, piecesOf } from '../../../src/effects/shell/patterns.js'
import { readShell } from '../../../src/effects/shell/shell-reading.js'

const matches = (pattern: string, command: string) => commandPattern(pattern)(readShell(command))

function table(name: string, expected: boolean, rows: readonly (readonly [string, string])[]): void {
  describe(name, () => {
    it.each(rows)('%j: %j', (pattern, command) => expect(matches(pattern, command)).toBe(expected))
  })
}

table('matches', true, [
  ['git *', 'git status'],
  ['git *', 'git'],
  ['git *', 'ls && git status'],
  ['git *', 'echo "$(git status)"'],
  ['git *', 'FOO=1 git status'],
  ['git *', '"git" status'],
  ['git *', '/usr/bin/git --version'],
  ['/usr/bin/git *', '/usr/bin/git --version'],
  ['git*', 'gitk'],
  ['rm:*', 'rm -f x'],
  ['rm:*', 'rm'],
  ['rm *', 'sudo rm x'],
  ['sudo *', 'sudo rm x'],
  ['rm *', "bash -c 'rm -f x'"],
  ['rm *', 'echo x | xargs rm -f'],
  ['npm test', 'npm test'],
  ['npm test', 'npm  test > out.txt 2>&1'],
  ['npm test > *', 'npm test > out.txt'],
  ['git push *', 'git push'],
  ['git * --force', 'git push origin --force'],
  ['* --force*', 'git push --force-with-lease'],
  ['*push*', 'git push'],
  ['*', 'ls'],
  ['', 'ls'],
  ['echo "a b"', 'echo "a b"'],
  ['echo a b', 'echo "a b"'],
  ['FOO=1 git *', 'FOO=1 git status'],
  ['cd * && npm test', 'cd x && npm test'],
  ['git push:*', 'git push origin'],
  ['echo \\*', "echo '*'"],
  ['echo \\(a\\)', 'echo "(a)"'],
  ['echo \\(*', 'echo "(a)"'],
  ['echo a\\\\b', "echo 'a\\b'"],
  ['echo \\\\', "echo '\\'"],
])

/** Ways to write the same call, `@` for the program and `+` for what follows it. */
const WAYS = [
  ...['@ +', '/usr/bin/@ +', './@ +', '@.exe +', '"@" +', "'@' +", '@ -C x +', '@ -c a=b +', '@ --dir=x +'],
  ...['@ --dir x +', '@ -v --dir "a b" -q +', '@ \\\n +', 'X=1 @ -x +', 'env X=1 @ -x +', 'command @ -x +'],
  ...['sudo -u root @ -x +', 'xargs @ -x +', 'nice -n 5 @ -x +', "bash -c '@ -x +'", 'eval "@ -x +"'],
  ...['systemd-run --user @ -x +', 'echo "$(@ -x +)"', 'true && @ -x + | cat', 'x=@; $x -x +', '$(echo @) +'],
  ...['alias a=@; a +', '@ -x $(echo x) +', '@ >out -x +', 'if true; then @ -x +; fi'],
]

describe('words of a pattern, with others between them', () => {
  const CALLS = [
    ['git push *', 'git', 'push origin'],
    ['git push', 'git', 'push'],
    ['git push:*', 'git', 'push'],
    ['git push * --force', 'git', 'push origin --force'],
    ['git push*--force*', 'git', 'push origin --force-with-lease'],
    ['docker compose up *', 'docker', 'compose -f x.yml up -d'],
    ['kubectl delete *', 'kubectl', 'delete pod x'],
    ['npm run build', 'npm', 'run -s build'],
    ['rm -rf *', 'rm', '-v -rf x'],
    ['/usr/bin/git push *', 'git', 'push origin'],
    ['./deploy.sh prod *', 'deploy.sh', 'prod now'],
  ] as const
  const rows = CALLS.flatMap(([pattern, program, rest]) =>
    WAYS.map((way) => [pattern, way.replaceAll('@', program).replaceAll('+', rest)] as const),
  )
  it.each(rows)('%j: %j', (pattern, command) => expect(matches(pattern, command)).toBe(true))

  it('hold for any words in between', () => {
    const word = fc.stringMatching(/^[-a-z=./]{1,6}$/)
    fc.assert(
      fc.property(fc.array(word, { maxLength: 4 }), fc.array(word, { maxLength: 3 }), (between, after) => {
        const command = ['git', ...between, 'push', ...after].join(' ')
        expect([command, matches('git push *', command)]).toEqual([command, true])
      }),
    )
  })
})

table('matches other forms', true, [
  ['git push *', 'git -c alias.p=push p x'],
  ['git push *', 'git -C x pu*'],
  ['git push *', 'echo push | xargs git -C x'],
  ['git commit -m "*', 'git -C x commit -m "a"'],
  ['npm test > *', 'npm -s test > out.txt'],
  ['./deploy.sh *', 'sh deploy.sh prod'],
])

table('does not match', false, [
  ['git push *', 'git commit -m "do not push yet"'],
  ['git push *', "git -C x commit -m 'push'ed"],
  ['git push *', 'gitk -x push'],
  ['git push *', 'git -C x pull'],
  ['git push *', 'git add *'],
  ['git push *', 'ls | xargs git add'],
  ['git push *', 'git stash; echo push'],
  ['git push *', 'git log --grep=pushed'],
  ['npm test', 'npm -s test x'],
  ['rm *', 'git rm x'],
  ['./deploy.sh *', 'cat deploy.sh'],
  ['git *', 'ls'],
  ['git *', 'gitk'],
  ['git *', 'Git status'],
  ['git *', 'echo "git status"'],
  ['git *', "echo '$(git status)'"],
  ['git *', 'ls # git status'],
  ['rm:*', 'rmdir x'],
  ['npm test', 'npm test -s'],
  ['git status', 'git status -s'],
  ['git push *', 'git pull'],
  ['git push *', 'ls *.ts'],
  ['git push *', 'git add *.ts'],
  ['rm *', "cat <<'EOF'\nrm x\nEOF"],
  ['rm *', 'command -v rm'],
  ['rm *', 'ls $X'],
  ['rm *', 'echo `date`'],
  ['git:* push', 'git push'],
  ['echo \\*', 'echo x'],
])

table('matches what may be meant', true, [
  ['git push *', 'X=push; git $X origin'],
  ['git push *', 'echo `date`'],
  ['git push *', 'echo $(date)'],
  ['git', 'git $X'],
  ['git push *', 'git pu{sh,ll}'],
  ['git push *', 'git p*'],
  ['git push *', 'echo push | xargs git'],
  ['rm *', '$CMD x'],
  ['rm *', 'echo "'],
  ['rm *', 'cat <<EOF\nrm -f x\nEOF'],
  ['rm *', 'curl x | sh'],
  ['rm *', 'x'.repeat(100_000)],
  ['x'.repeat(2000), 'ls'],
])

// Syntax that Claude Code does not take apart, as test/conformance/claude-code/cases/if-syntax.mjs observed.
table(
  'matches what is beyond Claude Code',
  true,
  [
    ...['echo {a,b}', 'f() { true; }; f', "echo $'a'", 'case x in x) true;; esac', '((1))', '{ true; }'],
    ...['select x in a; do break; done', 'echo a\\ b', 'echo a\\\n b', 'echo ${HOME}', 'echo <(true)'],
    ...['echo a > $HOME/x', 'for i in a; do echo $i; done', 'echo a\u00a0b', 'echo "$FOO"', 'ls $FOO; ls'],
    ...[
      'echo "$(a; b)"',
      'a && echo $(b)',
      'x=(a b)',
      'IFS=x ls',
      'declare -a x',
      'echo =ls',
      'a <> b',
      'a 2>&-',
    ],
    ...['(a; b)', 'time (a)', `echo ${'a'.repeat(10_000)}`],
  ].flatMap((command) => [
    ['git *', command],
    ['git push *', command],
  ]),
)

table(
  'does not match what Claude Code takes apart',
  false,
  [
    ...[
      'a && b || c; d | e',
      'echo "a" \'b\'',
      'A=1 ls',
      'ls > x 2>&1',
      '(a && b)',
      'echo {}',
      'echo $HOME; ls',
    ],
    ...[
      'echo $(a)',
      'echo "$(a)"',
      'echo `a`',
      'ls $FOO',
      'a \\\n  b',
      '[[ a == b ]]',
      'for i in a; do b; done',
    ],
    ...['bash -c \'a; echo "$FOO"\'', `echo ${'a'.repeat(9_995)}`],
  ].map((command) => ['git *', command]),
)

describe('a wildcard', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', ' '), maxLength: 12 })
  const pattern = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '*'), maxLength: 8 })
  const asRegExp = (p: string, hole: string) => new RegExp(`^${p.replaceAll(hole, '[^]*')}$`)

  it('does not use a character twice', () => {
    expect([fits(piecesOf('*a*a'), 'a'), fits(piecesOf('a*a'), 'a'), fits(piecesOf('*ab*b'), 'ab')]).toEqual([
      false,
      false,
      false,
    ])
  })

  it('means what a regular expression means', () => {
    fc.assert(
      fc.property(pattern, text, (p, t) => {
        expect(fits(piecesOf(p), t)).toBe(asRegExp(p, '*').test(t))
        expect(mayFit(piecesOf(p), t)).toBe(asRegExp(p, '*').test(t))
      }),
    )
  })

  it('may fit whatever a gap can become', () => {
    fc.assert(
      fc.property(pattern, text, text, text, (p, before, gap, after) => {
        if (fits(piecesOf(p), before + gap + after)) {
          expect(mayFit(piecesOf(p), `${before}\0${after}`)).toBe(true)
        }
      }),
    )
  })

  it('comes to an end on hostile patterns', () => {
    const long = 'a'.repeat(60_000)
    expect(fits(piecesOf(`${'*a'.repeat(500)}b`), long)).toBe(false)
    expect(mayFit(piecesOf(`${'*a'.repeat(500)}b`), `${long}\0`)).toBe(true)
    expect(mayFit(piecesOf(`${'*a'.repeat(20)}b`), `${'a'.repeat(20_000)}`)).toBe(false)
  })
})
