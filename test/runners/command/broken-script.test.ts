// Exit code 2 of an interpreter that could not run a hook's script, told apart from the exit code 2 of a hook that refuses.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { brokenScript } from '../../../src/runners/command/broken-script.js'
import { runs } from '../../property/runs.js'

const inShell = (command: string, file = '/bin/sh') => ({ file, args: ['-c', command] })
const ended = (stderr: string) => ({ code: 2, signal: null, stdout: '', stderr, cut: false })
// biome-ignore lint/suspicious/noTemplateCurlyInString: as in a file
const OWN = inShell('bash "${CLAUDE_PLUGIN_ROOT}/hook.sh"')
const SYNTAX = "/p/hook.sh: line 3: syntax error near unexpected token `fi'"

describe('is broken', () => {
  it.each([
    [OWN, SYNTAX],
    [OWN, `${SYNTAX}\n/p/hook.sh: line 3: \`fi'`],
    [OWN, `it said this before\n${SYNTAX}`],
    [OWN, '/p/hook.sh: line 4: syntax error: unexpected end of file'],
    [OWN, "/p/hook.sh: line 4: syntax error: unexpected end of file from `if' command on line 2"],
    [OWN, '/p/hook.sh: line 2: unexpected EOF while looking for matching `"\''],
    [
      inShell('sh -e ./hook.sh --fast'),
      './hook.sh: 4: Syntax error: end of file unexpected (expecting "fi")',
    ],
    [inShell('$DIR/hook.sh'), '/a b/hook.sh: 3: UNDEF: parameter not set'],
    [inShell('cd sub && ./hook.sh'), './hook.sh: 1: Bad substitution'],
    [inShell('env A=1 sh hook.sh'), 'hook.sh: 1: .: cannot open ./lib.sh: No such file'],
    [inShell('sh gone.sh'), 'sh: 0: cannot open gone.sh: No such file'],
    [inShell('sh gone.sh'), "sh: 0: Can't open gone.sh"],
    [inShell('sh gone.sh'), "sh: can't open 'gone.sh': No such file or directory"],
    [inShell('bash gone.sh || exit 2'), 'bash: gone.sh: No such file or directory'],
    [inShell('./gone.sh || exit 2'), '/bin/sh: 1: ./gone.sh: not found'],
    [
      inShell('python3 -u gone.py'),
      "/usr/bin/python3: can't open file '/work dir/gone.py': [Errno 2] No such file or directory",
    ],
    [
      { file: 'python3', args: ['/p/gone.py'] },
      "python3: can't open file '/p/gone.py': [Errno 2] No such file or directory",
    ],
    [inShell('perl gone.pl'), 'Can\'t open perl script "gone.pl": No such file or directory'],
    [inShell('if true; then'), '/bin/sh: 1: Syntax error: end of file unexpected (expecting "fi")'],
    [inShell('x=(1 2)'), '/bin/sh: 1: Syntax error: "(" unexpected'],
    [inShell('echo "x', 'bash'), 'bash: -c: line 1: unexpected EOF while looking for matching `"\''],
  ])('%j: %s', (program, stderr) => {
    const lines = stderr.split('\n')
    const message = lines.find((line) => !/^it said|: `.*'$/.test(line))
    expect(brokenScript(ended(`${stderr}\n`), program)).toBe(message)
  })
})

describe('refuses on purpose', () => {
  it.each([
    ['a syntax error in another script', OWN, 'deploy.sh: line 3: syntax error: unexpected end of file'],
    ['one in an argument', inShell('lint.sh ./a.sh'), './a.sh: line 3: syntax error: unexpected end of file'],
    ['one that it looked for', inShell('bash -n a.sh'), 'a.sh: line 3: syntax error: unexpected end of file'],
    ['one in the judged command', inShell('./check'), '/bin/sh: 1: Syntax error: Unterminated quoted string'],
    ['one in what it evaluates', OWN, '/p/hook.sh: eval: line 9: syntax error: unexpected end of file'],
    ['a file that the call names', inShell('grep -q x a.txt'), 'grep: a.txt: No such file or directory'],
    ['words about such a line', OWN, `${SYNTAX}\nFix it before you commit.`],
    ['words in such a line', OWN, `Refused: ${SYNTAX}`],
    ['words for such a line', OWN, '/p/hook.sh: line 3 is not allowed'],
  ])('%s', (_, program, stderr) => {
    expect(brokenScript(ended(stderr), program)).toBeUndefined()
  })

  it('with an answer, another code, or a signal', () => {
    const is = ended(SYNTAX)
    expect(brokenScript(is, OWN)).toBe(SYNTAX)
    for (const other of [{ stdout: '{"decision":"block"}' }, { code: 1 }, { code: 0 }, { cut: true }])
      expect(brokenScript({ ...is, ...other }, OWN)).toBeUndefined()
  })

  it('whatever reason it gives', () => {
    const word = fc.oneof(
      fc.string(),
      fc.constantFrom(
        '/p/hook.sh:',
        './hook.sh:',
        'line 3:',
        '3:',
        'syntax error',
        'Syntax error: "fi"',
        SYNTAX,
      ),
      fc.constantFrom('/bin/sh: 1:', 'not found', 'No such file or directory', "python3: can't open file"),
    )
    const reason = fc.array(word, { maxLength: 12 }).map((words) => `Refused, because ${words.join(' ')}`)
    const program = fc.constantFrom(OWN, inShell('./hook.sh'), inShell('exit 2'), inShell('python3 hook.py'))
    fc.assert(
      fc.property(reason, program, (stderr, by) => brokenScript(ended(stderr), by) === undefined),
      { numRuns: runs(1000) },
    )
  })
})
