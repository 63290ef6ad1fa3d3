// What people and agents do all day must pass: a guard that stands in the way is switched off.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the shell's own

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { GuardedProject } from './guarded-project.js'

const ORDINARY = String.raw`
ls
ls -la
ls -la .claude
cat .claude/settings.json
cat .claude/settings.json | jq .hooks
jq . .claude/settings.json
grep -n hooks .claude/settings.json
head -20 .amplifier/hooks/hooks.json
diff .claude/settings.json /tmp/other.json
cp .claude/settings.json /tmp/settings.backup.json
wc -l .claude/hooks/*.sh
find .claude -type f
ls ~/.claude/hooks
python3 -m json.tool .claude/settings.json
cat .claude/settings.json | python3 -m json.tool
cat .claude/settings.json | python3 -c "import json,sys; print(json.load(sys.stdin))"
bash .claude/hooks/check.sh
python3 .claude/hooks/check.py
test -f .claude/settings.json && echo there
[ -f .amplifier/hooks/hooks.json ] || echo none
echo "see .claude/settings.json"
touch .claude/commands/review.md
mkdir -p .claude/agents
git add .claude/settings.json
git diff .claude/settings.json
git log --oneline -- .claude/settings.json
git status
git status --short
git diff
git diff --stat HEAD~1
git log --oneline -5
git show HEAD:README.md
git add -A
git add .
git commit -m "Add a thing"
git commit -am "Do not use --no-verify"
git commit -m "no -n here" --allow-empty
git commit -m "$(cat <<'EOF'
A subject

A body with .claude/settings.json in it
EOF
)"
git checkout -b feature/y
git checkout feature
git switch -c other
git stash
git stash pop
git push
git push origin feature
git push -u origin HEAD
git push -n
git pull --rebase
git fetch --all --prune
git merge origin/main
git merge -n feature
git rebase main
git cherry-pick -n abc123
git reset HEAD src/app.ts
git clean -n
git branch -d old
git tag v1.0.0
git worktree add ../wt -b wt
git config user.name
git config core.hooksPath
git config --get core.hooksPath
git rm src/old.ts
git mv src/a.ts src/b.ts
git -C ../other status
git --no-pager log -3
git blame src/app.ts
git rev-parse --abbrev-ref HEAD
git clone https://example.com/x.git /tmp/x
git init /tmp/fresh
npm test
npm run build
npm ci
npm install --save-dev vitest
npm run lint -- --fix
npx vitest run test/a.test.ts
npx tsc --noEmit
npx prettier --write src
pnpm install
yarn add react
node script.js
node -e "console.log(1)"
node -p "process.version"
node --test
python3 script.py
python3 -c "print(1)"
python3 -m pytest -q
python3 - <<'EOF'
print(1)
EOF
pip install -r requirements.txt
pytest -k name
make
make test
make -j8 all
cmake -B build -S .
cargo build --release
cargo test
go build ./...
go test ./...
mvn -q package
docker build -t app .
docker compose up -d
docker run --rm -v "$PWD":/app app npm test
kubectl get pods
terraform plan
gh pr create --title "Guard" --body "Protects .claude/settings.json and --no-verify"
gh pr view 12
curl -s https://example.com
curl -fsSL https://example.com/a.json -o /tmp/a.json
curl -s https://example.com | jq .name
wget -q https://example.com/a.tgz
wget -O /tmp/a.tgz https://example.com/a.tgz
rm file.txt
rm -f file.txt
rm src/a.ts src/b.ts
rm -rf node_modules
rm -rf node_modules package-lock.json
rm -rf dist build coverage
rm -rf ./build
rm -rf ./build/*
rm -rf build/*
rm -rf dist/*.js
rm -rf /tmp/some-dir
rm -rf /tmp/a/*
rm -rf ../sibling/dist
rm -rf src/**/__pycache__
rm -rf */node_modules
rm *.log
rm -f src/*.orig
rm -rf "$HOME/.cache/app"
rm -rf ~/.cache/app
rm -rf "$(mktemp -d)"
D=$(mktemp -d) && cd "$D" && touch a && rm -rf "$D"
OUT=dist; rm -rf "$OUT"
for d in a b c; do rm -rf "$d/node_modules"; done
for f in src/*.ts; do sed -i 's/a/b/' "$f"; done
for i in 1 2 3; do echo "$i" > "out-$i.txt"; done
while read -r line; do echo "$line"; done < list.txt
cd build && rm -rf *
cd build && rm -rf ./* && cmake ..
(cd build && rm -rf *)
cd build || exit 1; rm -rf *
cd src && ls
cd src && npm test && cd ..
pushd src && make && popd
rmdir empty
mv a.txt b.txt
mv src/a.ts src/lib/
mv *.log logs/
cp a b
cp -r src /tmp/backup
cp -r templates/. src/
cp *.json /tmp
ln -s ../shared/config.json config.json
ln -sf /usr/bin/python3 bin/python
mkdir -p src/new/folder
touch src/new.ts
chmod +x script.sh
chmod -R u+w node_modules
chmod 644 src/*.ts
sed -i 's/foo/bar/g' src/app.ts
sed -i.bak -e 's/a/b/' file
sed -n '1,20p' file
sed 's/a/b/w out.txt' file
perl -pi -e 's/a/b/' src/app.ts
awk '{print $1}' file
awk -F: '{ print $1 > "out.txt" }' file
echo hi > out.txt
echo hi >> log.txt
echo hi >/dev/null 2>&1
npm test 2>&1 | tee test.log
npm test > /tmp/out.log 2>&1
cat > src/new.ts <<'EOF'
export const a = 1
EOF
cat <<EOF > notes.md
hello $USER
EOF
find . -name '*.tmp' -delete
find src -name '*.orig' -delete
find . -name __pycache__ -type d -exec rm -rf {} +
find . -name node_modules -prune -exec rm -rf {} +
find . -type d -empty -delete
find . -name '*.ts' -exec grep -l foo {} \;
find . -name '*.pyc' | xargs rm -f
find . -name '*.ts' -print0 | xargs -0 sed -i 's/a/b/'
find /tmp/x -mtime +7 -delete
find . \( -name '*.a' -o -name '*.b' \) -delete
find . -path ./node_modules -prune -o -name '*.tmp' -delete
grep -rl foo src | xargs sed -i 's/foo/bar/g'
grep -rn "rm -rf /" docs
rg -l foo src
echo "rm -rf /"
printf '%s\n' "dd if=/dev/zero of=/dev/sda"
ps aux | grep node | awk '{print $2}' | xargs kill
kill $(pgrep -f server)
pkill -f vite
sleep 1
date +%F
echo $((1+2))
echo "\$HOME"
echo "{a,b}"
export NODE_ENV=test && npm test
NODE_ENV=production npm run build
env NODE_ENV=test npm test
bash -c 'npm test'
sh -c "cd src && ls"
time npm test
timeout 60 npm test
nohup npm start > server.log 2>&1 &
xargs -n1 echo < list.txt
source .venv/bin/activate
source venv/bin/activate && pip list
which node
tar czf /tmp/a.tgz src
tar xzf a.tgz
tar -xf a.tar -C /tmp/x
unzip -q a.zip -d /tmp/x
zip -r /tmp/a.zip src
dd if=/dev/zero of=disk.img bs=1M count=10
df -h
lsblk
fdisk -l
du -sh node_modules
rsync -a src/ /tmp/backup/
rsync -av --delete dist/ /tmp/www/
ssh host 'ls -la'
openssl rand -hex 16
if [ -d dist ]; then rm -rf dist; fi
[ -d dist ] && rm -rf dist
set -euo pipefail; npm ci; npm test
f() { echo "$1"; }; f a
walk() { for x in "$1"/*; do walk "$x"; done; }; walk src
true && false || echo x
echo a | tr a b | sort | uniq -c
diff <(ls a) <(ls b)
`

const commands = splitUp(ORDINARY)

/** One a line, but here-documents stay together. */
function splitUp(text: string): string[] {
  const found: string[] = []
  let current: string[] = []
  let open = false
  for (const line of text.trim().split('\n')) {
    current.push(line)
    if (line.includes('<<')) open = true
    if (open && (line === 'EOF' || line === ')"'))
      open = line === 'EOF' && current[0]?.includes('$(cat') === true
    if (!open) {
      found.push(current.join('\n'))
      current = []
    }
  }
  return found
}

describe('ordinary commands', () => {
  const project = new GuardedProject()
  beforeAll(() => {
    project.git('feature')
    project.file('.claude/settings.json', '{}')
    project.file('.claude/hooks/check.sh')
    project.file('.amplifier/hooks/hooks.json', '{}')
  })
  afterAll(() => project.remove())

  it('are more than two hundred', () => {
    expect(commands.length).toBeGreaterThan(200)
  })

  it.each(commands.map((command) => [command]))('%s', async (command) => {
    expect(await project.reason(command)).toBe('')
    expect(await project.verdict(command)).toBe('none')
  })
})
