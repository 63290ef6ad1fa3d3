// Calls of programs that run code or commands of their own: git, make, and other languages. `§` is a path.

import { lines } from './templates.js'

export const CODE = lines(String.raw`
  git add §
  git add -A
  git add . && git commit -qm x
  git commit -qam x
  git rm -q §
  git rm -rq --cached §
  git rm -rqf §
  git mv § §
  git mv a.txt new.txt
  git checkout -q -- §
  git checkout -q .
  git checkout -q topic
  git checkout -q -b new
  git checkout -q HEAD -- §
  git checkout -q topic -- b.txt
  git checkout -qf
  git restore §
  git restore --staged §
  git restore --source=HEAD~1 §
  git switch -q topic
  git switch -qc new
  git reset -q
  git reset -q --hard
  git reset -q --hard HEAD~1
  git reset -q --soft HEAD~1
  git stash -q
  git stash push -q §
  git stash -q && git stash pop -q
  git stash -qu
  git clean -qf
  git clean -qfd
  git clean -qfdx §
  git clean -qn
  git merge -q topic
  git merge -q --no-ff -m x topic
  git rebase -q topic
  git cherry-pick topic
  git revert --no-edit HEAD
  git apply change.diff
  git apply --check change.diff
  git apply -R change.diff
  git branch new
  git branch -D topic
  git tag new
  git show HEAD:§
  git show HEAD:a.txt > §
  git cat-file -p HEAD:a.txt
  git cat-file blob HEAD:§
  git archive -o new.tar HEAD
  git archive HEAD > §
  git archive --format=zip --output=new.zip HEAD a.txt
  git diff
  git diff §
  git diff HEAD~1 > §
  git diff --no-index § §
  git diff --output=§
  git log --oneline
  git log -p --output=new.log
  git status --short
  git grep -n hi
  git grep hi -- §
  git blame §
  git ls-files
  git hash-object §
  git hash-object -w §
  git format-patch -q -1
  git format-patch -q -1 -o §
  git format-patch -1 --stdout > §
  git bundle create -q new.bundle HEAD
  git worktree add -q ../tree
  git worktree add -q ../tree topic
  git init -q §
  git clone -q . §
  git clone -q . ../copy
  git clone -q --bare . new.git
  git -C dir status
  git -C dir rm -q x.txt
  git -C dir clean -qf
  git -c core.pager=cat log
  git config user.name x
  git config --file new.cfg a.b c
  git -c alias.x='!touch new' x
  git -c alias.x='checkout -q --' x a.txt
  git -c core.editor='touch new;' commit -q --amend
  git ls-files | xargs rm -f
  git ls-files -z | xargs -0 rm
  git ls-files '*.txt' | xargs rm
  git submodule -q foreach 'touch new'
  git bisect start -q
  git filter-branch -f --tree-filter 'rm -f a.txt' HEAD
  git checkout-index -q -f -a
  git checkout-index -q --prefix=new/ -a
  git read-tree -u --reset HEAD~1
  git sparse-checkout set dir
  git update-ref refs/heads/new HEAD
  git symbolic-ref HEAD refs/heads/topic
  git reflog expire --expire=now --all
  git gc -q --prune=now
  git notes add -m x
  git difftool -y -x cat
  git rev-parse --show-toplevel | xargs ls
  git checkout-ind -q -f -a
  git rese -q --hard
  git clea -qf
  git reset -q --har
  git clean -q --forc
  git rm -q --forc a.txt
  make
  make clean
  make -s new.txt
  make out OUT=§
  make -C dir -f ../Makefile new.txt
  make -n clean
  make -f Makefile copy
  make --file=Makefile each
  make clean copy
  make -j2 copy each
  make -B all
  make nested
  make -f - <<< $'x:\n\ttouch new'
  printf 'x:\n\trm -f a.txt\n' > m.mk; make -f m.mk x
  python3 -c 'import os; os.rename("a.txt", "new.txt")'
  python3 -c 'import os; os.mkdir("new")'
  python3 -c 'import os; os.makedirs("new/deep")'
  python3 -c 'import os; os.system("touch new")'
  python3 -c 'import os; [os.remove(f) for f in os.listdir(".") if f.endswith(".txt")]'
  python3 -c 'import shutil; shutil.copy("a.txt", "new.txt")'
  python3 -c 'import shutil; shutil.copytree("dir", "new")'
  python3 -c 'import shutil; shutil.move("a.txt", "dir")'
  python3 -c 'from pathlib import Path; Path("a.txt").unlink()'
  python3 -c 'from pathlib import Path; Path("new.txt").write_text("x")'
  python3 -c 'from pathlib import Path; Path("new.txt").touch()'
  python3 -c 'from pathlib import Path; Path("a.txt").rename("new.txt")'
  python3 -c 'from pathlib import Path; print(Path("a.txt").read_text())'
  python3 -c 'import subprocess; subprocess.run(["rm", "a.txt"])'
  python3 -c 'import subprocess; subprocess.run("touch new", shell=True)'
  python3 -c 'import sys; open(sys.argv[1], "w").write("x")' §
  python3 -c 'import sys; print(open(sys.argv[1]).read())' §
  python3 -c 'import glob, os; [os.remove(f) for f in glob.glob("*.txt")]'
  python3 - <<'EOF'⏎open("new.txt", "a").write("x")⏎EOF⏎
  python3 <<'EOF'⏎import os⏎os.unlink("b.txt")⏎EOF⏎
  echo 'open("new.txt", "w")' | python3
  echo 'open("new.txt", "w")' > s.py; python3 s.py
  python3 -m json.tool § new.txt
  python3 -m zipfile -c new.zip a.txt
  python3 -m tarfile -c new.tar a.txt
  python3 -m base64 -e a.txt
  node -e 'require("fs").renameSync("a.txt", "new.txt")'
  node -e 'require("fs").copyFileSync("a.txt", "new.txt")'
  node -e 'require("fs").mkdirSync("new/deep", { recursive: true })'
  node -e 'require("fs").appendFileSync("b.txt", "x")'
  node -e 'require("fs").rmSync("dir", { recursive: true })'
  node -e 'fs.truncateSync("a.txt")'
  node -e 'fs.symlinkSync("a.txt", "new")'
  node -e 'fs.createWriteStream("new.txt").end("x")'
  node -e 'require("fs/promises").writeFile("new.txt", "x")'
  node -e 'require("fs/promises").unlink("a.txt")'
  node -e 'require("child_process").execSync("touch new")'
  node -e 'fs.writeFileSync(process.argv[1], "x")' §
  node -e 'for (const f of fs.readdirSync(".")) if (f.endsWith(".txt")) fs.unlinkSync(f)'
  node -p 'require("fs").readFileSync("b.txt", "utf8")'
  node <<'EOF'⏎require("fs").writeFileSync("new.txt", "x")⏎EOF⏎
  nodejs -e 'require("fs").unlinkSync("a.txt")'
  perl -e 'rename "a.txt", "new.txt"'
  perl -e 'mkdir "new"'
  perl -e 'unlink glob "*.txt"'
  perl -e 'system("touch new")'
  perl -e 'system("rm", "a.txt")'
  perl -e 'exec "rm", "a.txt"'
  perl -e 'print ${'`'}rm a.txt${'`'}'
  perl -e 'open(my $f, "<", "a.txt"); print <$f>'
  perl -e 'open(my $f, ">>", "b.txt"); print $f 1'
  perl -e 'symlink "a.txt", "new"'
  perl -e 'unlink @ARGV' §
  perl -ni -e 'print if /x/' §
  perl -i -pe 's/h/j/' § §
  perl -0777 -pi -e 's/h/j/' §
  perl -MFile::Copy -e 'copy("a.txt", "new.txt")'
  perl -MFile::Path=remove_tree -e 'remove_tree("dir")'
  perl <<'EOF'⏎unlink "a.txt"⏎EOF⏎
  tclsh <<< 'file delete a.txt'
  tclsh <<< 'set f [open new.txt w]; puts $f x; close $f'
  gmake clean
  gmake -s new.txt
  python3 -c 'import os; os.truncate("a.txt", 0)'
  node -e 'fs.cpSync("dir", "new", { recursive: true })'
  python3 -c 'import shutil; shutil.make_archive("new", "zip", "dir")'
  python3 -c 'import tarfile; tarfile.open("f.tar").extractall("empty")'
  python3 -c 'import zipfile; zipfile.ZipFile("f.zip").extractall()'
  node -e 'process.chdir("dir"); fs.writeFileSync("new.txt", "")'
  python3 -c 'import os; os.chdir("dir"); os.remove("x.txt")'
  perl -e 'chdir "dir"; unlink "x.txt"'
  python3 -c 'with open("new.txt", mode="w") as f: f.write("x")'
  python3 -c 'import pathlib; pathlib.Path("dir", "x.txt").unlink()'
  node -e 'fs.openSync("new.txt", "w")'
  python3 -c 'import os; os.open("new.txt", os.O_CREAT)'
  perl -e 'open F, ">new.txt"'
  npm --version
`)
