// Hooks, settings of agents and Carabiner's own files: read, not changed, whichever way somebody tries.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the shell's own

import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { projectPlaces } from '../../../src/hosts/setup.js'
import { allSetups } from '../../../src/hosts/setups.js'
import { commandsIn, GuardedProject, verdictOf } from './guarded-project.js'

const project = new GuardedProject()
beforeAll(() => {
  project.git('feature')
  project.file('.claude/settings.json', '{}')
  project.file('.claude/hooks/guard.sh')
  project.file('.amplifier/hooks/hooks.json', '{}')
  project.file('.github/hooks/a.json', '{}')
  project.file('evil/settings.json', '{}')
  project.file('evil/hooks/x.sh', '')
  project.file('tree/.claude/settings.json', '{}')
  project.run('ln', ['-s', '.claude', 'inner'])
  project.run('ln', ['-s', 'inner/settings.json', 'innocent.json'])
  project.run('ln', ['-s', project.root, 'out'])
  project.run('mkdir', ['-p', `${project.data}/trust`])
})
afterAll(() => project.remove())

describe('through the shell', () => {
  it.each(
    commandsIn(String.raw`
echo x > .claude/settings.json
echo x >> .claude/settings.local.json
echo x >| .claude/settings.json
echo x &> .claude/settings.json
: > .claude/settings.json
> .claude/settings.json
>.claude/settings.json
exec 3> .claude/settings.json
{ echo x; } > .claude/settings.json
(echo x) > .claude/settings.json
while true; do echo x; break; done > .claude/settings.json
cat <<EOF > .claude/settings.json
cat > .amplifier/hooks/new/hooks.json <<< x
echo x > ./.claude/settings.json
echo x > .claude/../.claude/settings.json
echo x > src/../.claude/settings.json
echo x > .claude//settings.json
echo x > .CLAUDE/Settings.json
echo x > ".claude/settings.json"
echo x > .cl"aude"/settings.json
echo x > .claude/settings\.json
echo x > $'.claude/settings.json'
echo x > ~/.claude/settings.json
echo x > $HOME/.claude/settings.json
echo x > "$PWD/.claude/settings.json"
echo x > "$(pwd)/.claude/settings.json"
echo x > inner/settings.json
echo x > innocent.json
mkdir new; echo x > new/../inner/settings.json
ln -s src l; echo x > l/../inner/settings.json
echo x > out/home/proj/.claude/settings.json
cd .claude && echo x > settings.json
cd .claude; echo x > settings.json
cd inner && echo x > settings.json
pushd .claude && touch settings.json
cd src && echo x > ../.claude/settings.json
(cd .claude && rm settings.json)
cd .claude/hooks && rm guard.sh
F=.claude/settings.json; echo x > $F
F=settings; echo x > ".claude/$F.json"
for f in .claude/settings.json; do rm "$f"; done
tee .claude/settings.json < x
echo x | tee -a .claude/settings.json
touch .claude/settings.json
truncate -s 0 .claude/settings.json
rm .claude/settings.json
rm -rf .claude
rm -rf .claude/
rm -rf .claude/hooks
rm -rf .claude/*
rm -rf .c*
rm .c*/s*.json
rm .claude/hooks/*.sh
rm -rf .cl{aude,x}
rm -rf .amplifier
rm -rf .github
unlink .claude/settings.json
shred -u .claude/settings.json
mv .claude .claude.old
mv .claude/settings.json /tmp
mv /tmp/x .claude/settings.json
mv /tmp/settings.json .claude
mv /tmp/settings.json .claude/
mv -t .claude /tmp/settings.json
mv evil .gemini
cp /tmp/x .claude/settings.json
cp /tmp/settings.json .claude
cp -t .claude /tmp/settings.json
cp --target-directory=.claude /tmp/settings.json
cp -r evil .codex
cp -r tree/.claude .
cp -l .claude/settings.json x
install -m 644 x .claude/settings.json
ln -s /tmp/x .claude/settings.json
ln -sf /tmp/x .claude/hooks
ln -s .claude x
ln -s / root
ln .claude/settings.json x
ln -s ../.claude src/x
rsync -a /tmp/x/ .claude/hooks/
rsync x .claude/settings.json
chmod 000 .claude
chmod -x .claude/hooks/guard.sh
chmod -R a-r .claude
chown nobody .claude/settings.json
chattr +i .claude/settings.json
sed -i s/a/b/ .claude/settings.json
sed -i.bak -e s/a/b/ .claude/settings.json
sed -ni p .claude/settings.json
sed --in-place s/a/b/ .claude/settings.json
sed 'w .claude/settings.json' x
sed -n 's/a/b/w .claude/settings.json' x
dd if=x of=.claude/settings.json
sort -o .claude/settings.json x
curl -o .claude/settings.json https://example.com
curl --output .claude/settings.json https://example.com
wget -O .claude/settings.json https://example.com
wget -P .claude/hooks https://example.com
tar -xf x.tar -C .claude/hooks
tar xf x.tar .claude/settings.json
unzip x.zip -d .claude/hooks
vim -c wq .claude/settings.json
ed .claude/settings.json
git checkout -- .claude/settings.json
git checkout HEAD~1 .claude/settings.json
git restore .claude/settings.json
git rm .claude/settings.json
git rm -r .claude
git mv .claude x
git mv x .claude/settings.json
git -C src checkout -- ../.claude/settings.json
git clean -fdx .claude
git worktree add .claude/hooks/x
find .claude -delete
find . -name settings.json -delete
find . -name '*.json' -delete
find .claude -name '*.sh' -exec rm {} \;
find . -name guard.sh -exec sed -i s/a/b/ {} +
find .claude -name settings.json | xargs rm
echo .claude/settings.json | xargs rm
printf '.claude/settings.json\n' | xargs rm -f
echo .claude/settings.json | xargs -I{} cp /tmp/x {}
find . -fprint .claude/settings.json
sudo rm .claude/settings.json
env X=1 rm .claude/settings.json
env -C .claude rm settings.json
sudo --chdir=.claude rm settings.json
sh -c 'rm .claude/settings.json'
bash -c 'cd .claude && rm settings.json'
eval 'rm .claude/settings.json'
eval cd .claude && rm settings.json
echo "$(rm .claude/settings.json)"
f() { rm "$1"; }; f x; rm .claude/settings.json
apply_patch <<< '*** Update File: .claude/settings.json'
mkdir .claude/hooks/new
mkdir -p .cursor/hooks
patch .claude/settings.json < x.diff
shopt -s dotglob; rm -rf */settings.json
rm .codex/config.toml
touch .codex/hooks.json
touch .gemini/settings.json
touch .cursor/hooks.json
touch .qwen/settings.json
touch .github/copilot/settings.json
touch .windsurf/hooks.json
touch .factory/hooks.json
touch .clinerules/hooks/PreToolUse
touch .kiro/hooks/a.json
touch .openhands/hooks.json
touch opencode.json
touch crush.json
touch sub/folder/.claude/settings.json
awk '{ print > ".claude/settings.json" }' x
ln -s out/home/proj l && cd l && sort -o inner/settings.json x
`),
  )('%s', async (command) => {
    expect(await project.reason(command)).toMatch(
      /The rule guard\/(?:own-settings|settings-changed|delete-\w+) forbids/,
    )
    expect(await project.verdict(command)).toBe('deny')
  })

  it.each(
    commandsIn(`
python3 -c "open('.claude/settings.json','w').write('x')"
python3 -c 'import os; os.remove(os.path.join(".claude", "settings.json"))'
node -e "require('fs').rmSync('.claude', {recursive: true})"
perl -e 'unlink ".claude/settings.json"'
perl -pi -e s/a/b/ .claude/settings.json
ruby -e 'File.delete(".claude/settings.json")'
python3 - <<< "open('.claude/settings.json','w')"
echo "open('.claude/settings.json','w')" | python3
sometool --out .claude/settings.json
sometool --out=.claude/settings.json
sometool -o.claude/settings.json
npx prettier --write .claude/settings.json
cp -r evil/. .claude
cp -r evil/* .claude/
cp -r tree/. .
rsync -a tree/ .
ln -s ~ h
ln -s .. up
grep -rl x . | xargs sed -i s/a/b/
git ls-files | xargs sed -i s/a/b/
f() { rm "$1"; }; f .claude/settings.json
g() { rm "$@"; }; g .claude/settings.json
`),
  )('a person decides: %s', async (command) => {
    expect(await project.verdict(command)).toBe('ask')
  })

  it("Carabiner's own folders, and what the user names", async () => {
    expect(await project.verdict(`rm -rf ${project.data}`)).toBe('deny')
    expect(await project.verdict(`touch ${project.data}/trust/x`)).toBe('deny')
    expect(await project.verdict('touch out/carabiner/trust/x')).toBe('deny')
    expect(await project.verdict(`rm -rf ${project.data}/state`)).toBe('deny')
    expect(await project.verdict(`ls ${project.data}`)).toBe('none')
    const settings = { protect: ['secrets', '~/keys'] }
    expect(await project.verdict('touch secrets/x', { settings })).toBe('deny')
    expect(await project.verdict('rm ~/keys', { settings })).toBe('deny')
    expect(await project.verdict('touch secrets/x')).toBe('none')
  })

  it('the backup that `carabiner remove` made', async () => {
    const backup = `${project.data}-backup-20261116-101010`
    project.run('mkdir', ['-p', `${backup}/data/trust`])
    project.run('touch', [`${backup}/restore.sh`])
    for (const command of [
      `echo x >> ${backup}/restore.sh`,
      `cp src/a.ts ${backup}/data/trust/x`,
      `rm -rf ${backup}`,
      `rm -rf ${project.data}-b*`,
      `mv ${backup} /tmp/x`,
      `mkdir -p ${project.data}-backup-20991231-235959`,
      `sh ${backup}/restore.sh`,
      `sh ${project.data}-backup-*/restore.sh`,
      `sh -x ${project.data}-b*/re*.sh`,
      `${backup}/restore.sh`,
      `. ${backup}/restore.sh`,
      `cd ${backup} && sh restore.sh`,
      `cd ${backup} && sh ./Restore.sh`,
      `bash -c 'sh ${backup}/restore.sh'`,
      `sudo sh ${backup}/restore.sh`,
    ])
      expect([command, await project.verdict(command)]).toEqual([command, 'deny'])
    for (const command of [
      `cat ${backup}/restore.sh`,
      `ls -la ${project.data}-backup-*`,
      `grep -r x ${backup}`,
      'sh restore.sh',
    ])
      expect([command, await project.verdict(command)]).toEqual([command, 'none'])
  })

  it('is off if the user says so', async () => {
    const settings = { selfProtection: false }
    expect(await project.verdict('touch .claude/settings.json', { settings })).toBe('none')
    expect(await project.verdict('echo x > .claude/settings.json', { settings })).toBe('none')
  })
})

