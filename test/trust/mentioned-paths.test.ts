// A gate that starts below its project must not pass because a relative path leads nowhere there.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: as it stands in a command

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startElsewhere } from '../../src/trust/kept-scripts.js'
import { mayMention } from '../../src/trust/relative-path.js'
import type { TrustRecord, UnitHook } from '../../src/trust/unit.js'
import { runs } from '../property/runs.js'

let project: string
let sub: string

const FILES = [
  ...['scripts/check.sh', 'scripts/lib/a b.sh', 'docs/rules.md', 'src/generated/api.ts', 'rules/deny.json'],
  ...[
    'banned.txt',
    'gate',
    'package.json',
    'Makefile',
    'checks/gate.py',
    'test/a.ts',
    'build/x',
    'sub/own.txt',
  ],
  ...['logs/old', 'tools/lint.sh', 'sub/tools/lint.sh', '.claude/rules.json'],
]

beforeAll(() => {
  project = realpathSync(mkdtempSync(join(tmpdir(), 'carabiner-mentioned-')))
  sub = join(project, 'sub')
  for (const file of FILES) {
    mkdirSync(dirname(join(project, file)), { recursive: true })
    writeFileSync(join(project, file), '')
  }
  mkdirSync(join(sub, 'build'))
})

afterAll(() => rmSync(project, { recursive: true }))

/** How a line starts in a folder: closed, with another line, or as it is. */
function started(line: string, cwd = sub, more: Partial<UnitHook> = {}) {
  const hook = { name: 'gate', event: 'PreToolUse', matcher: null, command: line, hash: '', ...more }
  const path = join(project, '.amplifier/hooks/hooks.json')
  const unit = { kind: 'file' as const, path, name: 'project', projectDir: project, hooks: [hook] }
  const record = { ...unit, scripts: [], words: [], absent: [], files: [], folders: [] }
  const text = [line, ...(more.args ?? [])].join('\n')
  const start = startElsewhere(record as unknown as TrustRecord, hook, cwd)
  if (start) expect(mayMention(text, project), 'the quick look').toBe(true)
  if (!start) return 'as it is'
  if ('line' in start) return [start.line.command, ...(start.line.args ?? [])].join(' ')
  return start.mayPass ? `closed: ${start.lost}` : 'as it is'
}

