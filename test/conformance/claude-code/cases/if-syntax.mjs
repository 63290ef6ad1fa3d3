// `if`: which syntax Claude Code takes apart to find a command in it, and which it leaves alone and runs the hook for.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the shell's own

import { bash, pre } from './make.mjs'
import { MCP } from './matchers.mjs'

/** @param {string} rule @param {string} command */
function rule(rule, command) {
  const shown = command.length > 80 ? `${command.length} characters` : command.replaceAll('\n', ' NEWLINE ')
  return bash(
    `if-syntax ${rule}: ${shown}`,
    'whether the rule lets the hook run',
    [pre('A', { fields: { if: rule } }), pre('CONTROL')],
    { tool_input: { command, description: 'd' } },
  )
}

/** @param {string} rule */
function mcpRule(rule) {
  const hooks = [pre('A', { fields: { if: rule } }), pre('CONTROL')]
  return bash(`if-syntax ${rule}: a tool of MCP`, 'whether the rule lets the hook run', hooks, MCP)
}

const NAME = 'Bash(git *)'
const ARGUMENT = 'Bash(git push *)'

/** What has no git in it, for a rule of the name and one of an argument. */
const BOTH = [
  ...['echo {a,b}', 'f() { true; }; f', "echo $'a'", 'case x in x) true;; esac', '((1))', '{ true; }'],
  ...['true && { true; }', 'select x in a; do break; done < /dev/null', 'echo a\\ b', 'echo a\\\n b'],
  ...['echo ${HOME}', 'echo ${HOME:-x}', 'echo <(true)', 'echo a > $HOME/out.txt'],
  ...['for i in a b; do echo "$i"; done', 'for i in a b; do echo x; done', 'if [ -d . ]; then true; fi'],
  ...['echo a\u00a0b', 'echo \u200bx', 'echo a\u2028b', 'echo é', 'echo "$HOME"', 'x=1; echo $x'],
  ...['echo "$(true)"', 'echo `true`', 'echo $((1+1))', 'echo a;;true || true', '[[ a == b ]] || true'],
  ...['(true)', 'cat <<EOF\nx\nEOF', "cat <<'EOF'\nx\nEOF", 'cat <<< x', 'echo ~', 'echo *', 'A=1 true'],
]

const QUOTES = [
  ...['echo "a\\ b"', "echo 'a\\ b'", 'echo a\\\tb', 'echo a \\\n  b', 'echo "a\\\nb"', 'echo \\\\ a'],
  ...['echo a\\;b', 'echo \\$HOME', 'echo "\\$HOME"', "echo 'it'\\''s'", 'echo "a\nb"', 'echo a\tb'],
  ...["echo '{a,b}'", 'echo {}', 'echo {a}', 'echo {1..3}', 'echo {"a"', 'echo "a"{', 'echo \'{"a":1}\''],
  ...['echo $"a"', 'echo =ls', 'echo ~[a]', 'echo ~root', 'echo [a]', 'echo @(a|b)', 'echo !(a)', 'echo a#b'],
  ...['echo \u3000x', 'echo "\u00a0"', "awk '{print $1}' /dev/null", 'printf "%s\\n" a'],
]

const EXPANSIONS = [
  ...[
    'echo $FOO',
    'echo "$FOO"',
    'echo "$PWD"',
    'echo "$@"',
    'echo $@',
    'echo "$1"',
    'echo $?',
    'echo a$HOME',
  ],
  ...['ls $FOO/x; true', 'FOO=a; ls $FOO', 'FOO="a b"; ls $FOO', 'cat "$HOME/x"; true', 'X=$HOME; true'],
  ...[
    'echo "${HOME}"',
    'X=${HOME}; true',
    'echo ${#HOME}',
    'echo $[1+1]',
    'echo $((x+1))',
    'echo "$((1+1))"',
  ],
  ...['echo "$(true)"; true', 'echo "$(true; true)"', 'echo $(true && true)', 'echo $(cat x | head)'],
  ...['echo $(echo $(true))', 'echo "$(echo a > out.txt)"', 'X=$(true); echo $X', 'X=$(ls | head); true'],
  ...['echo $(echo ${HOME})', 'echo $(echo {a,b})', 'echo "x $(true) y"', 'A=$(true) true', 'A=$HOME true'],
  ...['echo "$(cat <<\'EOF\'\nx\nEOF\n)"', 'for i in $(true); do true; done', '[[ $FOO == x ]] || true'],
  ...[
    '[ -n "$FOO" ] || true',
    'if true; then echo $FOO; fi',
    'read x < /dev/null; echo "$x"',
    '$HOME/x; true',
  ],
]

