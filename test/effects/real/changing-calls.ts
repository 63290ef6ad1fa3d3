// Calls of programs that change files. `§` is a path.

import { lines } from './templates.js'

export const CHANGES = lines(String.raw`
  rm -f §
  rm -rf §
  rm § §
  rm -r -- §
  rm -f --one-file-system -r §
  rmdir §
  rmdir -p §
  unlink §
  shred -u §
  shred -n 1 -u §
  shred -n1 §
  rm -rf § 2>/dev/null
  mv § §
  mv -f § §
  mv § § dir
  mv -t dir §
  mv --target-directory=dir § §
  mv -T § §
  mv -n § §
  mv -Z § §
  mv -v -u § §
  cp § §
  cp -r § §
  cp -a § §
  cp § § dir
  cp -t dir §
  cp --parents dir/x.txt empty
  cp -f § §
  cp -Z § §
  cp -p --no-clobber § §
  cp -rT § §
  cp -l § §
  cp -s § §
  cp -b § §
  cp -S .old -b § §
  cp --suffix=.old § §
  mv -b § §
  mv --backup=numbered § §
  ln -sb a.txt §
  ln -s § §
  ln -sf § §
  ln § §
  ln -f § §
  ln -s §
  ln -sfn § §
  ln -sr § §
  ln -t dir §
  link § §
  install -m 644 § §
  install -d §
  install -d -m 755 § §
  install § § dir
  install -D § §
  install -t dir §
  touch §
  touch § §
  touch -m §
  touch -r a.txt §
  touch -d 2021-01-01 §
  touch -t 202101010000 §
  touch -c §
  mkdir §
  mkdir -p §
  mkdir -m 700 §
  mkdir -p §/deep/er
  mkfifo §
  mknod § p
  truncate -s 0 §
  truncate --size=3 §
  truncate -r a.txt §
  truncate -o -s 1 §
  dd if=a.txt of=§ status=none
  dd of=§ if=/dev/null status=none
  dd if=§ of=§ bs=1 count=2
  sed -i 's/a/b/' §
  sed -i.bak 's/a/b/' §
  sed -i -E 's/(a)/b/' §
  sed --in-place=.old 's/a/b/' §
  sed -n -i p §
  sed -ni p §
  sed -i -e 1d -e 's/x/y/' § §
  sed 'w new.txt' §
  sed 's/h/j/w new' §
  sed -n '1w dir/new.txt' §
  perl -pi -e 's/a/b/' §
  perl -i.bak -pe 's/a/b/' §
  perl -e 'unlink "a.txt"'
  perl -e 'open(F, ">", "new.txt"); print F 1'
  python3 -c 'open("new.txt", "w").write("x")'
  python3 -c 'import os; os.remove("a.txt")'
  python3 -c 'import shutil; shutil.rmtree("dir")'
  node -e 'require("fs").rmSync("a.txt")'
  node -e 'require("fs").writeFileSync("new.txt", "x")'
  awk '{ print > "new.txt" }' §
  awk 'BEGIN { print "x" > "dir/new.txt" }'
  awk '{ print $1 }' § > §
  sort -o § §
  sort § -o §
  sort -n -o § §
  sort --output=§ §
  uniq § §
  uniq -c § §
  split -b 2 § part
  split -n 2 §
  split §
  split -l 1 -d § dir/part
  csplit -s § 1
  csplit -f part -s § 1
  tar cf new.tar §
  tar -czf § dir
  tar xf f.tar
  tar xf f.tar -C §
  tar -xf f.tar --directory=dir
  tar rf f.tar §
  tar cf new.tar --remove-files §
  tar -c -f new.tar -C dir x.txt
  tar cf - § | tar xf - -C empty
  gzip §
  gzip -k §
  gzip -c § > §
  gzip -S .zz §
  gzip -f -9 §
  gunzip z.gz
  gunzip -k z.gz
  gzip -d z.gz
  gzip -r dir
  xz §
  xz -k §
  bzip2 §
  bzip2 -k §
  zstd -q §
  zstd -q --rm §
  zip -q new.zip §
  zip -qr new.zip §
  zip -qm new.zip §
  zip -qr new §
  unzip -q f.zip
  unzip -q f.zip -d §
  unzip -qo f.zip
  ar r new.a §
  find dir | cpio -o > new.cpio
  find dir | cpio -pdm empty
  chmod 700 §
  chmod -R u+x §
  chmod u-w,u+x §
  chmod --reference=a.txt §
  ed -s § <<< $'1d\nw'
  printf '1d\nw\n' | ed -s §
  ex -sc '1d|x' §
  patch -s § < change.diff
  patch -s -p0 < change.diff
  patch -p1 -i change.diff
  xxd § §
  xxd -p § §
  base64 § > §
  openssl base64 -in § -out §
  diff § § > §
  curl -s -o § file://@/h.txt
  curl -s file://@/h.txt -O
  curl -s file://@/h.txt > §
  jq . § > §
  echo hi | tee §
  echo hi | tee -a § §
  echo hi | tee § > /dev/null
  echo hi > §
  echo hi >> §
  echo hi >| §
  : > §
  > §
  cat a.txt > § 2> §
  cat < a.txt > §
  ls &> §
  ls &>> §
  ls nope 2> §
  ls >& §
  exec 3> §
  exec 3<> §; echo hi >&3
  { echo a; echo b; } > §
  ( echo a ) >> §
  echo hi 1<> §
  cat > § <<EOF⏎hi⏎EOF⏎
  cat <<'EOF' >> §⏎$HOME⏎EOF⏎
  cat <<EOF | tee §⏎$(cat §)⏎EOF⏎
  cat <<< hi > §
  tee § <<-EOF⏎	hi⏎	EOF⏎
  printf '%s\n' hi > § > §
  find § -delete
  find . -name '*.txt' -delete
  find § -type f -delete
  find . -maxdepth 1 ! -name a.txt -delete
  find dir -name x.txt -o -name y.txt -delete
  find § -type f -exec rm {} \;
  find § -name "*.txt" -exec rm -f {} +
  find dir -type f -exec mv {} . \;
  find dir -type f -exec cp {} {}.bak \;
  find dir -type f -exec sh -c 'rm "$1"' _ {} \;
  find dir -type f -exec sh -c 'mv "$0" "$0.old"' {} \;
  find dir -execdir rm -f {} \;
  find dir -execdir touch new \;
  find . -maxdepth 1 -name '*.txt' -print0 | xargs -0 rm
  find dir -type f | xargs rm -f
  find § -type f -fprint §
  find § | sort | xargs rm -rf
  find dir -type f | while read -r f; do rm "$f"; done
  echo § | xargs rm -f
  printf '%s\n' § § | xargs rm -rf
  ls | xargs rm -f
  ls dir | xargs -I{} mv dir/{} .
  ls dir | xargs -I{} sh -c 'rm -rf dir/{}'
  echo a.txt | xargs -I% cp % §
  ls *.txt | xargs -n1 rm
  ls *.txt | xargs -n 1 -P 2 rm -f
  echo new | xargs mkdir -p
  echo new | xargs -t touch
  xargs rm -f <<< §
  xargs touch < list
  cat list | xargs rm -f
  xargs -a list rm -f
  xargs --arg-file=list rm -f
  grep -rl hi . | xargs rm -f
  grep -l hi *.txt | xargs sed -i 's/hi/ho/'
  cp -ruv § §
  cp --remove-destination § §
  cp --attributes-only § §
  cp -rL link §
  cp -rP link §
  cp -rH link §
  mv -i § §
  mv --suffix=.old -b § §
  ln -sv § §
  install -b § §
  install -C § §
  install -v -m 600 § §
  mkdir -pv new/{b,c}
  mktemp -p §
  mktemp -d new.XXXX
  mktemp new.XXXX
  fallocate -l 3 §
  chown 0 §
  chown -R 0:0 §
  chgrp 0 §
  chmod -R go-rwx § §
  chmod a-x,a+X §
  scp -q § §
  scp -q -r dir new
  scp -q -r dir ../copy
  iconv -f utf-8 -t latin1 -o § §
  iconv -f utf-8 -t latin1 § > §
  sdiff -s -o § § §
  ssh-keygen -q -t ed25519 -N '' -f new.key
  ssh-keygen -q -t ed25519 -N '' -f dir/new
  bzip2 § && bunzip2 §.bz2
  xz -k a.txt && unxz -f a.txt.xz
  zstd -q --rm a.txt && unzstd -q --rm a.txt.zst
  zstd -q -o § §
  xz -z -T 1 §
  gzip --suffix=.zz §
  gzip -dc z.gz > §
  gzip -N -d z.gz
  tar -cvzf new.tgz --exclude=x.txt §
  tar cf new.tar -T list
  tar --delete -f f.tar packed.txt
  tar uf f.tar §
  tar -C dir -xf ../f.tar
  tar -xf f.tar --strip-components=0 -C empty
  tar -xOf f.tar > §
  tar --create --file=§ §
  tar --extract --file f.tar --directory §
  tar xf f.tar --to-command='cat > new'
  tar cf new.tar --checkpoint=1 --checkpoint-action=exec='touch new' §
  tar cf /dev/null --use-compress-program='gzip' §
  tar -acf new.tar.gz §
  tar xf f.tar -O
  tar -rf new.tar § §
  zip -q -d f.zip packed.txt
  zip -qu new.zip §
  zip -qj new.zip dir/x.txt
  ls | zip -q new.zip -@
  zip -q -r - § > §
  unzip -qj f.zip
  unzip -q f.zip packed.txt -d empty
  unzip -p f.zip > §
  ar rc new.a § §
  find dir | cpio -o -O new.cpio
  find § -fprintf new.txt '%p'
  find § -fls new
  find . -mindepth 1 -delete
  find . -empty -delete
  find . -iname '*.TXT' -delete
  find . -regex '.*txt' -delete
  find . -path './dir/*' -delete
  find . -newer a.txt -delete
  find . -name dir -prune -o -name '*.txt' -delete
  find . -type f -size -9c -exec truncate -s 0 {} +
  find . -name a.txt -exec sh -c 'rm "$@"' _ {} +
  find . -name '*.txt' -exec mv -t empty {} +
  find -L dir -type f -delete
  find link/ -delete
  find dir -type f -execdir mv {} {}.x \;
  find . -type f -name 'a*' -exec sed -i 's/h/j/' {} \;
  find . -type l -delete
  find dir empty -type d -empty -delete
  find . -maxdepth 1 -type f -exec cp -t empty {} +
  find . -name x.txt -exec rm {} \; -exec touch new \;
  find dir -type f -print0 | xargs -0 -I{} cp {} empty
  find dir -type f -printf '%p\n' | xargs rm
  find . -name '*.txt' | head -n 1 | xargs rm
  find . -name '*.txt' | grep -v b | xargs -r rm
  find dir -type f | sed 's/$/.new/' | xargs touch
  ls *.txt | sed 's/txt/md/' | xargs touch
  xargs -d '\n' -a list rm
  xargs -0 rm -f < list
  printf 'a.txt\0b.txt' | xargs -0 rm
  echo a.txt b.txt | xargs -n 1 rm
  echo a.txt b.txt | xargs mv -t dir
  echo dir | xargs -I@@ cp -r @@ new
  echo 'a.txt' | xargs -i rm {}
  ls | xargs -L 1 echo > §
  sed -i 's/h/j/' *.txt
  sed -i '$a x' §
  sed -i '1r a.txt' §
  sed -i '/hi/d' §
  sed --follow-symlinks -i 's/a/b/' §
  sed -i -f list §
  sed -Ei.bak 's/a/b/;s/c/d/' §
  sed -i'' 's/a/b/' §
  sed -n 's/h/j/pw new.txt' §
  sed '1e touch new' §
  sed 's/.*/touch new/e' a.txt
  awk '{ print >> "new.txt" }' §
  awk '{ print $0 > FILENAME ".new" }' §
  awk 'BEGIN { system("touch new") }'
  awk '{ print "touch " $2 ".new" | "sh" }' a.txt
  awk -v o=new.txt '{ print > o }' §
  tee -p § < a.txt > §
  cat a.txt | tee § | tee §
  dd if=a.txt | dd of=§ status=none
  dd if=/dev/zero of=§ bs=4 count=1 status=none
  dd if=a.txt of=§ conv=notrunc status=none
  sqlite3 new.db 'create table t(x)'
  sqlite3 § 'create table t(x)'
  sqlite3 new.db '.output new.txt' 'select 1'
  sqlite3 :memory: '.backup new.db'
  vim -es -u NONE -i NONE -c '1d' -c 'wq' §
  vim -es -u NONE -i NONE -c 'w! new.txt' -c 'q!' a.txt
  vi -es -u NONE -i NONE -c '%s/h/j/|x' a.txt
  ex -s -c 'w new.txt' -c q a.txt
  ed -s a.txt <<< $'w new.txt'
  ed -s a.txt <<< $'!touch new'
  flock new.lock touch new
  flock new.lock -c 'touch new'
  flock a.txt rm -f §
  sort -u § | tee §
  shuf -o § §
  uniq a.txt | sort > §
  paste a.txt b.txt | tee -a §
  curl -s -o new.txt -D §  file://@/h.txt
  curl --silent --output dir/new.txt file://@/h.txt
  curl -s --create-dirs -o new/x.txt file://@/h.txt
  curl -s -T § file://@/new.txt
  rm -- -odd
  rm ./-odd
  rm -rf dir/../a.txt
  rm -rf "$(pwd)"/a.txt
  rm -rf ./*
  rm -rf .[a-z]*
  rm -rf {a,b}.txt dir/{sub,x.txt}
  rm -rf dir/**
  rm -rf ?.txt
  rm -f a.txt b.txt 2>&1 | cat > §
  touch {new,dir/new}{1,2}
  touch new{1..3}
  mv dir/x.txt{,.old}
  cp a.txt{,.bak}
  mv {a,new}.txt
  echo hi | cat > § 2>&1
  echo hi 2>&1 >§
  echo hi > "§"
  {fd}> new.txt
  exec {fd}> §; echo hi >&$fd
  exec > §; echo hi
  exec 2> §; ls nope
  while read -r l; do echo "$l"; done < a.txt > §
  for f in a b; do echo $f; done > §
  for f in a b; do echo $f > $f.out; done
  if true; then echo hi; fi > §
  case x in x) echo hi ;; esac >> §
  (cd dir && echo hi > new)
  (cd dir; rm x.txt) > §
  until [ -e new ]; do touch new; done
  printf '%s\n' a b | while read -r n; do touch "new.$n"; done
  printf 'a.txt\nb.txt\n' | while IFS= read -r n; do rm "$n"; done
`)
