// What git, managers of hooks and tools of their own must not do, and what they may.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the shell's own

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { commandsIn, GuardedProject, verdictOf } from './guarded-project.js'

const project = new GuardedProject()
const onMain = new GuardedProject()
beforeAll(() => {
  project.git('feature')
  onMain.git('main')
  project.file('.claude/settings.json', '{}')
  project.file('.claude/hooks/guard.sh')
  project.file('src/a.ts')
  project.file('evil/settings.json', '{}')
  project.file('tree/.claude/settings.json', '{}')
})
afterAll(() => {
  project.remove()
  onMain.remove()
})

describe('git', () => {
  it.each(
    commandsIn(`
git config alias.ci 'commit -n'
git rm -rf '*'
git rm -rf :/
git rm -rf ':(top)'
git checkout HEAD~1 -- ':(glob)**/settings.json'
git checkout HEAD~1 -- '*settings.json'
git clean -fdx :/
git -c clean.requireForce=false clean -dx
git worktree remove --force .
git worktree remove -f ../proj
git bisect run sh -c 'rm -rf ..'
hub commit --no-verify
GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.x GIT_CONFIG_VALUE_0='!rm -rf ..' git x
`),
  )('denied: %s', async (command) => {
    expect(await project.verdict(command)).toBe('deny')
  })

  it.each(
    commandsIn(`
git --exec-path=/tmp/x commit -m y
git config --edit
git config --remove-section core
git config --rename-section core x
git -c protocol.ext.allow=always clone 'ext::sh -c "rm -rf .."' x
git clone --config core.fsmonitor='rm -rf ..' u x
git clone --upload-pack='rm -rf ..' u x
git fetch --upload-pack='rm -rf ..' u
git ls-remote --upload-pack='rm -rf ..' u
git push --receive-pack='rm -rf ..' u
git grep --open-files-in-pager='rm -rf ..' x
git grep -O'rm -rf ..' x
git init --separate-git-dir=.claude/hooks/x
git checkout-index -f --prefix=.claude/ settings.json
git send-email --sendmail-cmd='rm -rf ..' x
pre-commit uninstall
husky uninstall
npx husky uninstall
lefthook uninstall
npx lefthook uninstall
rm -rf .husky
rm .husky/pre-commit
echo > .husky/pre-commit
chmod -x .husky/pre-commit
`),
  )('a person decides: %s', async (command) => {
    expect(await project.verdict(command)).toBe('ask')
  })

  it.each(
    commandsIn(String.raw`
git fetch origin main:main
git fetch origin '+refs/pull/*:refs/remotes/pr/*'
git push origin HEAD:refs/heads/topic
git config --edit-nothing || true
git config alias.ci commit
git config alias.lg "log --oneline --graph"
git config alias.undo 'reset --soft HEAD~1'
git branch -m old new
git rm -r '*.orig'
git clean -ndx
git clone --depth 1 "https://x.y/z.git" /tmp/z
git worktree prune
git bundle create /tmp/x.bundle HEAD
git ls-remote --heads origin
git log --grep='rm -rf ..'
git log -S'rm -rf ..'
git grep -n 'rm -rf \.\.'
git tag -m "rm -rf .." v2
git notes add -m "git commit --no-verify"
git merge feature-x -m "Merge rm -rf .."
git stash push -m "rm -rf .."
git add .husky/pre-commit
cat .husky/pre-commit
npx husky init
pre-commit install
pre-commit run --all-files
lefthook install
`),
  )('nothing to say: %s', async (command) => {
    expect(await project.reason(command)).toBe('')
  })
})

describe('on a protected branch', () => {
  it.each(
    commandsIn(`
git pull origin feature
git pull --rebase origin feature
git rebase feature
git branch -m feature main
git branch -C feature main
git checkout -B main feature
git switch -C main feature
git fetch . feature:main
git fetch origin +feature:main
git push . feature:main
git push origin +refs/heads/*:refs/heads/*
git ci -m x
hub commit -m x
git rebase -i HEAD~2
git filter-branch -f HEAD
git fast-import < x
git subtree add --prefix=x u main
git subtree merge --prefix=x y
git citool
`),
  )('denied: %s', async (command) => {
    expect(await onMain.verdict(command)).toBe('deny')
  })

  it.each(
    commandsIn(`
git reset --hard feature
echo x > .git/refs/heads/main
cp .git/refs/heads/feature .git/refs/heads/main
echo 'ref: refs/heads/main' > .git/HEAD
rm .git/refs/heads/main
`),
  )('a person decides: %s', async (command) => {
    expect(await onMain.verdict(command)).toBe('ask')
  })

  it.each(
    commandsIn(`
git status
git pull
git pull origin main
git pull --rebase origin main
git pull --ff-only
git reset HEAD src/a.ts
git rebase origin/main
git rebase --continue
git stash && git pull && git stash pop
git checkout -b topic && git commit -am x && git push -u origin topic
git switch -c topic
git checkout feature
git fetch origin main:main
git push origin main
git tag -a v1 -m x
git branch -m topic topic2
git st
git co feature
git lg -5
git lfs pull
git notes add -m x
git stash push -m x
git log -m
git show -m
git push -u origin main
git remote update
git submodule update
git cherry -v
git blame -m src/a.ts
git describe --match 'v*'
git worktree add ../wt -b wt
git merge-base main feature
`),
  )('nothing to say: %s', async (command) => {
    expect(await onMain.reason(command)).toBe('')
  })
})