describe('through file tools', () => {
  const SETTINGS = '.claude/settings.json'
  const PATCH = `*** Begin Patch\n*** Update File: ${SETTINGS}\n@@\n-a\n+b\n*** End Patch`

  it.each([
    ['Write', { file_path: SETTINGS, content: 'x' }],
    ['Edit', { file_path: SETTINGS, old_string: 'a', new_string: 'b' }],
    ['MultiEdit', { file_path: SETTINGS, edits: [] }],
    ['NotebookEdit', { notebook_path: '.claude/hooks/x.ipynb', new_source: '' }],
    ['write_file', { file_path: SETTINGS, content: '' }],
    ['replace', { file_path: SETTINGS, old_string: 'a', new_string: 'b' }],
    ['create', { path: SETTINGS, file_text: '' }],
    ['str_replace_editor', { command: 'create', path: SETTINGS, file_text: '' }],
    ['str_replace_based_edit_tool', { command: 'insert', path: SETTINGS }],
    ['edit_file', { target_file: SETTINGS }],
    ['search_replace', { file_path: SETTINGS }],
    ['replace_in_file', { path: SETTINGS, diff: '' }],
    ['write_to_file', { path: SETTINGS, content: '' }],
    ['create_file', { filePath: SETTINGS, content: '' }],
    ['insert_edit_into_file', { filePath: SETTINGS }],
    ['delete_file', { path: SETTINGS }],
    ['Delete', { path: '.claude' }],
    ['move_file', { source: '/tmp/x', destination: SETTINGS }],
    ['move_file', { source: '.claude', destination: '/tmp/x' }],
    ['rename', { old_path: '.claude', new_path: 'x' }],
    ['fs_write', { command: 'create', path: SETTINGS, file_text: '' }],
    ['mcp__filesystem__write_file', { path: SETTINGS, content: '' }],
    ['MCP:write_file', { path: SETTINGS }],
    ['mcp__filesystem__move_file', { source: '.claude/hooks', destination: 'x' }],
    ['multi_edit', { edits: [{ file_path: SETTINGS }] }],
    ['write_files', { files: [{ path: 'ok' }, { path: SETTINGS }] }],
    ['delete_files', { paths: ['ok', SETTINGS] }],
    ['apply_patch', { command: PATCH }],
    ['apply_patch', { input: PATCH }],
    ['apply_patch', JSON.stringify(PATCH)],
    ['ApplyPatch', { patch: `--- a/${SETTINGS}\n+++ b/${SETTINGS}\n@@` }],
    ['apply_patch', { patch: `*** Add File: x\n*** Move to: ${SETTINGS}` }],
    ['apply_patch', { patch: `diff --git a/x b/${SETTINGS}\nrename from x\nrename to ${SETTINGS}` }],
    ['apply_patch', { changes: { [SETTINGS]: { update: {} } } }],
    ['Write', { file_path: './src/../.claude/settings.json' }],
    ['Write', { file_path: 'innocent.json' }],
    ['Write', { file_path: 'inner/settings.local.json' }],
    ['Write', { file_path: '~/.claude/settings.json' }],
    ['Write', { file_path: '.CLAUDE/SETTINGS.JSON' }],
    ['Write', { file_path: '.claude\\settings.json' }],
    ['Write', { file_path: 'file:///home/u/.claude/settings.json' }],
    ['Write', '{"file_path": ".claude/settings.json"}'],
    ['Write', { file_path: '.amplifier/pack.json' }],
    ['Write', { file_path: '.amplifier/hooks/hooks.json' }],
  ])('%s %j', async (tool, input) => {
    const answer = await project.tool(tool, input)
    expect(verdictOf(answer)).toBe('deny')
    expect(answer?.reason).toMatch(/The rule guard\/(?:own-settings|settings-changed) forbids/)
  })

  it.each([
    ['Read', { file_path: SETTINGS }],
    ['read_file', { path: SETTINGS }],
    ['view', { path: SETTINGS }],
    ['Grep', { pattern: 'x', path: '.claude' }],
    ['Glob', { pattern: '**/*', path: '.claude' }],
    ['str_replace_editor', { command: 'view', path: SETTINGS }],
    ['mcp__filesystem__read_text_file', { path: SETTINGS }],
    ['list_directory', { path: '.claude/hooks' }],
    ['Write', { file_path: 'src/app.ts', content: SETTINGS }],
    ['Write', { file_path: '.claude/commands/x.md', content: '' }],
    ['Edit', { file_path: 'README.md', old_string: SETTINGS, new_string: 'x' }],
    [
      'apply_patch',
      { command: '*** Begin Patch\n*** Add File: a.txt\n+.claude/settings.json\n*** End Patch' },
    ],
    ['TodoWrite', { todos: [{ content: 'write .claude/settings.json' }] }],
    ['Task', { prompt: `edit ${SETTINGS}` }],
    ['WebFetch', { url: 'https://example.com/.claude/settings.json', prompt: 'x' }],
    ['Bash', {}],
    ['Write', {}],
    ['mcp__memory__create_entities', { entities: [{ name: 'x' }] }],
  ])('nothing to say: %s %j', async (tool, input) => {
    expect(await project.tool(tool, input)).toBeUndefined()
  })

  it.each([
    ['frobnicate', { path: SETTINGS }],
    ['Write', { nothing: 'here' }],
    ['apply_patch', { text: 'no patch' }],
    ['Bash', { description: 'no command' }],
    ['powershell', { command: 'Get-ChildItem | Remove-Item' }],
  ])('a person decides: %s %j', async (tool, input) => {
    expect(verdictOf(await project.tool(tool, input))).toBe('ask')
  })

  it('a folder that must stay is not deleted by a tool either', async () => {
    expect(verdictOf(await project.tool('delete_directory', { path: '.' }))).toBe('deny')
    expect(verdictOf(await project.tool('delete_directory', { path: project.home }))).toBe('deny')
    expect(verdictOf(await project.tool('delete_directory', { path: 'build' }))).toBe('none')
  })
})