describe('a line that starts below its project closes if it misses', () => {
  it.each([
    ['S=scripts/check.sh; [ -x "$S" ] || exit 0; exec "$S"', 'scripts/check.sh'],
    ['S=./scripts/check.sh; if [ -x $S ]; then exec $S; fi', './scripts/check.sh'],
    ['cat scripts/check.sh 2>/dev/null | sh', 'scripts/check.sh'],
    ['sed -n p scripts/check.sh 2>/dev/null | sh', 'scripts/check.sh'],
    ['sh -c "$(cat scripts/check.sh)"', 'scripts/check.sh'],
    ['eval "$(cat scripts/check.sh 2>/dev/null)"', 'scripts/check.sh'],
    ['eval "`cat scripts/check.sh`"', 'scripts/check.sh'],
    ['. scripts/check.sh 2>/dev/null || true', 'scripts/check.sh'],
    ['sh < scripts/check.sh 2>/dev/null; [ $? = 2 ] && exit 2; exit 0', 'scripts/check.sh'],
    ['for f in scripts/*.sh; do sh "$f"; done', 'scripts/*.sh'],
    ['for f in scripts/*; do [ -x "$f" ] && { "$f" || exit 2; }; done; true', 'scripts/*'],
    ['for f in *.txt; do grep -qf "$f" && exit 2; done; exit 0', undefined],
    ['ls scripts | while read f; do sh scripts/$f; done', 'scripts'],
    ['ls scripts 2>/dev/null | xargs -I{} sh scripts/{}', 'scripts'],
    ["find scripts -name '*.sh' -exec sh {} \\;", 'scripts'],
    ['D=scripts; sh $D/check.sh 2>/dev/null; [ $? = 2 ] && exit 2; exit 0', 'scripts/check.sh'],
    ['D=scripts; for f in "$D"/*.sh; do sh "$f"; done', 'scripts/*.sh'],
    ['R=$(pwd); [ -x "$R/scripts/check.sh" ] || exit 0; "$R/scripts/check.sh"', './scripts/check.sh'],
    ['test -x "$PWD/scripts/check.sh" && "$PWD/scripts/check.sh"; :', './scripts/check.sh'],
    ['S=${GATE:-scripts/check.sh}; test -x "$S" && "$S"; :', 'scripts/check.sh'],
    [': "${GATE:=scripts/check.sh}"; test -x "$GATE" && "$GATE"; :', 'scripts/check.sh'],
    ["sh -c 'test -e scripts/check.sh || exit 0; sh scripts/check.sh'", 'scripts/check.sh'],
    ['timeout 5 cat rules/deny.json 2>/dev/null; exit 0', 'rules/deny.json'],
    ['env RULES=rules/deny.json "$CLAUDE_PROJECT_DIR"/gate; true', 'rules/deny.json'],
    ['RULES=rules/deny.json "$CLAUDE_PROJECT_DIR"/gate; true', 'rules/deny.json'],
    ['"$CLAUDE_PROJECT_DIR"/gate --rules=rules/deny.json; true', 'rules/deny.json'],
    ['grep -qf banned.txt && exit 2; exit 0', 'banned.txt'],
    ['[ -f package.json ] || exit 0; npm test || exit 2', 'package.json'],
    ['git diff --quiet -- src/generated || exit 2', 'src/generated'],
    ['git diff --quiet -- src || exit 2', 'src'],
    ['ruff check src || true', 'src'],
    ['sh {scripts,tools}/check.sh || true', 'scripts/check.sh'],
    ['PATH="$PWD/scripts:$PATH"; check.sh || true', './scripts'],
    [`perl -e "do 'scripts/check.sh'"; true`, 'scripts/check.sh'],
    ['sh -c \'sh "$1"\' _ scripts/check.sh || true', 'scripts/check.sh'],
    ['set -- scripts/*.sh; for f; do sh "$f"; done', 'scripts/*.sh'],
    ['make -C scripts check || true', 'scripts'],
    ['CMD="sh scripts/check.sh"; $CMD || true', 'scripts/check.sh'],
    ['F=$(echo scripts/check.sh); sh "$F"; true', 'scripts/check.sh'],
    ['echo scripts/check.sh | xargs sh; true', 'scripts/check.sh'],
    ["printf 'sh scripts/check.sh' | sh; true", 'scripts/check.sh'],
    ['run() { sh "$1"; }; run scripts/check.sh; true', 'scripts/check.sh'],
    ['sh <<E\n[ -x scripts/check.sh ] && scripts/check.sh\nE\ntrue', 'scripts/check.sh'],
    ["python3 - <<'E'\nimport os\nos.path.exists('checks/gate.py') and exit(2)\nE", 'checks/gate.py'],
    ['python3 -c "import os; os.path.exists(\'checks/gate.py\') and exit(2)"', 'checks/gate.py'],
    [`node -e "const p = 'checks/gate.py'; if (fs.existsSync(p)) process.exit(2)"`, 'checks/gate.py'],
    ['python3 -m checks.gate || true', 'checks/gate.py'],
    ['make -s check || true', 'Makefile'],
    ['PATH="$CLAUDE_PROJECT_DIR/bin:scripts"; check.sh || true', 'scripts'],
    ['for f in "$CLAUDE_PROJECT_DIR/gate",scripts/check.sh; do sh "$f"; done', undefined],
    ['f() { echo scripts/check.sh; }; sh $(f); true', 'scripts/check.sh'],
    ['f() { echo scripts/check.sh; }; f | sh; true', 'scripts/check.sh'],
    ['awk \'BEGIN { system("sh scripts/check.sh") }\'; true', 'scripts/check.sh'],
    ['while read -r f; do sh "$f"; done < banned.txt; true', 'banned.txt'],
    ['[[ -x scripts/check.sh ]] && scripts/check.sh; true', 'scripts/check.sh'],
    ['a=(scripts/check.sh); "${a[@]}" || true', 'scripts/check.sh'],
    ["$'scripts/check.sh' 2>/dev/null || true", 'scripts/check.sh'],
    ['scr"ipts"/check.sh || true', 'scripts/check.sh'],
    ['test -e "${HOOK_DIR:-.}/gate" && exit 2; exit 0', './gate'],
    ['ROOT=${HOOK_ROOT:-.}; test -x "$ROOT/gate" && { "$ROOT/gate" || exit 2; }; exit 0', './gate'],
    ['test -e "${PWD:-.}/gate" && exit 2; exit 0', './gate'],
    [`python3 -c "import os,sys; sys.exit(2 if os.path.exists('gate') else 0)"`, 'gate'],
    [`python3 -c "print(open('gate').read())" 2>/dev/null | grep -q ls && exit 2; exit 0`, 'gate'],
    [`node -e "process.exit(require('fs').existsSync('gate') ? 2 : 0)"`, 'gate'],
    ['cat scr*/check.sh 2>/dev/null | sh', 'scr*/check.sh'],
    ['cat ./s?ripts/check.sh 2>/dev/null | sh', './s?ripts/check.sh'],
    ['cat scr{ap,ipts}/check.sh 2>/dev/null | sh', 'scripts/check.sh'],
    ['cat s{c{r,x}ipts,y}/{a,check}.sh 2>/dev/null | sh', 'scripts/check.sh'],
    ['cat {scripts/c*.sh,zz} 2>/dev/null | sh', 'scripts/c*.sh'],
    ['cat scripts/chec{i..l}.sh 2>/dev/null | sh', 'scripts/chec*.sh'],
    [`cat scripts${'{,}'.repeat(40)}/check.sh 2>/dev/null | sh`, `scripts${'*'.repeat(34)}/check.sh`],
    ['A=scr; cat ${A}ipts/check.sh 2>/dev/null | sh', 'scripts/check.sh'],
    ['"$CLAUDE_PROJECT_DIR"/gate > logs/out.txt; true', 'logs/'],
    ['D=$(jq -r .cwd); cd "$D"; test -x scripts/check.sh && scripts/check.sh; true', 'scripts/check.sh'],
    ['for f in build/*; do sh "$f"; done', 'build/*'],
    ['if then scripts/check.sh ; fi; true', 'scripts/check.sh'],
    [`test -x scripts/check.sh && scripts/check.sh; # ${'x'.repeat(12_000)}`, 'scripts/check.sh'],
  ])('%s', (line, lost) => {
    if (lost === undefined) return expect(started(line)).toBe('as it is')
    expect(started(line)).toBe(`closed: ${lost}`)
    expect(started(line, project)).toBe('as it is')
  })

  it('a file in code of PowerShell', () => {
    const more = { shell: 'powershell' } as const
    const line = 'if (Test-Path scripts/check.sh) { & scripts/check.sh }'
    expect(started(line, sub, more)).toBe('closed: scripts/check.sh')
    expect(started(`Set-Location $env:CLAUDE_PROJECT_DIR; ${line}`, sub, more)).toBe('as it is')
  })

  it('a file in a script among its arguments', () => {
    const args = ['-c', 'cd scripts && ./check.sh; true']
    expect(started('sh', sub, { args })).toBe('closed: scripts')
  })
})