describe('tools', () => {
  it.each([
    ['apply_patch', { input: '*** Begin Patch\n*** Update File:.claude/settings.json\n*** End Patch' }],
    ['apply_patch', { input: '*** Begin Patch\n*** Rename File: .claude/settings.json\n*** End Patch' }],
    ['Write', { file_path: ' .claude/settings.json' }],
    ['Write', { file_path: '.claude/settings.json\u0000' }],
    ['Write', { file_path: '.claude/settings.json\u0000.txt' }],
    ['Write', { file_path: "'.claude/settings.json'" }],
    ['Write', { file_path: '".claude/settings.json"' }],
    ['Write', { file_path: '%2eclaude/settings.json' }],
    ['Write', { file_path: 'file:.claude/settings.json' }],
    ['Write', { file_path: '.claude/\u017fettings.json' }],
    ['createDirectory', { dirPath: '.claude/hooks/x' }],
    ['mcp__jetbrains__create_new_file_with_text', { pathInProject: '.claude/settings.json', text: 'x' }],
    ['mcp__jetbrains__replace_text_in_file', { pathInProject: '.claude/settings.json' }],
    ['mcp__x__download', { url: 'u', savePath: '.claude/settings.json' }],
    ['ctx_execute', { language: 'shell', code: 'rm -rf ..' }],
    ['ctx_execute', { language: 'javascript', code: "fs.rmSync('..',{recursive:true})" }],
    ['js', { code: "fs.rmSync('..',{recursive:true})" }],
    ['notebook_execute', { source: '!rm -rf ..' }],
    ['mcp__ide__executeCode', { code: '!rm -rf ..' }],
    ['mcp__ide__executeCode', { code: '%%bash\nrm -rf ..' }],
    ['python', { code: '!rm -rf ..' }],
    ['trash', { path: '..' }],
    ['mcp__fs__move_file', { source: '.', destination: '/tmp/x' }],
  ])('denied: %s %j', async (tool, input) => {
    expect(verdictOf(await project.tool(tool, input))).toBe('deny')
  })

  it.each([
    ['Write', { file_path: 'src/profile.ts', content: 'x', profile: '.claude/x' }],
    ['mcp__x__create_note', { title: 'a', file_text: 'carabiner trust' }],
    ['mcp__playwright__browser_run_code', { code: "await page.goto('https://x.y')" }],
    ['mcp__db__execute_sql', { query: 'select 1' }],
    ['mcp__x__run_tests', { path: 'test/a.test.ts' }],
    ['execute_code', { language: 'python', code: "import os\nfor r,d,f in os.walk('.'):\n  print(r)" }],
    ['NotebookEdit', { notebook_path: 'a.ipynb', new_source: '!ls' }],
    ['mcp__ide__executeCode', { code: '!ls -la\nimport os' }],
    ['rename_file', { oldPath: 'src/a.ts', newPath: 'src/b.ts' }],
    ['move_file', { source: 'src/a.ts', destination: '.' }],
    ['copy_file', { source: '.', destination: '/tmp/x' }],
    ['Write', { file_path: 'docs/100%25.md', content: 'x' }],
    ['Write', { file_path: 'src/a b.ts', content: 'x' }],
    ['Grep', { pattern: 'carabiner trust', path: '.' }],
    ['Task', { prompt: 'run rm -rf ..', description: 'x' }],
    ['Skill', { skill: 'review' }],
  ])('nothing to say: %s %j', async (tool, input) => {
    expect(await project.tool(tool, input)).toBeUndefined()
  })

  it('a commit by a tool of git is one', async () => {
    const commit = (where: GuardedProject, more = {}) =>
      where.tool('mcp__git__git_commit', { repo_path: where.folder, message: 'x', ...more })
    expect(verdictOf(await commit(project))).toBe('none')
    expect(verdictOf(await commit(onMain))).toBe('deny')
    expect(verdictOf(await commit(project, { no_verify: true }))).toBe('deny')
  })

  it('the project is not moved away', async () => {
    const move = (source: string, destination: string) => project.tool('move_file', { source, destination })
    expect(verdictOf(await move(project.folder, '/tmp/x'))).toBe('deny')
    expect(verdictOf(await move('src/a.ts', '.'))).toBe('none')
  })
})