describe('any spelling of the shell tool', () => {
  const command = 'rm -rf .claude'
  it.each([
    ['Bash', { command }],
    ['bash', { command }],
    ['shell', { command }],
    ['shell', { command: ['bash', '-lc', command] }],
    ['shell', { command: ['rm', '-rf', '.claude'] }],
    ['Shell', { command }],
    ['run_shell_command', { command }],
    ['execute_command', { command }],
    ['local_shell', { command: ['rm', '-rf', '.claude'] }],
    ['exec_command', { cmd: command }],
    ['functions.exec_command', { cmd: command }],
    ['terminal', { command }],
    ['run_terminal_cmd', { command }],
    ['runTerminalCommand', { command }],
    ['run_in_terminal', { command }],
    ['execute_bash', { command }],
    ['Execute', { command }],
    ['developer__shell', { command }],
    ['mcp__shell__run', { command }],
    ['run_commands', { commands: ['ls', command] }],
    ['run_commands', { commands: JSON.stringify(['ls', command]) }],
    ['run_commands', { commands: [{ command }] }],
    ['bash', { script: command }],
    ['write_stdin', { chars: `${command}\n` }],
    ['Monitor', { command }],
    ['SomethingElse', { command }],
    ['Bash', JSON.stringify({ command })],
    ['powershell', { command }],
    ['run_shell_command', { command: 'rm -rf settings.json', directory: '.claude' }],
    ['exec_command', { cmd: 'rm settings.json', workdir: join('src', '..', '.claude') }],
  ])('%s %j', async (tool, input) => {
    expect(verdictOf(await project.tool(tool, input))).toBe('deny')
  })
})

