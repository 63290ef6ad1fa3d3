// Random commands from everything in bash that can hide a command, or looks as if it could.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the shell's own

import fc from 'fast-check'
import { STUBS } from './stub-world.js'

type Text = fc.Arbitrary<string>

const one = (...texts: readonly string[]): Text => fc.constantFrom(...texts)
/** Each `§` stands for one of the parts, in turn. */
const glued = (template: string, ...parts: readonly Text[]): Text =>
  fc.tuple(...parts).map((texts) => template.replace(/§/g, () => texts.shift() ?? ''))

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
const doubled = (text: string) => `"${text.replace(/["\\$`]/g, '\\$&')}"`
/** A script as one word: in quotes of each kind, or bare. */
const asWord = (text: Text): Text => {
  const bare = (t: string) => t
  const within = (t: string) => `"${t}"`
  const quote = fc.constantFrom(quoted, quoted, quoted, quoted, doubled, doubled, bare, within)
  return fc.tuple(text, quote).map(([t, inQuotes]) => inQuotes(t))
}

const plain = one(...STUBS)
const spelledOut = fc
  .tuple(
    plain,
    fc.constantFrom<(name: string) => string>(
      (n) => `"${n}"`,
      (n) => `'${n}'`,
      (n) => `\\${n}`,
      (n) => `${n[0]}\\${n[1]}`,
      (n) => `${n[0]}""${n[1]}`,
      (n) => `${n[0]}\\\n${n[1]}`,
      (n) => `$'${n}'`,
      (n) => `$'\\x78${n[1]}'`,
      (n) => `$'\\170\\x${n.charCodeAt(1).toString(16)}'`,
      (n) => `$'${n}\\0z'`,
      (n) => `$"${n}"`,
      (n) => `../../bin/${n}`,
      (n) => `~/../bin/${n}`,
    ),
  )
  .map(([name, spell]) => spell(name))
const spelledByShell = one('{xa,y}', '${u:-xa}', '$(echo xa)', '?a', '~')
const spelled = fc.oneof(
  { weight: 30, arbitrary: plain },
  { weight: 8, arbitrary: spelledOut },
  { weight: 1, arbitrary: spelledByShell },
)

const looksLike = one(
  "'$(xa)'",
  '"\\$(xa)"',
  '"\\`xa\\`"',
  '\\$\\(xa\\)',
  "$'$(xa)'",
  'a#$(xa)',
  '"\'$(xa)\'"',
  "'\"'$(xa)'\"'",
  '"$\'xa\'"',
  '\\"$(xa)\\"',
  '"\\\\$(xa)"',
  "\\'$(xa)\\'",
  '"\\\\`xa\\\\`"',
  '$$',
  '$#',
  '"${#u}$(xa)"',
  '${u#$(xa)}',
  '"${u:-\'$(xa)\'}"',
  "${u:-'$(xa)'}",
  '"${u:-"$(xa)"}"',
  '${u:-`xa`}',
  '"${u+}$(xa)"',
  '$((1+`xa;echo 1`))',
  '$[1+$(xa;echo 1)]',
  '*',
  '[$(xa)]',
  '{1,$(xa)}',
  '~',
)