describe('a line of plain words finds the files of the project', () => {
  it.each([
    ['sh scripts/check.sh rules/deny.json', "sh '/P/scripts/check.sh' '/P/rules/deny.json'"],
    ['grep -f banned.txt', "grep -f '/P/banned.txt'"],
  ])('%s', (line, whole) => expect(started(line).replaceAll(project, '/P')).toBe(whole))
})

describe('a line that goes somewhere itself starts in the project', () => {
  it.each([
    'cd "$(dirname scripts/check.sh)" 2>/dev/null || exit 0; exec ./check.sh',
    'cd scripts 2>/dev/null || exit 0; ./check.sh',
    'cd "$CLAUDE_PROJECT_DIR" || exit 2; for f in scripts/*.sh; do sh "$f"; done',
    'cd "$(git rev-parse --show-toplevel)" && S=scripts/check.sh && test -x "$S" && "$S"',
  ])('%s', (line) => expect(started(line)).toBe(`cd '${project}' || exit 2\n${line}`))
})

describe('a line runs as it is if nothing opens what it mentions:', () => {
  it.each([
    '"$CLAUDE_PROJECT_DIR"/scripts/check.sh',
    'S="$CLAUDE_PROJECT_DIR/scripts/check.sh"; [ -x "$S" ] || exit 0; exec "$S"',
    'for f in "$CLAUDE_PROJECT_DIR"/scripts/*.sh; do sh "$f"; done',
    'R=$(git rev-parse --show-toplevel); sh "$R/scripts/check.sh"',
    'sh "$(git rev-parse --show-toplevel)"/scripts/check.sh; true',
    'python3 -c "open(\'${CLAUDE_PROJECT_DIR}/rules/deny.json\')"; true',
    'echo "See docs/rules.md" >&2; exit 2',
    'echo test src docs; printf "%s" src >&2',
    'MSG="Do not edit src/generated: see docs/rules.md"; echo "$MSG" >&2; exit 2',
    'deny() { echo "$1" >&2; exit 2; }; deny "Do not edit src/generated"',
    'cat <<E >&2\nRead docs/rules.md\nE\nexit 2',
    'echo \'{"reason":"see docs/rules.md"}\' | jq -c .',
    'jq -n --arg r "see docs/rules.md" \'{decision:"block",reason:$r}\'',
    "jq -r .tool_input.file_path | grep -qE 'src/generated|package.json' && exit 2; exit 0",
    'P="src/generated|banned.txt"; jq -r .tool_input.file_path | grep -qE "$P" && exit 2; exit 0',
    'F=$(jq -r .tool_input.file_path); case "$F" in src/generated/*|banned.txt) exit 2;; esac',
    'F=$(jq -r .tool_input.file_path); [[ $F == src/* || $F =~ ^docs/ ]] && exit 2; exit 0',
    'F=$(jq -r .tool_input.file_path); [ "$F" = banned.txt ] && exit 2; exit 0',
    'F=$(jq -r .x); [ "${F#src/generated/}" != "$F" ] && exit 2; exit 0',
    'for p in src/generated banned.txt; do case "$F" in *$p*) exit 2;; esac; done',
    "sed 's|src/generated|x|' | grep -q x && exit 2; exit 0",
    // Anthropic's own example
    `python3 -c "import json, sys; p=json.load(sys.stdin).get('tool_input',{}).get('file_path',''); sys.exit(2 if any(x in p for x in ['banned.txt', 'package.json', 'src/generated/']) else 0)"`,
    `node -e "const p=JSON.parse(fs.readFileSync(0)).x; if (/docs\\/rules.md|package.json/.test(p)) process.exit(2)"`,
    'bun "$CLAUDE_PROJECT_DIR/gate.ts"; python3 -m black test',
    'p=scripts/check.sh; sh "$CLAUDE_PROJECT_DIR/$p"',
    "awk '/src\\/generated/ { exit 2 }'",
    'npm test || exit 2',
    'npm run build; make -C "$CLAUDE_PROJECT_DIR" test; git stash; cargo test; carabiner hook test; hooks-tool run test',
    '"$CLAUDE_PROJECT_DIR"/gate test; node "$CLAUDE_PROJECT_DIR"/gate build',
    'PYTHONPATH="$CLAUDE_PROJECT_DIR" python3 -m checks.gate || true',
    'PATH="$CLAUDE_PROJECT_DIR/scripts:$PATH"; check.sh || true',
    '# reads scripts/check.sh\nexit 0',
    'jq -c . >> logs/out.jsonl; exit 0',
    'echo "$(date) src/generated" >> logs/out.txt; exit 0',
    'sh tools/lint.sh; cat own.txt; true',
    'find . -path ./src/generated -prune -o -name package.json -print | grep -q . && exit 2; exit 0',
    'curl -s https://example.com/docs/rules.md; true',
    'git log origin/main..HEAD; git commit -m "src/generated"; true',
    'NODE_ENV=test MODE=build "$CLAUDE_PROJECT_DIR"/gate; true',
    'command -v test >/dev/null || exit 0; exit 2',
    '"${CLAUDE_PROJECT_DIR:-.}"/scripts/check.sh || true',
    'D="${CLAUDE_PROJECT_DIR:-$PWD}"; sh "$D/scripts/check.sh" || true',
  ])('%s', (line) => expect(started(line)).toBe('as it is'))
})