describe('what it leaves behind', () => {
  it('one record of metrics for a call, without the command', async () => {
    project.records.length = 0
    await project.tool('Bash', { command: 'rm -rf .claude' })
    await project.tool('Read', { file_path: 'x' })
    expect(project.records.map(({ log, record }) => [log, record.tool, record.verdict, record.rule])).toEqual(
      [
        ['metrics', 'Bash', 'deny', 'guard/settings-changed'],
        ['metrics', 'Read', 'none', undefined],
      ],
    )
    expect(JSON.stringify(project.records)).not.toContain('rm -rf')
  })

  it('a reason that says what, which rule, and what to do', async () => {
    expect(await project.reason('rm -rf .claude')).toBe(
      [
        'Agents may read this, but not change it. Tell the user what to change, and let them do it.',
        `The rule guard/settings-changed forbids this: the call would change the settings of claude-code (${project.folder}/.claude) (rm -rf .claude).`,
        '(The owner of this machine can change the rule by its id in ~/.amplifier/rules.json.)',
      ].join(' '),
    )
  })
})

describe('every agent', async () => {
  const setups = await allSetups()
  const write = async (path: string, env?: NodeJS.ProcessEnv) =>
    verdictOf(await project.tool('Write', { file_path: path, content: 'x' }, { ...(env && { env }) }))

  it.each(setups.map((known) => [known.host.name, known.setup] as const))(
    'keeps what setup writes for it: %s',
    async (_, setup) => {
      const user = setup.files.map(({ name }) => join(project.home, setup.folder, name))
      const own = (projectPlaces(setup, project.folder) ?? []).map(({ path }) => path)
      const files = [...user, ...own]
      expect(files.length).toBeGreaterThan(0)
      for (const file of files) expect([file, await write(file)]).toEqual([file, 'deny'])
    },
  )

  it.each(setups.flatMap(({ host, setup }) => (setup.variable ? [[host, setup] as const] : [])))(
    'keeps it where a variable has moved it: $name',
    async (host, setup) => {
      const { variable = '', isVariableHome, files } = setup
      if (!isVariableHome) expect(host.moved).toEqual({ variable, folder: setup.folder })
      const folder = join(project.root, 'moved')
      const at = isVariableHome ? join(folder, setup.folder) : folder
      for (const { name } of files) expect(await write(join(at, name), { [variable]: folder })).toBe('deny')
      expect(await write(join(folder, 'notes.md'), { [variable]: folder })).toBe('none')
    },
  )
})
