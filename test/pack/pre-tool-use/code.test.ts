// Code in other languages, and command lines that stand in words which some program may run.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the shell's own

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { commandsIn, GuardedProject } from './guarded-project.js'

const project = new GuardedProject()
beforeAll(() => project.addSettings())
afterAll(() => project.remove())

describe('code', () => {
  it.each(
    commandsIn(`
python3 -c "import shutil; shutil.rmtree(path='..')"
python3 -c "import shutil; shutil.rmtree(r'..')"
python3 -c "import shutil,pathlib; shutil.rmtree(pathlib.Path('..'))"
python3 -c "import shutil,pathlib; shutil.rmtree(pathlib.Path('.').resolve().parent)"
python3 -c "import os; os.rename('../proj','/tmp/x')"
python3 -c "import os; os.system('rm ' + '-rf ' + '..')"
python3 -c "import os; os.system('r''m -rf ..')"
perl -e 'unlink glob "*"'
ruby -rfileutils -e 'FileUtils.remove_dir("..")'
Rscript -e 'unlink("..", recursive=TRUE)'
elixir -e 'File.rm_rf!("..")'
racket -e '(delete-directory/files "..")'
swift -e 'import Foundation; try FileManager.default.removeItem(atPath: "..")'
osascript -e 'do shell script "rm -rf .."'
ghc -e 'System.Process.system "rm -rf .."'
erl -noshell -eval 'os:cmd("rm -rf .."), halt().'
emacs --batch --eval '(delete-directory ".." t)'
emacs -Q --batch --eval '(shell-command "rm -rf ..")'
ocaml -e 'Sys.command "rm -rf .."'
clojure -e '(clojure.java.shell/sh "rm" "-rf" "..")'
python3 -mtimeit "__import__('os').system('rm -rf ..')"
python3 -m timeit "__import__('os').system('rm -rf ..')"
ipython -c 'import shutil; shutil.rmtree("..")'
php -B 'system("rm -rf ..");' < /dev/null
python3 -c "import shutil; shutil.rmtree('''..''')"
python3 -c "import shutil; shutil.rmtree(f'..')"
node -e "fs.rmSync('/tmp/../home',{recursive:true})"
node -e "child_process.execSync('rm -rf '+'..')"
deno eval "new Deno.Command('rm',{args:['-rf','..']}).outputSync()"
crystal eval 'FileUtils.rm_rf("..")'
nim --eval:'removeDir("..")'
R -e 'unlink("..",recursive=T)'
octave --eval 'rmdir("..","s")'
octave --eval 'system("rm -rf ..")'
sage -c 'import shutil; shutil.rmtree("..")'
ruby -rfileutils -e 'FileUtils.rm_rf(Dir.glob("*"))'
python3 -c "from pathlib import Path; [p.unlink() for p in Path('.').rglob('*') if p.is_file()]"
python3 -c "import shutil,sys; shutil.rmtree(sys.argv[1])" ..
node -e "fs.rmSync(process.argv[1],{recursive:true})" ..
perl -MFile::Path -e 'rmtree(shift)' ..
php -r 'array_map("unlink", glob("*"));'
node -e "fs.rmSync(require('os').homedir(),{recursive:true})"
`),
  )('denied: %s', async (command) => {
    expect(await project.verdict(command)).toBe('deny')
  })

  it.each(
    commandsIn(String.raw`
python3 -c "import shutil; p='..'; shutil.rmtree(p)"
python3 -c "from shutil import rmtree as r; r('..')"
python3 -c "import shutil; [shutil.rmtree(x) for x in ['.']]"
python3 -c "import os; [os.remove(f) for f in os.listdir('.')]"
python3 -c "open('.cla'+'ude/settings.json','w')"
python3 -c "open('.cla' 'ude/settings.json','w')"
python3 -c "open('\x2eclaude/settings.json','w')"
python3 -c "open('.claude/set\164ings.json','w')"
node -e "fs.rmSync(require('path').resolve('.'), {recursive:true})"
node -e "const p='..'; fs.rmSync(p,{recursive:true})"
node -e "fs.rmSync(path.join(__dirname,'..'),{recursive:true})"
node -e "fs.writeFileSync('.clau\u0064e/settings.json','')"
perl -e 'qx(rm -rf ..)'
perl -e 'qx{rm -rf ..}'
perl -e 'system qw(rm -rf ..)'
perl -e 'unlink <*>'
ruby -e '%x(rm -rf ..)'
tclsh <<< 'file delete -force ..'
tclsh <<< 'exec rm -rf ..'
groovy -e 'new File("..").deleteDir()'
python3 -c "import shutil; getattr(shutil,'rmtree')('..')"
python3 -c "import shutil; getattr(shutil,'rm'+'tree')('..')"
python3 -c "import shutil; f=shutil.rmtree; f('..')"
python3 -c "import shutil; list(map(shutil.rmtree,['..']))"
python3 -c "from os import *; [remove(f) for f in listdir('.')]"
python3 -c "from os import unlink as u,listdir as l; [u(f) for f in l('.')]"
python3 -c "import shutil; shutil.rmtree('{}'.format('..'))"
python3 -c "import shutil; shutil.rmtree('%s' % '..')"
python3 -c "import shutil; shutil.rmtree(''.join(['.','.']))"
python3 -c "import shutil; shutil.rmtree(chr(46)*2)"
python3 -c "import shutil; shutil.rmtree(os.pardir)"
python3 -c "import shutil,os; shutil.rmtree(os.curdir)"
python3 -c "import shutil; shutil.rmtree(input())" <<< ..
python3 -c "import shutil,os; shutil.rmtree(os.environ['X'])"
X=.. python3 -c "import shutil,os; shutil.rmtree(os.environ['X'])"
node -e "fs['rmSync']('..',{recursive:true})"
node -e "fs['rm'+'Sync']('..',{recursive:true})"
node -e "const {rmSync:r}=fs; r('..',{recursive:true})"
node -e "fs.readdirSync('.').forEach(f=>fs.rmSync(f,{recursive:true}))"
node -e "for (const f of fs.readdirSync('.')) fs.rmSync(f,{recursive:true})"
node -e "fs.rmSync(path.dirname(process.cwd()),{recursive:true})"
node -e "import('data:text/javascript,...')"
perl -e 'use File::Find; finddepth(sub{unlink},".")'
perl -e 'opendir D,"."; unlink readdir D'
ruby -e 'Dir["*"].each{|f| File.delete(f)}'
ruby -e 'require "pathname"; Pathname.new("..").rmtree'
dart -e 'Directory("..").deleteSync(recursive:true)'
kotlinc -e 'java.io.File("..").deleteRecursively()'
scala -e 'import sys.process._; "rm -rf ..".!'
gnuplot -e 'system "rm -rf .."'
maxima --batch-string='system("rm -rf ..");'
puppet apply -e 'exec {"/bin/rm -rf ..":}'
nix eval --expr 'builtins.exec ["rm" "-rf" ".."]'
bpftrace -e 'BEGIN { system("rm -rf .."); }'
dc -e '!rm -rf ..'
bc <<< '!rm -rf ..'
ftp <<< '!rm -rf ..'
telnet <<< '!rm -rf ..'
sftp h <<< '!rm -rf ..'
mail -s x y <<< '~!rm -rf ..'
mutt -e '!rm -rf ..'
tig -c '!rm -rf ..'
python3 -c "import os; c='rm -rf'; os.system(c+' ..')"
python3 -c "import os; os.system(f'rm -rf {\"..\"}')"
python3 -c "exec(''.join(map(chr,[114,109])))"
python3 -c "exec(bytes([114,109]))"
perl -e 'eval reverse "x"'
`),
  )('a person decides: %s', async (command) => {
    expect(await project.verdict(command)).toBe('ask')
  })
})

