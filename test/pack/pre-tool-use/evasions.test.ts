// Ways around a guard that others have found, or that are easy to think of: none of them goes through without a word.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the shell's own

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isLarge } from '../../property/runs.js'
import { commandsIn, GuardedProject, verdictOf } from './guarded-project.js'

const project = new GuardedProject()
const DIFF = '--- a/.claude/settings.json\n+++ b/.claude/settings.json\n@@ -1 +1 @@\n-x\n+y\n'
beforeAll(() => {
  project.git('feature')
  project.file('.claude/settings.json', '{}')
  project.file('.claude/hooks/guard.sh')
  project.file('bad.patch', DIFF)
  project.file('good.patch', DIFF.replaceAll('.claude/settings.json', 'src/a.ts'))
})
afterAll(() => project.remove())

it.each(
  commandsIn(String.raw`
GIT_EDITOR='rm -rf .claude' git commit
EDITOR="sh -c 'rm -rf .'" git rebase -i HEAD~2
git -c core.pager='rm -rf .claude' log
git -c core.sshCommand='rm -rf .' fetch
git -c core.fsmonitor='rm .claude/settings.json' status
git rebase --exec 'rm -rf .claude' HEAD~2
git rebase -x 'git commit --amend --no-verify' HEAD~2
git bisect run rm -rf .claude
git submodule foreach 'rm -rf ../.claude'
git filter-branch --tree-filter 'rm -rf .claude' HEAD
git config core.editor 'rm -rf .claude'
npm exec -c 'rm -rf .claude'
tmux send-keys 'rm -rf .claude' Enter
bash <<EOF⏎rm -rf .claude⏎EOF
bash <<'EOF'⏎cd .claude⏎rm settings.json⏎EOF
trap 'rm -rf .claude' EXIT
(cd .claude; exec rm settings.json)
cd .claude &&⏎echo x > settings.json
tee >(cat > .claude/settings.json) < x
echo x >&.claude/settings.json
exec 3<>.claude/settings.json
busybox rm -rf .claude
env --split-string='rm -rf .claude'
python3 -c "import shutil; shutil.rmtree('.')"
node -e "require('fs').rmSync('..', {recursive:true})"
git stash push .claude/settings.json
git apply bad.patch
git apply < bad.patch
patch -p1 < bad.patch
patch -p1 -i bad.patch
git am bad.patch
git apply <<'EOF'⏎--- a/.claude/settings.json⏎+++ b/.claude/settings.json⏎EOF
cd .claude && wget https://example.com/settings.json
cd .claude && curl -O https://example.com/settings.json?x=1
cd .claude && tar xf ../x.tar
echo x > .claude/settings.json.
echo x > .clau‌de/settings.json
if cd .claude; then echo x > settings.json; fi
while cd .claude; do rm settings.json; break; done
for d in .claude; do (cd "$d" && rm settings.json); done
case x in x) rm -rf .claude;; esac
! rm -rf .claude
time rm -rf .claude
coproc rm -rf .claude
[[ -n $(rm -rf .claude) ]]
x=$(rm -rf .claude)
echo "${'${x:-$(rm -rf .claude)}'}"
rm -rf .claude # harmless
rm -rf .claude;#
for x in .claude/settings.json a; do cp bad.patch $x; done
for x in .claude/settings.json a; do curl -o $x https://example.com; done
printf '%s\n' .claude/settings.json a | xargs -I{} cp bad.patch {}
echo hi;rm -rf .claude
echo hi&rm -rf .claude
systemd-run rm -rf .claude
`),
)('%s', async (command) => {
  expect(await project.verdict(command)).toBe('deny')
})

it.each(
  commandsIn(`
echo x > '.claude/settings.json::$DATA'
CDPATH=.claude cd hooks && rm guard.sh
curl -o new.patch https://example.org/x; git apply new.patch
sed '1e rm x' file
awk 'BEGIN { system("rm x") }'
printf 'rm -rf .claude' | sh
echo cm0= | base64 -d | sh
xargs rm < list
git config include.path x
`),
)('a person decides: %s', async (command) => {
  expect(await project.verdict(command)).toBe('ask')
})

it.each(
  commandsIn(`
git apply good.patch
patch -p1 < good.patch
git apply --check bad.patch
GIT_EDITOR=true git rebase --continue
git bisect run npm test
PAGER=cat git log
npm run build -- --define "a b"
`),
)('nothing to say: %s', async (command) => {
  expect(await project.reason(command)).toBe('')
})

/** What grows with the square of the input would take longer than any test may. */
describe.runIf(isLarge)('in time', () => {
  it.each([
    ['many words', `rm ${Array.from({ length: 3000 }, (_, i) => `a${i}`).join(' ')}`],
    [
      'many words in many folders',
      `${Array.from({ length: 20 }, (_, i) => `cd d${i};`).join('')} rm ${'a '.repeat(4000)}`,
    ],
    ['many stars', `rm ${'*/*/* '.repeat(900)}`],
    ['many variables', `x=a; rm ${'$x'.repeat(3000)}`],
    ['many braces', `rm ${'{a,b}'.repeat(250)}`],
    ['many blanks', `sed '${' '.repeat(9000)}w' x`],
    ['many lines', `sed '${'\n'.repeat(9000)}w' x`],
    ['much code', `perl -e '${'while '.repeat(1500)}'`],
    ['many texts in code', `python3 -c '${'"a" '.repeat(2300)}'`],
    ['many command lines', `sometool '${'rm -rf x;'.repeat(1000)}'`],
    ['many loops', `${'for x in a b; do '.repeat(100)} cd ..; ${'done; '.repeat(100)}`],
  ])('%s', async (_, command) => {
    expect(['none', 'ask', 'deny']).toContain(await project.verdict(command))
  })

  it('a long patch', async () => {
    const patch = `diff --git ${'a/ b/ '.repeat(200_000)}\n${'*** Add File: x\n'.repeat(100_000)}*** Delete File: .claude/settings.json`
    expect(verdictOf(await project.tool('apply_patch', { input: patch }))).toBe('deny')
  })
})

describe('input that nobody would send', () => {
  it.each([
    ['Bash', { command: 7 }],
    ['Bash', { command: null, x: 1 }],
    ['Bash', { command: { a: 1 } }],
    ['Bash', { command: [1, 2] }],
    ['Write', { file_path: 7, content: 'x' }],
    ['Write', { file_path: ['.claude/settings.json'] }],
    ['Edit', [1, 2]],
    ['__proto__', { path: '.claude/settings.json' }],
  ])('%s %j is asked about or denied', async (tool, input) => {
    expect(verdictOf(await project.tool(tool, input))).not.toBe('none')
  })

  it.each([
    ['', {}],
    ['Bash', null],
    ['Bash', []],
    ['Bash', { command: '' }],
    ['Read', 7],
  ])('%s %j is nothing', async (tool, input) => {
    const answer = await project.tool(tool || 'x', input)
    expect(['none', 'ask']).toContain(verdictOf(answer))
  })
})
