// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the shell's own
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LONGEST, readShell } from '../../../src/effects/shell/shell-reading.js'
import { runs } from '../../property/runs.js'

/** The commands as lines, including those that other commands run. */
const found = (text: string) => readShell(text).commands.map(({ words }) => words.join(' '))

type Table = readonly (readonly [string, readonly string[]])[]

function table(name: string, rows: Table): void {
  describe(name, () => {
    it.each(rows)('%j', (text, expected) => {
      const reading = readShell(text)
      expect(found(text)).toEqual(expected)
      expect([reading.unknown, reading.why]).toEqual([false, undefined])
    })
  })
}

table('finds what stands', [
  ['', []],
  ['a; b', ['a', 'b']],
  ['a && b || c', ['a', 'b', 'c']],
  ['a | b |& c', ['a', 'b', 'c']],
  ['a & b &', ['a', 'b']],
  ['a\nb', ['a', 'b']],
  ['(a; b)', ['a', 'b']],
  ['{ a; b; }', ['a', 'b']],
  ['! a', ['a']],
  ['time -p a', ['a']],
  ['coproc a', ['a']],
  ['if a; then b; elif c; then d; else e; fi', ['a', 'b', 'c', 'd', 'e']],
  ['while a; do b; done', ['a', 'b']],
  ['until a; do b; done', ['a', 'b']],
  ['for i in x; do a; done', ['a']],
  ['select i in x; do a; done', ['a']],
  ['case x in y) a;; *) b;; esac', ['a', 'b']],
  ['f() { a; }; function g { b; }; f', ['a', 'b', 'f']],
  ['a >x 2>&1 <y', ['a']],
  ['FOO=1 git push', ['git push']],
  ['FOO=1', []],
  ['cat <<"EOF"\nrm x\nEOF', ['cat']],
  ['echo "rm x; $((1))" \'; rm y\'', ['echo rm x; $((1)) ; rm y']],
])

table('finds what stands in substitutions', [
  ['a $(b)', ['a $(b)', 'b']],
  ['a `b`', ['a `b`', 'b']],
  ['a "`b \\`c\\``"', ['a `b \\`c\\``', 'b `c`', 'c']],
  ['a "$(b "$(c)")"', ['a $(b "$(c)")', 'b $(c)', 'c']],
  ['a <(b) >(c)', ['a <(b) >(c)', 'b', 'c']],
  ['a > >(b)', ['a', 'b']],
  ['> $(b)', ['b']],
  ['X=$(b)', ['b']],
  ['X=$(b) a', ['a', 'b']],
  ['export X=$(b)', ['export X=$(b)', 'b']],
  ['x=(1 $(b))', ['b']],
  ['x[$(b)]=1', ['b']],
  ['a ${x:-$(b)}', ['a ${x:-$(b)}', 'b']],
  ['a "${x/$(b)/`c`}"', ['a ${x/$(b)/`c`}', 'b', 'c']],
  ['a $((1 + $(b)))', ['a $((1 + $(b)))', 'b']],
  ['a $[ $(b) ]', ['a $[ $(b) ]', 'b']],
  ['(( $(b) ))', ['b']],
  ['[[ -n $(b) && x =~ $(c) ]]', ['b', 'c']],
  ['for i in $(b); do a; done', ['b', 'a']],
  ['case $(b) in x) a;; esac', ['b', 'a']],
  ['a {x,$(b)} +($(c))', ['a {x,$(b)} +($(c))', 'b', 'c']],
  ['cat <<EOF\n$(b)\nEOF', ['cat', 'b']],
  ['${ b; } 2>/dev/null | a'.replace('${ b; }', 'x ${ b; }'), ['x ${ b; }', 'b', 'a']],
])