describe('ordinary code', () => {
  it.each(
    commandsIn(String.raw`
python3 - <<'EOF'⏎import os, re⏎path = 'src/a.ts'⏎s = open(path).read()⏎s = s.replace("'rm'", "'mv'")⏎open(path, 'w').write(s)⏎EOF
python3 - <<'EOF'⏎lines = open('src/a.ts').read().split('/')⏎lines.remove('x')⏎print('.'.join(lines))⏎EOF
python3 - <<'EOF'⏎import glob, os⏎for f in glob.glob('*.pyc'):⏎    os.remove(f)⏎EOF
python3 - <<'EOF'⏎import json⏎d = json.load(open('package.json'))⏎d['scripts']['clean'] = 'rm -rf dist'⏎json.dump(d, open('package.json', 'w'), indent=2)⏎EOF
python3 -c "import os; print(os.listdir('.'))"
python3 -c "import os; os.rename('a.txt','b.txt')"
python3 -c "import sys; sys.path.insert(0,'..'); from x import y; print(y)"
python3 -c "import urllib.request as u; print(u.urlopen('https://x.y/z').read()[:10])"
python3 -c "x={'a':1}; x.pop('a'); print('.' * 10)"
python3 -c "print('a' 'b')"
python3 -c "import re; print(re.sub(r'\d+', '', 'a1'))"
node -e "const m=new Map(); m.delete('/'); console.log([...'a/b'.split('/')])"
node -e "document.querySelector('.').remove()"
node -e "const s=new Set(['.']); s.delete('.'); console.log(s)"
node -e "require('fs').unlinkSync('x.txt')"
node -e "const fs=require('fs'); const p=JSON.parse(fs.readFileSync('package.json')); p.scripts.clean='rm -rf dist'; fs.writeFileSync('package.json', JSON.stringify(p,null,2))"
node -e "const {execFileSync}=require('child_process'); execFileSync('git',['commit','-m','x'])"
node -e "setInterval(()=>{}, 1000); while(false){}"
node -e "for (const x of [1,2]) console.log(x)"
ruby -e 'puts "a/b".delete("/")'
perl -e 'print join "/", map { chr } 65..70'
perl -pi -e 's{rm -rf dist}{rimraf dist}' package.json
awk '{print $1 "-" $2}' f
sqlite3 x.db "insert into cmds values ('git status')"
psql -c "select * from files where path like '/tmp/%'"
psql -f migrations/001.sql
mysql app < dump.sql
gdb -batch -ex 'info files' ./a.out
vim -c 'wq' src/a.ts
vim -es -c '%s/a/b/g' -c 'wq' src/a.ts
nvim --headless -c 'TSUpdate' -c q
ex -s src/a.ts <<< $'%s/a/b/\nx'
printf '%s\n' 'g/a/d' w q | ed -s src/a.ts
emacs --batch --eval '(print 1)'
ipython -c 'print(1)'
pwsh -c 'Get-ChildItem'
swift build -c release
ghc -e 'print 1'
`),
  )('nothing to say: %s', async (command) => {
    expect(await project.reason(command)).toBe('')
  })
})