describe('however a path is wrapped', () => {
  const PATHS = ['scripts/check.sh', './scripts/check.sh', 'banned.txt', 'scripts/lib/a b.sh', 'gate']
  const quotings: readonly ((path: string) => string)[] = [
    (path) => path.replaceAll(' ', '\\ '),
    (path) => `'${path}'`,
    (path) => `"${path}"`,
    (path) => `${path.slice(0, 2)}'${path.slice(2)}'`,
    (path) => `${path.slice(0, 3)}*${path.slice(4).replaceAll(' ', '?')}`,
    (path) => `${path.slice(0, 3)}[${path[3]}]${path.slice(4).replaceAll(' ', '?')}`,
    (path) => `${path.slice(0, 2)}{${path.slice(2).replaceAll(' ', '?')},zz}`,
    (path) => `$'${path}'`,
  ]
  const readings: readonly ((word: string) => string)[] = [
    (word) => `S=${word}; [ -e "$S" ] || exit 0; sh "$S"`,
    (word) => `cat ${word} 2>/dev/null | sh`,
    (word) => `eval "$(cat ${word} 2>/dev/null)"`,
    (word) => `for f in ${word}; do [ -e "$f" ] && sh "$f"; done`,
    (word) => `. ${word} 2>/dev/null`,
    (word) => `sh < ${word}`,
    (word) => `test -e ${word} && sh ${word}`,
    (word) => `[[ -r ${word} ]] && exit 2`,
    (word) => `xargs -n1 sh < ${word}`,
  ]
  const wrappings: readonly ((line: string) => string)[] = [
    (line) => line,
    (line) => `${line}; true`,
    (line) => `( ${line} ) 2>/dev/null || true`,
    (line) => `{ ${line}; }; exit 0`,
    (line) => `if true; then ${line}; fi; :`,
    (line) => `f() { ${line}; }; f; true`,
    (line) => `x=$(${line}); test "$x" != no`,
    (line) => `sh -c '${line.replaceAll("'", `'\\''`)}'; true`,
    (line) => `env timeout 9 bash -c '${line.replaceAll("'", `'\\''`)}' || true`,
    (line) => `sh <<'E'\n${line}\nE\ntrue`,
    (line) => `case x in x) ${line};; esac; true`,
  ]

  it('a line runs in the project, and never passes in silence below it', () => {
    const wrapped = fc.array(fc.constantFrom(...wrappings), { maxLength: 3 })
    const inputs = [
      fc.constantFrom(...PATHS),
      fc.constantFrom(...quotings),
      fc.constantFrom(...readings),
    ] as const
    fc.assert(
      fc.property(...inputs, wrapped, (path, quote, read, wraps) => {
        const isPattern = /[[*{]/.test(quote(path))
        // The shell expands nothing in an assignment, or in [[ ]].
        fc.pre(!isPattern || !/^S=|\[\[/.test(read('')))
        const line = wraps.reduce((inner, wrap) => wrap(inner), read(quote(path)))
        expect(started(line, project)).toBe('as it is')
        expect(started(line)).toMatch(/^closed: /)
        // A pattern is told as it is written.
        if (!isPattern) expect(started(line).replace(' ./', ' ')).toBe(`closed: ${path.replace('./', '')}`)
      }),
      { numRuns: runs(1000) },
    )
  })
})