export const soup: Text = fc.letrec<Record<string, string>>((tie) => {
  const list = tie('list')
  const simple = tie('simple')
  const command = tie('command')
  const substitution = fc.oneof(
    glued('$(§)', list),
    glued('$( §\n)', list),
    glued('"$(§)"', list),
    glued('`§`', tie('name')),
    glued('"`§`"', tie('name')),
    glued('`xb \\`§\\``', tie('name')),
    glued('${u:-$(§)}', list),
    glued('"${u:=$(§)}"', list),
    glued('${v/$(§)/y}', list),
    glued('$((1+$(§;echo 1)))', command),
    glued('<(§)', list),
    glued('>(§)', list),
    glued('$((§) )', list),
    glued('$( (§) )', list),
    glued('$(cat <<E\n$(§)\nE\n)', simple),
    glued('$(case a in a) §;; esac)', simple),
    glued('$(case a in (a) §;; esac)', simple),
    glued("$(# it's )\n§)", simple),
    glued('${ §; }', simple),
  )
  const word = fc.oneof(
    { weight: 4, arbitrary: one('a', '-x', '1', 'in', 'if', 'done', '}', '"a b"', "'a;b'", '$u', '"$@"') },
    { weight: 3, arbitrary: substitution },
    { weight: 2, arbitrary: looksLike },
  )
  const redirection = fc.oneof(
    one('>o', '2>&1', '</dev/null', '>>o', '&>o', '3<<<x', '<<<x', '{fd}>o', '2>/dev/null'),
    glued('<<<§', substitution),
    glued('> >(§)', simple),
    glued('< <(§)', simple),
  )
  const assignment = fc.oneof(one('A=1', 'A+=1', 'B=(1 2)', 'A="x y"'), glued('A=§', substitution))
  const words = fc.array(word, { maxLength: 2 }).map((texts) => texts.map((text) => ` ${text}`).join(''))
  const some = (text: Text): Text =>
    fc.oneof({ weight: 4, arbitrary: one('') }, { weight: 1, arbitrary: glued('§ ', text) })
  const wrapper = fc.oneof(
    one(
      ...['command', 'builtin command', 'exec', 'nohup', 'nice', 'nice -n 1', 'nice -1', 'timeout 2', 'time'],
    ),
    one(
      ...[
        'timeout -s KILL 2',
        'timeout -k1 2',
        'timeout --signal=KILL 2',
        'env',
        'env A=1',
        'env a-b=1',
        'env -u A',
      ],
    ),
    one(
      ...[
        'env -uA',
        'env --unset=A',
        'env -- A=1',
        'sudo',
        'sudo -u x',
        'sudo -nu x',
        'sudo -n A=1',
        'sudo --',
      ],
    ),
    one(
      ...[
        'doas -u x',
        'chroot .',
        'unshare -r',
        'strace -o f',
        'strace -f',
        'busybox',
        'setsid',
        'setsid -w',
      ],
    ),
    one(
      ...[
        'stdbuf -oL',
        'stdbuf -o L',
        'command -p',
        'command --',
        'exec -a z',
        'env -S',
        'builtin',
        '\\command',
      ],
    ),
    one(
      ...[
        'xargs',
        'xargs -n1',
        'xargs -I{}',
        'xargs -I %',
        'xargs -0I%',
        'xargs -i',
        'xargs --replace',
        'xargs -r',
      ],
    ),
    one(
      ...[
        'nohup --',
        'env $u',
        'env "$u"',
        'sudo $u',
        'timeout $((1+1))',
        'eval',
        'eval --',
        'coproc',
        'coproc N',
        '!',
      ],
    ),
  )
  const runner = fc.oneof(
    one(
      ...[
        'bash -c',
        'sh -c',
        'bash -lc',
        'bash -ec',
        'bash -c --',
        'bash -o pipefail -c',
        'bash --norc -c',
        'bash +x -c',
      ],
    ),
    one(
      ...[
        'eval',
        'su x -c',
        'ssh h',
        'watch',
        'env bash -c',
        'env -S',
        'sudo sh -c',
        'xargs -I{} sh -c',
        'bash -cx',
      ],
    ),
    one(
      ...[
        'bash -s <<<',
        'bash <<<',
        'sh <<<',
        '. /dev/stdin <<<',
        'source /dev/stdin <<<',
        'bash /dev/stdin <<<',
      ],
    ),
    one(
      ...[
        'bash 3<&0 <<<',
        'bash <&3 3<<<',
        'exec 3<<<',
        'cat <<<',
        'bash /dev/fd/3 3<<<',
        'sudo <<<',
        'su <<<',
        'parallel',
      ],
    ),
    one(
      ...[
        'find . -maxdepth 0 -exec sh -c',
        'bash -O extglob -c',
        'command eval',
        'builtin eval',
        'exec bash -c',
      ],
    ),
  )
  const script = asWord(list)
  return {
    name: spelled,
    simple: fc.oneof(
      {
        weight: 6,
        arbitrary: glued(
          '§§§§§',
          some(redirection),
          some(assignment),
          tie('name'),
          words,
          some(redirection).map((r) => (r === '' ? '' : ` ${r}`)),
        ),
      },
      { weight: 3, arbitrary: glued('§ §§', wrapper, tie('name'), words) },
      { weight: 1, arbitrary: glued('§ §', wrapper, simple) },
      { weight: 3, arbitrary: glued('§ §', runner, script) },
    ),
    command: fc.oneof(
      { weight: 60, arbitrary: simple },
      { weight: 1, arbitrary: assignment },
      { weight: 1, arbitrary: redirection },
      ...[
        glued('(§)', list),
        glued('{ §; }', list),
        glued('{ §\n} §', list, redirection),
        glued('if §; then §; else §; fi', list, command, command),
        glued('if xb\nthen § ; elif §; then xc; fi <<<§', list, command, substitution),
        glued('while §; do §; break; done', simple, list),
        glued('until §; do break; done', simple),
        glued('for i in §; do §; done', word, list),
        glued('for i in 1 2; { §; }', list),
        glued('for ((i=0; i<1$(§)0; i++)); do §; break; done', simple, command),
        glued('select i in 1; do §; break; done <<<1', list),
        glued('case § in §) §;; *) § ;; esac', word, word, list, command),
        glued('case a in (a|b) § ;& c) §\n;;& *) xa; esac', command, command),
        glued('f() { §; }; f', list),
        glued('f() ( § ); f §', list, redirection),
        glued('function f { §; }; § | f', list, command),
        glued('f() { bash; }; f <<<§', script),
        glued('xe() { §; }; xe', command),
        glued('[[ -n § ]]', word),
        glued('[[ § == a* && ( § =~ ^[$(§)]b ) ]]', word, word, simple),
        glued('(( 1 + $(§; echo 1) ))', simple),
        glued('((§); xb)', command),
        glued('! §', command),
        glued('time § | §', command, command),
        glued('time -p §', command),
        glued('coproc { §; }; wait', list),
        glued('arr=(a $(§) [3]=`xb`)', simple),
        glued('arr[$(§)0]=1', simple),
        glued('declare -a arr=($(§))', simple),
        glued('export A=$(§) B="`xb`"', simple),
        glued('local A=$(§) ||:', simple),
        glued('cat <<E\na § b\nE\n:', word),
        glued("cat <<'E'\na § b\nE\nxb", word),
        glued('cat <<-E\n\ta § b\n\tE\nxb', word),
        glued('cat <<A - <<"B"\n$(§)\nA\n$(xd)\nB\n§', simple, command),
        glued('bash <<E\n§\nE\n:', list),
        glued("bash <<'E'\n§\nE\n:", list),
        glued('cat <<E | bash\n§\nE\n:', list),
        glued('cat <<\\E; §\n$(xd)\nE\n:', command),
        glued('cat <<"E F"\n§\nE F\nxb', list),
        glued('cat <<E\n§', word),
        glued('echo § | bash', script),
        glued('echo § | xargs §', script, tie('name')),
        glued('echo § | sudo bash -s a', script),
        glued('echo § | { xa; sh; }', script),
        glued('exec <<<§; bash', script),
        glued('exec 3<<<§; bash <&3', script),
        glued('find . -maxdepth 0 -exec § {} \\;', tie('name')),
        glued('find . -maxdepth 0 -exec § {} + -exec § \\;', tie('name'), tie('name')),
        glued('trap § EXIT', script),
        glued('trap -- § EXIT', script),
        glued('shopt -s expand_aliases\nalias q=§\nq', script),
        glued('hash -p ../bin/§ git; git', one(...STUBS)),
        glued('PS4=§ bash -xc :', asWord(glued('$(§)', simple))),
        glued('BASH_ENV=§ bash -c :', asWord(glued('$(§)', simple))),
        glued("x='a[$(§)]'; (( x ))", simple),
        glued('x=\'$(§)\'; echo "${x@P}"', simple),
        glued('mapfile -t -c 1 -C § y <<<1', tie('name')),
        glued('X=§; $X', tie('name')),
        glued('set -- §; "$@"', tie('name')),
        glued('eval "$(echo §)"', tie('name')),
        glued('parallel § ::: a', tie('name')),
        glued('parallel ::: §', tie('name')),
        glued('§ # §\n:', simple, simple),
        glued('# §\n§', simple, command),
        glued('§ \\\n && §', command, command),
        glued('HOME=../bin/§; ~', one(...STUBS)),
        glued('A=§; env B=$A', asWord(glued('1 §', tie('name')))),
      ].map((arbitrary) => ({ weight: 1, arbitrary })),
    ),
    list: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      { weight: 4, arbitrary: command },
      {
        weight: 3,
        arbitrary: glued(
          '§§§',
          command,
          one('; ', ' && ', ' || ', ' | ', '\n', ' & ', ' |& ', ';', '|', '\n\n', ' &\n', '||'),
          list,
        ),
      },
    ),
  }
}).list as Text

/** One character removed, added or changed, so that the parser and bash do not agree by chance. */
export const damaged: Text = fc
  .tuple(soup, fc.nat(), fc.nat({ max: 2 }), one(...'\'"`$(){}\\;|&<># \n=!*[]-a'))
  .map(([text, at, gone, come]) => {
    const i = at % (text.length + 1)
    return text.slice(0, i) + (gone === 2 ? '' : come) + text.slice(i + (gone === 0 ? 0 : 1))
  })
  // A damaged command must not redirect output out of the folder.
  .filter((text) => !text.includes('/dev/null'))