describe('lines in words', () => {
  it.each(
    commandsIn(`
script -q /dev/null rm -rf ..
npx trash-cli ..
npx rimraf@5 ..
make SHELL='rm -rf ..'
cmake -E remove_directory ..
FCEDIT='rm -rf ..' fc
scp h:settings.json .claude/
`),
  )('denied: %s', async (command) => {
    expect(await project.verdict(command)).toBe('deny')
  })

  it.each(
    commandsIn(`
expect -c 'spawn rm -rf ..'
expect -c 'system rm -rf ..'
capsh -- -c 'rm -rf ..'
sg root 'rm -rf ..'
sg root -c 'rm -rf ..'
go generate -run 'rm -rf ..'
go test -exec 'rm -rf ..' ./...
go build -toolexec 'rm -rf ..' ./...
man -P 'rm -rf ..' ls
man --pager='rm -rf ..' ls
less '+!rm -rf ..' x
fc -e 'rm -rf ..'
zip x.zip y -T -TT 'rm -rf ..'
zip x.zip y -T --unzip-command 'rm -rf ..'
split --filter='rm -rf ..' x
rpm --eval '%(rm -rf ..)'
rpm -E '%{lua:os.execute("rm -rf ..")}'
wget --directory-prefix=.claude u
socat u EXEC:'rm -rf ..'
socat - EXEC:'rm -rf ..'
socat u OPEN:.claude/settings.json
socat FILE:x CREATE:.claude/settings.json
nc -e 'rm -rf ..' h 1
ncat --sh-exec 'rm -rf ..' h 1
ncat -c 'rm -rf ..' h 1
`),
  )('a person decides: %s', async (command) => {
    expect(await project.verdict(command)).toBe('ask')
  })
})

describe('ordinary words', () => {
  it.each(
    commandsIn(`
make run CMD="rm -rf dist && ls"
npx concurrently "rm -rf dist" "tsc -w"
nodemon --exec "rm -rf dist && npm run build"
npx onchange 'src/**/*.ts' -- npm run build
watchexec -e ts "npm test"
pytest -k "test_rm or test_mv"
jest -t "git commit works"
claude -p "explain git rebase"
say "rm done"
notify-send "tar finished" "all done"
osascript -e 'display notification "git push done"'
jira create --summary "mv files to new folder"
slack send "cp src to dist"
psql -c "insert into log values ('rm -rf dist')"
crontab -l
go test -run 'TestGit commit' ./...
mix run -e 'IO.puts "git tag"'
zip -r x.zip src -x "*.git*"
split --filter='gzip > $FILE.gz' x
man -k "copy files"
less "+/rm -rf" file.sh
http POST localhost/x cmd="rm -rf dist"
alias ll='ls -la'; ll src
alias gs='git status'⏎gs
alias rm='rm -i'; rm a.txt
hash -r
`),
  )('nothing to say: %s', async (command) => {
    expect(await project.reason(command)).toBe('')
  })
})

describe('a command that a program of the tables surely runs', () => {
  it.each([
    'sqlite3 x.db ".shell rm -rf .."',
    "sqlite3 x.db '.system rm -rf ..'",
    "sqlite3 x.db <<< '.shell rm -rf ..'",
    "psql -c '\\! rm -rf ..'",
    "mysql -e 'system rm -rf ..'",
    "gdb -batch -ex 'shell rm -rf ..'",
    "gdb -batch -ex '!rm -rf ..'",
    "ansible localhost -m shell -a 'rm -rf ..'",
    "salt-call --local cmd.run 'rm -rf ..'",
    "scp -o ProxyCommand='rm -rf ..' a h:b",
    "sftp -o ProxyCommand='rm -rf ..' h",
    'rsync -e \'sh -c "rm -rf .."\' a h:b',
    "rsync --rsh='rm -rf ..' a h:b",
    "rsync -a --rsync-path='rm -rf ..' a h:b",
  ])('is refused like the command itself: %s', async (command) => {
    expect(await project.verdict(command)).toBe('deny')
  })
})
