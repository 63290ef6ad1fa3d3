// Random commands that change files, with every way to spell a protected path that bash knows.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the shell's own

import fc from 'fast-check'

type Text = fc.Arbitrary<string>
const one = (...texts: readonly string[]): Text => fc.constantFrom(...texts)
/** Each `§` stands for one of the parts, in turn. */
const glued = (template: string, ...parts: readonly Text[]): Text =>
  fc.tuple(...parts).map((texts) => template.replace(/§/g, () => texts.shift() ?? ''))

/** No command may leave the deep folder that it runs in: no absolute paths, no variable that is not set, few steps up. */
const MOST_STEPS_UP = 6
/** A loop goes up more than once. */
export const DEPTH = 3 * MOST_STEPS_UP + 2

const spelled: Text = one(
  ...['.claude', '.claude/', './.claude', '.claude/settings.json', '.claude/hooks', '.claude/hooks/guard.sh'],
  ...[
    '".claude"/settings.json',
    '.cl""aude/settings.json',
    ".claude/'settings'.json",
    "$'.cla\\x75de'/hooks",
  ],
  ...[
    'src/../.claude',
    '.claude/../.claude/settings.json',
    '~/.claude/settings.json',
    '$HOME/.claude',
    '"$PWD"/.claude',
  ],
  ...[
    '.c*',
    '.c*/s*',
    '.claude/*',
    '.claude/s[a-z]*',
    '.claude/setting?.json',
    '.cl{aude,x}/settings.json',
    '.??*',
  ],
  ...[
    'link',
    'link/settings.json',
    'link/hooks/guard.sh',
    'innocent',
    'src/up/.claude',
    '.amplifier',
    '.amplifier/pack.json',
  ],
  ...[
    '../proj/.claude',
    '../proj',
    '../.claude/settings.json',
    '.',
    '..',
    '*',
    './*',
    '.*',
    '../*',
    'src/up',
    'src/..',
  ],
)
const harmless: Text = one(
  ...[
    'src',
    'src/a.ts',
    'build',
    'build/x',
    'new',
    'src/new',
    '*.log',
    'build/*',
    'src/*.ts',
    '"a b"',
    '{a,b}.log',
  ],
  ...[
    '../sibling',
    '~/notes',
    '$HOME/notes',
    'evil',
    'evil/settings.json',
    'evil/.',
    'evil/*',
    'tree/.',
    'tree/.claude',
  ],
)
const path: Text = fc.oneof({ weight: 3, arbitrary: spelled }, { weight: 4, arbitrary: harmless })
const variable: Text = one('$x', '"$x"', '$x/settings.json', '${x}', '${y:-src}', '$(pwd)', '.$x', '$x/$y')
const target: Text = fc.oneof({ weight: 6, arbitrary: path }, { weight: 1, arbitrary: variable })

const simple: Text = fc.oneof(
  glued('rm §', target),
  glued('rm -rf §', target),
  glued('rm -rf § §', target, target),
  glued('rmdir §', target),
  glued('unlink §', target),
  glued('mv § §', target, target),
  glued('mv -t § §', target, target),
  glued('cp § §', target, target),
  glued('cp -r § §', target, target),
  glued('cp -rT § §', target, target),
  glued('cp -l § §', target, target),
  glued('ln -s § §', target, target),
  glued('ln -sfn § §', target, target),
  glued('ln § §', target, target),
  glued('touch §', target),
  glued('mkdir -p §', target),
  glued('tee § </dev/null', target),
  glued('truncate -s 0 §', target),
  glued('chmod 000 §', target),
  glued('chmod -R a-w §', target),
  glued('sed -i s/e/f/ §', target),
  glued("sed -n 'w §' evil/settings.json", path),
  glued('dd if=/dev/null of=§ status=none', target),
  glued('sort -o § evil/settings.json', target),
  glued('install -m 600 evil/settings.json §', target),
  glued('echo x > §', target),
  glued('echo x >> §', target),
  glued(': >| §', target),
  glued('{ echo x; } &> §', target),
  glued('find § -delete', target),
  glued("find § -name '*.json' -delete", target),
  glued('find § -name guard.sh -exec rm {} +', target),
  glued("find § -type f -exec sed -i s/e/f/ {} ';'", target),
  glued('find § -name settings.json | xargs rm -f', target),
  glued('echo § | xargs rm -rf', path),
  glued('printf "%s\\n" § | xargs -I{} cp evil/settings.json {}', path),
  glued('ls § | xargs rm -f', target),
  glued('git init -q §', target),
  glued('tar cf - -C evil . | tar xf - -C §', target),
  glued('cat § >/dev/null', target),
  glued('ls §', target),
)
const wrapped: Text = fc.oneof(
  { weight: 6, arbitrary: simple },
  {
    weight: 1,
    arbitrary: glued(
      "bash -c '§'",
      simple.filter((text) => !text.includes("'")),
    ),
  },
  {
    weight: 1,
    arbitrary: glued(
      "eval '§'",
      simple.filter((text) => !text.includes("'")),
    ),
  },
  {
    weight: 1,
    arbitrary: glued(
      'env A=1 §',
      simple.filter((text) => /^[a-z]/.test(text)),
    ),
  },
  { weight: 1, arbitrary: glued('( § )', simple) },
  { weight: 1, arbitrary: glued('if true; then §; fi', simple) },
  { weight: 1, arbitrary: glued('f() { §; }; f', simple) },
  { weight: 1, arbitrary: glued('echo "$(§)"', simple) },
)
const before: Text = fc.oneof(
  { weight: 5, arbitrary: one('') },
  { weight: 3, arbitrary: glued('cd § && ', target) },
  { weight: 3, arbitrary: glued('cd §; ', target) },
  { weight: 1, arbitrary: glued('cd § || cd §; ', target, target) },
  { weight: 1, arbitrary: glued('cd § || exit 1; ', target) },
  { weight: 1, arbitrary: glued('(cd § && true); ', target) },
  { weight: 1, arbitrary: glued('pushd § >/dev/null && ', target) },
  { weight: 1, arbitrary: glued('eval cd § && ', path) },
  { weight: 2, arbitrary: glued('x=§; ', path) },
  { weight: 1, arbitrary: glued('x=§ y=§; ', path, path) },
  { weight: 1, arbitrary: glued('ln -s § l && cd l && ', target) },
  { weight: 1, arbitrary: glued('mv § q && cd q; ', target) },
  { weight: 1, arbitrary: one('shopt -s dotglob; ', 'set -e; ', 'shopt -s globstar nullglob; ') },
)
const looped: Text = glued('for x in § §; do rm -rf "$x"; done', path, path)
export const soup: Text = fc.oneof(
  { weight: 8, arbitrary: glued('§§§', before, before, wrapped) },
  { weight: 2, arbitrary: glued('§§; §', before, wrapped, wrapped) },
  { weight: 1, arbitrary: glued('§§ && §', before, wrapped, wrapped) },
  { weight: 1, arbitrary: looped },
)

/** Whether it stays in the deep folder that it runs in. */
export function isSafe(command: string): boolean {
  return (command.match(/\.\./g)?.length ?? 0) <= MOST_STEPS_UP
}