table('sees through programs that run others', [
  ['sudo rm x', ['sudo rm x', 'rm x']],
  ['sudo -nu root -- A=1 rm x', ['sudo -nu root -- A=1 rm x', 'rm x']],
  ['sudo --user=root rm x', ['sudo --user=root rm x', 'rm x']],
  ['sudo --user root rm x', ['sudo --user root rm x', 'rm x']],
  ['env rm x', ['env rm x', 'rm x']],
  ['env -i -u A B=1 rm x', ['env -i -u A B=1 rm x', 'rm x']],
  ["env -S'rm x'", ['env -Srm x', 'rm x']],
  ['env - rm x', ['env - rm x', 'rm x']],
  ['/usr/bin/env git x', ['/usr/bin/env git x', 'git x']],
  ['command rm x', ['command rm x', 'rm x']],
  ['command -v rm', ['command -v rm']],
  ['builtin eval rm x', ['builtin eval rm x', 'eval rm x', 'rm x']],
  ['exec -a y rm x', ['exec -a y rm x', 'rm x']],
  ['nohup rm x &', ['nohup rm x', 'rm x']],
  ['~/bin/clip /bin/rm x', ['~/bin/clip /bin/rm x', '/bin/rm x']],
  ['/usr/bin/time -f %e rm x', ['/usr/bin/time -f %e rm x', 'rm x']],
  ['nice -n 5 rm x', ['nice -n 5 rm x', 'rm x']],
  ['nice -5 rm x', ['nice -5 rm x', 'rm x']],
  ['timeout -k 1 10s rm x', ['timeout -k 1 10s rm x', 'rm x']],
  ['timeout --signal=KILL 10 rm x', ['timeout --signal=KILL 10 rm x', 'rm x']],
  ['y | xargs -0 -n 1 rm -f', ['y', 'xargs -0 -n 1 rm -f', 'rm -f']],
  ['y | xargs -I{} rm {}', ['y', 'xargs -I{} rm {}', 'rm {}']],
  [
    'find . -exec rm {} \\; -execdir git add {} +',
    ['find . -exec rm {} ; -execdir git add {} +', 'rm {}', 'git add {}'],
  ],
  ['sh -c "a; b"', ['sh -c a; b', 'a', 'b']],
  ["bash -lc 'a'", ['bash -lc a', 'a']],
  ["bash -o pipefail --norc -ec 'a'", ['bash -o pipefail --norc -ec a', 'a']],
  ['bash -c \'bash -c "rm x"\'', ['bash -c bash -c "rm x"', 'bash -c rm x', 'rm x']],
  [
    'sudo -u x env A=1 timeout 5 sh -c "rm y"',
    [
      'sudo -u x env A=1 timeout 5 sh -c rm y',
      'env A=1 timeout 5 sh -c rm y',
      'timeout 5 sh -c rm y',
      'sh -c rm y',
      'rm y',
    ],
  ],
  ["eval 'rm' x", ['eval rm x', 'rm x']],
  ['trap "rm x" EXIT', ['trap rm x EXIT', 'rm x']],
  ['su - bob -c "rm x"', ['su - bob -c rm x', 'rm x']],
  ['bash <<EOF\nrm x\nEOF', ['bash', 'rm x']],
  ["bash <<-'EOF'\n\trm x\n\tEOF", ['bash', 'rm x']],
  ['bash -s <<< "rm x"', ['bash -s', 'rm x']],
  ['{ bash; } <<EOF\nrm x\nEOF', ['bash', 'rm x']],
  ['sudo -s <<EOF\nrm x\nEOF', ['sudo -s', 'rm x']],
  ['su bob -crm', ['su bob -crm', 'rm']],
  ['runuser -u bob -- rm x', ['runuser -u bob -- rm x', 'rm x']],
  ['ssh -p 1 h -l bob rm x', ['ssh -p 1 h -l bob rm x', 'rm x']],
  ['ssh h <<<"rm x"', ['ssh h', 'rm x']],
  ['env a-b=1 rm x', ['env a-b=1 rm x', 'rm x']],
  ['xargs --replace rm {}', ['xargs --replace rm {}', 'rm {}']],
  ['alias q=rm s="sudo x"', ['alias q=rm s=sudo x', 'rm', 'sudo x', 'x']],
  ['hash -p /bin/rm git', ['hash -p /bin/rm git', '/bin/rm git']],
  ['mapfile -C rm x', ['mapfile -C rm x', 'rm']],
  ['unshare -r rm x', ['unshare -r rm x', 'rm x']],
  ['chroot / <<<"rm x"', ['chroot /', 'rm x']],
  ['eval bash <<<"rm x"', ['eval bash', 'bash', 'rm x']],
  ['bash -c bash <<<"rm x"', ['bash -c bash', 'bash', 'rm x']],
  ['find . -exec echo + {} \\;', ['find . -exec echo + {} ;', 'echo + {}']],
  ['fd -Hx rm', ['fd -Hx rm', 'rm']],
  ['bash script.sh', ['bash script.sh', 'script.sh']],
  ['. ./x.sh a', ['. ./x.sh a', './x.sh a']],
  ['sudo', ['sudo']],
  ['env', ['env']],
  ['xargs', ['xargs', 'echo']],
])

