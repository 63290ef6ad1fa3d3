// Carabiner's own commands, and those of agents: an agent must not trust, approve or switch off for its user.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the shell's own

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { commandsIn, GuardedProject, verdictOf } from './guarded-project.js'

const project = new GuardedProject()
beforeAll(() => project.addSettings())
afterAll(() => project.remove())

describe('commands that decide for the user', () => {
  it.each(
    commandsIn(String.raw`
carabiner trust
carabiner trust --yes
carabiner trust --yes .
carabiner untrust .
carabiner untrust --all
carabiner setup claude-code --prune
carabiner approvals allow x
carabiner approvals --project . allow x
carabiner approvals --watch
carabiner approvals deny x
carabiner approvals $X
env -u CLAUDECODE carabiner approvals allow x --always
carabiner approvals revoke x
npx carabiner trust --yes
npx -y carabiner@latest trust --yes
npx --yes carabiner trust --yes
npm exec carabiner -- trust --yes
npm exec -- carabiner trust --yes
pnpm dlx carabiner trust --yes
pnpm exec carabiner trust --yes
yarn carabiner trust --yes
bunx carabiner trust --yes
node /usr/lib/node_modules/carabiner/dist/bin/carabiner.js trust --yes
node node_modules/carabiner/dist/bin/main.js trust --yes
node ./dist/bin/carabiner.js trust --yes
/usr/local/bin/carabiner trust --yes
./node_modules/.bin/carabiner trust --yes
node_modules/.bin/carabiner untrust x
sudo carabiner trust --yes
env X=1 carabiner trust --yes
yes | carabiner trust
echo y | carabiner trust
bash -c 'carabiner trust --yes'
C=trust; carabiner $C --yes
script -qc 'carabiner trust' /dev/null
python3 -c "import subprocess; subprocess.run(['carabiner','trust','--yes'])"
node -e "require('child_process').execSync('carabiner trust --yes')"
alias c=carabiner; c trust --yes
node -r ./x.js /usr/lib/node_modules/carabiner/dist/bin/carabiner.js trust --yes
find . -maxdepth 0 -exec carabiner trust --yes \;
echo trust --yes | xargs carabiner
carabiner --project . trust --yes
corepack pnpm exec carabiner trust
deno run -A npm:carabiner trust --yes
volta run carabiner trust --yes
nohup carabiner trust --yes &
~/.local/share/carabiner/bin/clip node carabiner.js trust --yes
clip /usr/bin/node /opt/carabiner.js setup claude-code --remove
clip carabiner approvals allow x
CARABINER trust
Carabiner trust --yes
npx carabiner@1.2.3 trust --yes
npx --package=carabiner carabiner trust --yes
npx -p carabiner -c 'carabiner trust --yes'
npm x carabiner trust --yes
npm exec --call 'carabiner trust --yes'
node $(which carabiner) trust --yes
node "$(npm root -g)/carabiner/dist/bin/carabiner.js" trust --yes
node -- node_modules/carabiner/dist/bin/carabiner.js trust --yes
node --no-warnings node_modules/.bin/carabiner trust --yes
cd node_modules/carabiner/dist/bin && node main.js trust --yes
cd node_modules/.bin && ./carabiner trust --yes
carabiner trust list
carabiner trust --yes list
carabiner trust -- --show
carabiner trust --yes -- --help
carabiner 'trust' "--yes"
carabiner tr""ust --yes
carabiner $'trust' --yes
carabiner {trust,--yes}
x=(trust --yes); carabiner "${'${'}x[@]}"
exec carabiner trust --yes
coproc carabiner trust --yes
(carabiner trust --yes)
echo | carabiner trust --yes 2>/dev/null
time carabiner trust --yes
timeout 5 carabiner trust --yes
setsid -w carabiner trust --yes
unbuffer carabiner trust
watch -n1 carabiner trust --yes
xargs carabiner trust <<< --yes
printf 'trust\n' | xargs carabiner
ruby -e 'system("carabiner trust --yes")'
perl -e 'exec "carabiner", "trust", "--yes"'
python3 -c "import os; os.system('npx carabiner trust --yes')"
python3 -c "import pty; pty.spawn(['carabiner','trust'])"
bun x carabiner trust --yes
bun run carabiner trust --yes
pnpm carabiner trust --yes
yarn dlx carabiner trust --yes
tmux send-keys 'carabiner trust --yes' Enter
docker exec x carabiner trust --yes
git config alias.t '!carabiner trust --yes'
git -c core.pager='carabiner trust --yes' log
env -S 'carabiner trust --yes'
sh -c 'exec carabiner trust --yes'
vim -c '!carabiner trust --yes' -c q
find . -name x -exec carabiner trust --yes {} +
carabiner trust --show=false --yes
./dist/bin/carabiner.js trust --yes
bash ./node_modules/.bin/carabiner trust --yes
trust=trust; carabiner ${'${'}trust}
carabiner fire trust; carabiner trust
carabiner list && carabiner trust --yes
carabiner install ./evil
carabiner install ./evil --yes
carabiner install ./evil --no-trust --here
carabiner uninstall guard
carabiner update --yes
carabiner update
carabiner disable guard --for 1h
carabiner migrate --write
carabiner migrate ./x --user --write
carabiner migrate --write --remove-source
carabiner migrate "$X"
carabiner setup claude-code --remove
carabiner setup claude-code --engine
carabiner remove --yes
npx carabiner remove --keep-state --yes
carabiner setup claude-code --only stop
carabiner setup claude-code --without=guard
carabiner hook stop --unlock
carabiner {list,install} ./evil --yes
carabiner {list,update} {--check,--yes}
env -u CLAUDECODE carabiner install ./evil --yes
CLAUDECODE= carabiner update --yes
env -u CLAUDECODE carabiner list
env -uCLAUDECODE carabiner fire PreToolUse
env --unset=CLAUDECODE carabiner list
env CLAUDECODE= carabiner list
CLAUDECODE='' carabiner doctor
export CLAUDECODE=; carabiner list
unset CLAUDECODE; carabiner list
export -n CLAUDECODE && npx carabiner list
unset CODEX_SANDBOX CODEX_THREAD_ID; node node_modules/carabiner/dist/bin/carabiner.js fire X
node $(which carabiner) install ./evil --yes
npx carabiner install ./evil --yes
`),
  )('denied: %s', async (command) => {
    expect(await project.verdict(command)).toBe('deny')
  })

  it.each(
    commandsIn(String.raw`
carabiner setup claude-code
carabiner setup claude-code --project
carabiner setup claude-code --with memory
carabiner enable guard
carabiner enable guard --user
carabiner catalog add ./evil
carabiner catalog remove official
carabiner new guard --lang bash
carabiner $(echo trust) --yes
carabiner "$X" --yes
expect -c 'spawn carabiner trust; send "y\r"'
CARABINER_OFF=1 claude -p x
carabiner "$@"
carabiner $*
f() { carabiner "$1" --yes; }; f trust
xargs -I{} carabiner {} --yes <<< trust
npm i carabiner@file:../x
CARABINER_OFF=1 bash -c 'claude -p x'
env CARABINER_OFF=1 claude -p x
export CARABINER_OFF=1; claude -p x
echo 'CARABINER_OFF=1' >> .env
printf 'export CARABINER_OFF=1\n' | tee -a ~/.bashrc
sed -i '1i export CARABINER_OFF=1' ~/.bashrc
launchctl setenv CARABINER_OFF 1
systemctl --user set-environment CARABINER_OFF=1
tmux setenv CARABINER_OFF 1
echo 'export CARABINER_PRE_TRUSTED=/tmp/list' >> ~/.profile
echo CARABINER_HOME=/tmp/x >> ~/.config/environment.d/x.conf
CARABINER_HOME=/tmp/x claude -p x
`),
  )('a person decides: %s', async (command) => {
    expect(await project.verdict(command)).toBe('ask')
  })
})