const COMMANDS = [
  ...['x=(a b); true', 'x[0]=1; true', 'x+=1; true', 'IFS=x true', 'A=~ true', 'A=a~ true', 'A={a,b} true'],
  ...[
    'declare x=1',
    'declare -a x',
    'declare -x A=1',
    'typeset -i x=1',
    'unset X',
    'unset $X',
    "unset 'a[0]'",
  ],
  ...['(cd .; true)', '(cd . && true)', '(true && true)', '(true) && true', '(true; (true))', 'time (true)'],
  ...['time true', '! true', 'true |& cat', 'true &', 'coproc true', 'function f { true; }; f', 'let x=1'],
  ...['for ((i=0;i<1;i++)); do true; done', 'while false; do true; done', 'until true; do true; done'],
  ...['while read x; do true; done < /dev/null', 'for i in a; do true; done > out.txt', '(true) > out.txt'],
  ...['echo a > "$HOME/out.txt"', 'echo a > ${HOME}/out.txt', 'echo a > ~/out.txt', 'echo a > "x$(true)"'],
  ...[
    'cat < $HOME/x; true',
    'echo a 2> $HOME/e',
    'echo a > "out file.txt"',
    'echo a &> out.txt',
    'echo a >&2',
  ],
  ...['echo a &>> out.txt', 'echo a <> out.txt', '{fd}> out.txt true', 'true 2>&-', 'true >/dev/null 2>&1'],
  ...['cat <<-EOF\n\tx\n\tEOF', "cat <<-'EOF'\n\tx\n\tEOF", 'cat <<< $HOME', 'cat <<< ${HOME}', '> out.txt'],
  ...['trap "git --version" EXIT', 'exec git --version', 'coproc git --version', './git; true'],
  ...['command -v git', 'git\\\n --version', 'gi""t --version', '2>/dev/null git --version'],
]

const LENGTHS = [10_000, 10_001].map((length) => `echo ${'a'.repeat(length - 5)}`)

export const ifSyntax = [
  ...BOTH.flatMap((command) => [rule(NAME, command), rule(ARGUMENT, command)]),
  ...[...QUOTES, ...EXPANSIONS, ...COMMANDS, ...LENGTHS].map((command) => rule(NAME, command)),
  rule('Bash(echo \\(a\\))', 'echo "(a)"'),
  rule('Bash(echo \\(*)', 'echo "(a)"'),
  rule('Bash(echo (a))', 'echo "(a)"'),
  rule('Bash(echo "\\(a\\)")', 'echo "(a)"'),
  rule('Bash(echo \\\\(a\\\\))', 'echo "(a)"'),
  rule('Bash(echo a\\\\b)', 'echo "a\\b"'),
  rule('Bash(echo a\\\\b)', "echo 'a\\\\b'"),
  rule('Bash(echo a\\b)', "echo 'a\\b'"),
  rule('Bash(echo \\\\)', 'echo "\\\\"'),
  rule('Bash(echo \\\\*)', 'echo "*"'),
  rule('Bash(echo \\\\*)', 'echo "\\\\a"'),
  rule('Bash(echo \\\\\\*)', 'echo "\\\\*"'),
  rule('Bash(echo \\*)', 'echo "*"'),
  rule('Bash(echo \\*)', 'echo b'),
  rule('Bash(echo \\a)', "echo '\\a'"),
  rule('Bash(echo \\a)', 'echo a'),
  rule('Bash(echo "a b")', 'echo "a b"'),
  rule('Bash(echo a b)', 'echo "a b"'),
  rule('Bash(echo a > out.txt)', 'echo a > out.txt'),
  rule('Bash(echo a)', 'echo a > out.txt'),
  rule('Bash(cd . && git status)', 'cd . && git status'),
  rule('Bash(LANG=C git *)', 'LANG=C git --version'),
  rule('Bash(echo $HOME)', 'echo $HOME'),
  rule('Bash(GIT *)', 'git --version'),
  rule('Bash( git * )', 'git --version'),
  rule('Bash(:*)', 'true'),
  rule('Bash(**)', 'true'),
  rule('Bash(tru*', 'true'),
  rule('Bash (true)', 'true'),
  rule('Bash(true) ', 'true'),
  rule('Bash(true)x', 'true'),
  rule('bash(true)', 'true'),
  rule('Ba*', 'true'),
  mcpRule('mcp__srv'),
  mcpRule('mcp__srv__*'),
  mcpRule('mcp__srv__do*'),
  mcpRule('mcp__srv__do_it(1)'),
  mcpRule('mcp__srv__do_it(*)'),
]