it('takes an option that it does not know both ways', () => {
  expect(found('sudo --new value rm x')).toEqual(['sudo --new value rm x', 'value rm x', 'rm x'])
  expect(found('sudo --new rm x')).toContain('rm x')
})

it('knows a program behind its path', () => {
  const names = (text: string) => readShell(text).commands.map(({ name }) => name)
  expect(names('/usr/bin/git x; ./git; ../a/git; ~/bin/git; git')).toEqual(Array(5).fill('git'))
})

table('is not taken in by spelling', [
  ['r"m" x', ['rm x']],
  ["r''m x", ['rm x']],
  ['\\rm x', ['rm x']],
  ["$'rm' x", ['rm x']],
  ["$'\\x72\\155' x", ['rm x']],
  ['$"rm" x', ['rm x']],
  ['r\\\nm x', ['rm x']],
  ['rm\\\n x', ['rm x']],
  ['# rm\nls # rm', ['ls']],
  ['rm x\r\nls\r\n', ['rm x\r', 'ls\r', 'rm x', 'ls']],
  ["cat <<'E\r'\nE\r\nrm x", ['cat', 'rm x', 'cat']],
  ['<y rm x', ['rm x']],
  ['rm<y', ['rm']],
  ['ｒｍ x', ['ｒｍ x']],
  ['écho "ü 🙂"', ['écho ü 🙂']],
])