it.each([
  ['Write', { file_path: '~/.bashrc', content: 'export CARABINER_OFF=1' }],
  [
    'Edit',
    { file_path: '/home/me/.profile', old_string: 'a', new_string: 'export CARABINER_PRE_TRUSTED=/x' },
  ],
  ['Write', { file_path: '/home/me/.config/environment.d/x.conf', content: 'CARABINER_HOME=/x' }],
])('a person decides: %s %o', async (tool, input) => {
  expect(verdictOf(await project.tool(tool, input))).toBe('ask')
})

it('nothing to say of such a name in another file', async () => {
  const input = { file_path: 'docs/x.md', content: 'CARABINER_OFF=1 switches it off' }
  expect(await project.tool('Write', input)).toBeUndefined()
})

it('by a link to the program', async () => {
  const program = project.file('lib/carabiner/dist/bin/carabiner.js', '')
  project.run('ln', ['-s', program, 'c'])
  expect(await project.verdict('./c trust --yes')).toBe('deny')
  expect(await project.verdict('./c list')).toBe('none')
  expect(await project.verdict('node lib/carabiner/dist/bin/main.js trust')).toBe('deny')
})

it('not where self-protection is off', async () => {
  expect(await project.verdict('carabiner trust --yes', { settings: { selfProtection: false } })).toBe('none')
})

it.each(
  commandsIn(`
carabiner
carabiner list
carabiner explain PreToolUse --tool Bash
carabiner hook pre-tool-use < x.json
carabiner trust --show
carabiner trust --help
carabiner setup claude-code --dry-run
carabiner approvals
carabiner approvals list
carabiner approvals show k7f3-9qxd
carabiner approvals grants --project .
carabiner audit tail -n 5
carabiner doctor
carabiner fire PreToolUse --payload call.json
carabiner test
carabiner test update
carabiner schema hooks
carabiner completion bash
carabiner help install
carabiner install --help
carabiner update --check
carabiner migrate
carabiner migrate ./x --user
carabiner catalog
carabiner catalog search install
carabiner catalog update
carabiner setup claude-code --remove --dry-run
carabiner remove --dry-run
carabiner explain --hook disable
carabiner docs remove
carabiner docs setup
carabiner remove --keep-state --dry-run --json
make -C "$DIR" install
npm --prefix "$DIR" update
env -u CLAUDECODE npm test
unset CLAUDECODE; cd ../carabiner && ls
echo run carabiner trust --yes
grep carabiner trust.md
git commit -m "Explain carabiner trust --yes"
npm install -D carabiner
npm view carabiner version
npx some-cli trust
node cli.js trust --yes
node scripts/setup.js --remove
claude -p "hi" --output-format json
claude plugin list
grep -rn CARABINER_OFF docs
CARABINER_HOME=/tmp/x npm test
cat > docs/x.md <<< 'CARABINER_OFF=1 switches it off'
`),
)('nothing to say: %s', async (command) => {
  expect(await project.reason(command)).toBe('')
})