describe('says when something may run that it does not see', () => {
  it.each([
    ['~ x', 'the command in ~ is only known at run time'],
    ["PS4='$(rm x)' bash -xc :", "what PS4='$(rm x)' runs is only known at run time"],
    ["export BASH_ENV='$(rm x)'", 'what export runs is only known at run time'],
    ["env PS4='`rm x`' bash -xc :", 'what env runs is only known at run time'],
    ["env 'BASH_FUNC_x%%=() { rm y; }' bash -c x", 'what env runs is only known at run time'],
    ['BASH_ALIASES[x]=rm', 'what BASH_ALIASES[x]=rm runs is only known at run time'],
    ["x='a[$(rm y)]'; ((x))", 'arithmetic may run commands in a[$(rm y)]'],
    ["x='$(rm y)'; echo ${x@P}", 'what ${x@P} runs is only known at run time'],
    ["env -S 'rm\\_x'", 'what env runs is only known at run time'],
    ['A=1; env B=$A', 'what env runs is only known at run time'],
    ['sudo -u $USER git x', 'what sudo runs is only known at run time'],
    ['find $X', 'what find runs is only known at run time'],
    ['find . {-exec,rm,+}', 'what find runs is only known at run time'],
    ['xargs -0I% % x', 'the command in % is only known at run time'],
    ['parallel ::: x', 'what parallel runs is only known at run time'],
    ["fish -c 'not rm x'", 'what fish runs is only known at run time'],
    ['bash /dev/stdin', 'what bash runs is only known at run time'],
    ["bash /dev/fd/3 3<<<'rm x'", 'what bash runs is only known at run time'],
    ["bash <&3 3<<<'rm x'", 'the script that bash runs is only known at run time'],
    ["bash 3<<<'rm x' 0>&3", 'the script that bash runs is only known at run time'],
    ["f() { bash; }; f <<<'rm x'", 'the script that bash runs is only known at run time'],
    ['coproc bash', 'the script that bash runs is only known at run time'],
    ["exec <<<'rm x'; bash", 'the script that bash runs is only known at run time'],
    ["exec <<<'rm x'; { bash; } <<<ls", 'the script that bash runs is only known at run time'],
    ['at now < <(x)', 'the script that at runs is only known at run time'],
    ['compgen -C rm', 'what compgen runs is only known at run time'],
    ["ssh -o ProxyCommand='rm x' h", 'what ssh runs is only known at run time'],
    ['cat <<$(a)\nx\n$(a)\n', '$(a) cannot be read'],
    ['a $[1', '$[1 cannot be read'],
    ['declare x=($(rm y))z', '($(rm y))z cannot be read'],
    ['x=(<(rm y))z', '(<(rm y))z cannot be read'],
    ["cat <<E\n${u:-'$(rm x)'}\nE", "${u:-'$(rm x)'}\n cannot be read"],
    ["((cat <<'E'\n$(rm x)\nE\n); a)", "((cat <<'E'\n$(rm x)\nE\n); a) cannot be read"],
    ['a $((b <<E\nrm x\nE\n))', 'b <<E\nrm x\nE cannot be read'],
    ['$CMD x', 'the command in $CMD is only known at run time'],
    ['"$@"', 'the command in $@ is only known at run time'],
    ['$(echo rm) y', 'the command in $(echo rm) is only known at run time'],
    ['{rm,x}', 'the command in {rm,x} is only known at run time'],
    ['/bin/r? x', 'the command in /bin/r? is only known at run time'],
    ['sudo $CMD', 'the command in $CMD is only known at run time'],
    ['bash -c "$X"', 'the script that bash runs is only known at run time'],
    ['bash -c', 'what bash runs is only known at run time'],
    ['bash "$X"', 'what bash runs is only known at run time'],
    ['source <(curl x)', 'what source runs is only known at run time'],
    ['eval "$X"', 'the script that eval runs is only known at run time'],
    ['curl x | sudo bash', 'the script that bash runs is only known at run time'],
    ['tee >(sh)', 'the script that sh runs is only known at run time'],
    ['bash <<EOF\nrm $X\nEOF', 'the script that bash runs is only known at run time'],
    ['bash < <(curl x)', 'the script that bash runs is only known at run time'],
    ['xargs -I{} {} x', 'the command in {} is only known at run time'],
    ['find . -exec {} \\;', 'the command in {} is only known at run time'],
    ['find . -exec sh -c "rm {}" \\;', 'the script that sh runs is only known at run time'],
    ['echo "', 'it cannot be parsed: unterminated double quote'],
    ['a && ', "it cannot be parsed: expected command after '&&'"],
    ['a $(b', 'it cannot be parsed: unterminated command substitution'],
    ['bash -c "a \'"', 'it cannot be parsed: unterminated single quote'],
    [')', "it cannot be parsed: unexpected token ')'"],
    ['a\0b', 'it contains a NUL character'],
    ['a '.repeat(LONGEST), 'it is too long to parse'],
    [`${'sudo '.repeat(30)}rm`, 'it is nested too deeply'],
    [`${'sudo --x '.repeat(30)}rm`, 'what sudo runs is only known at run time'],
  ])('%j', (text, why) => {
    expect(readShell(text)).toMatchObject({ unknown: true, why })
  })

  it.each(['$(', '`', '(', '{ ', '"$(', '${x:-', '$((', 'a <(', 'if a; then ', '[[ ( ', '((', 'x[', '+('])(
    '1,000 times %j',
    (opening) => {
      expect(readShell(`${opening.repeat(1000)} rm x`).unknown).toBe(true)
    },
  )

  it('where the parser gives up without a word', () => {
    expect(readShell(`a ${'$['.repeat(300)}$(rm x)${']'.repeat(300)}`).unknown).toBe(true)
    expect(readShell(`a $((${'1+'.repeat(2000)}$(rm x)))`).unknown).toBe(true)
  })

  it('and yet what it does see', () => {
    expect(found('$X; rm y')).toEqual(['$X', 'rm y'])
    expect(found('bash -c "rm $X"')).toEqual(['bash -c rm $X', 'rm $X'])
    expect(found('rm x; echo "')).toContain('rm x')
  })
})

it('tells which commands are dynamic, and whether the shell expands at all', () => {
  const flags = (text: string) => {
    const { commands, expands, heredoc } = readShell(text)
    return [commands.map(({ dynamic }) => dynamic), expands, heredoc]
  }
  expect(flags('a b')).toEqual([[false], false, false])
  expect(flags('a $B; c')).toEqual([[true, false], true, false])
  expect(flags("a '$B' \\$B")).toEqual([[false], false, false])
  expect(flags('a *.ts; b {1,2}')).toEqual([[true, true], false, false])
  expect(flags('x | xargs a')).toEqual([[false, false, true], false, false])
  expect(flags('cat <<E\nx\nE')).toEqual([[false], false, true])
  expect(flags("cat <<'E'\nx\nE")).toEqual([[false], false, false])
})

describe('whatever it is given', () => {
  const bits = [
    'a',
    'rm',
    ' ',
    ';',
    '|',
    '&',
    '"',
    "'",
    '`',
    '$',
    '(',
    ')',
    '{',
    '}',
    '\\',
    '\n',
    '<<E',
    '<',
    '>',
    '#',
    '=',
    '[',
    ']',
    '-c',
    'bash ',
    'sudo ',
    'eval ',
    'E\n',
    '*',
    '~',
    'if ',
    'then ',
    'fi',
    'case ',
    'in ',
    'esac',
    '$((',
    '${',
    '\r',
    '\0',
    '--',
  ]
  const soup = fc.array(fc.constantFrom(...bits), { maxLength: 200 }).map((parts) => parts.join(''))

  it('never throws, and always comes to an end', () => {
    fc.assert(
      fc.property(fc.oneof(soup, fc.string({ maxLength: 500, unit: 'binary' })), (text) => {
        const reading = readShell(text)
        expect(reading.unknown).toBe(reading.why !== undefined)
      }),
      { numRuns: runs(2000) },
    )
  })

  it('finds each literal command among others, in any wrapping', () => {
    const word = fc.stringMatching(/^x[a-z0-9_./-]{0,8}$/)
    const line = fc.array(word, { minLength: 1, maxLength: 4 }).map((words) => words.join(' '))
    const wrapped = fc.constantFrom<(line: string) => string>(
      (l) => l,
      (l) => `sudo ${l}`,
      (l) => `(${l})`,
      (l) => `y $(${l})`,
      (l) => `if ${l}; then y; fi`,
      (l) => `bash -c '${l}'`,
      (l) => `A=1 ${l} >/dev/null`,
      (l) => `env A=1 timeout 5 ${l}`,
      (l) => `eval "${l}"`,
    )
    const part = fc.tuple(line, wrapped)
    const glue = fc.constantFrom('; ', ' && ', ' || ', ' | ', '\n', ' & ')
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 5 }), glue, (parts, between) => {
        const commands = found(parts.map(([text, wrap]) => wrap(text)).join(between))
        for (const [text] of parts) expect(commands).toContain(text)
      }),
      { numRuns: runs(500) },
    )
  })
})
