// Calls of programs that only read files. `§` is a path.

import { lines } from './templates.js'

export const READS = lines(String.raw`
  cat §
  cat -n §
  cat -A § §
  tac §
  tac -s x §
  nl §
  nl -b a §
  less §
  more §
  more -n 5 §
  rev §
  strings §
  strings -n 2 §
  hexdump -C §
  hexdump -n 4 -s 1 §
  xxd §
  xxd -l 4 §
  od -c §
  od -A x -t x1 §
  od -An -tx1 -N 4 §
  file §
  file -b §
  file -f list
  base64 §
  base64 -w 0 §
  base32 §
  md5sum §
  sha256sum § §
  shasum -a 256 §
  cksum §
  sum §
  b2sum -l 128 §
  md5sum -c §
  wc §
  wc -l §
  wc -c § §
  wc --files0-from=§
  comm § §
  comm -12 § §
  cmp § §
  cmp -s § §
  cmp -n 2 § §
  diff § §
  diff -u § §
  diff -U 3 § §
  diff -r dir empty
  diff -q --exclude=x § §
  join § §
  join -t , -1 1 -2 1 § §
  paste § §
  paste -d , § §
  paste -s §
  uniq §
  uniq -c §
  uniq -f 1 §
  head §
  head -n 1 §
  head -1 §
  head -c 3 §
  head -q § §
  tail -n 1 §
  tail -c 3 §
  tail -n +1 §
  cut -d ' ' -f 1 §
  cut -c 1-3 §
  cut -b1 --complement §
  fold -w 3 §
  fmt -w 20 §
  fmt §
  column -t §
  column -s , -t §
  sort §
  sort -n §
  sort -u -r §
  sort -k 1 -t , §
  sort -b -d -f §
  sort --files0-from=§
  sort -m § §
  sort -c §
  shuf §
  shuf -n 1 §
  tsort §
  expand §
  unexpand §
  pr §
  ptx §
  look hi §
  col < §
  tr a b < §
  grep -n hi §
  grep hi § §
  grep -r hi §
  grep -T hi §
  grep -e hi -e ho §
  grep -f list §
  grep -A 1 hi §
  grep -m 1 -i hi §
  grep -rn --include='*.txt' hi .
  grep -c -v hi §
  grep -o -E 'h|i' §
  egrep hi §
  fgrep hi §
  zgrep hi §
  zcat z.gz
  sed -n 1p §
  sed 1d §
  sed -e 1d -e 2d §
  sed -E 's/a/b/' § §
  sed -s -n p §
  sed -f list §
  awk 1 §
  awk -F : '{ print $1 }' §
  awk -v x=1 '{ print x }' §
  awk -f list §
  jq . §
  jq -r .a §
  jq -e .a §
  jq -n --slurpfile x § .
  stat §
  stat -c %s §
  ls -la §
  true
  false
  test -f §
  [ -s § ]
  echo §
  printf '%s' §
  find §
  find § -name '*.txt'
  find § -type f -exec cat {} \;
  find § -type f -exec grep -l hi {} +
  find dir -type f | xargs cat
  cat list | xargs cat
  while read -r x; do echo "$x"; done < §
  read x < §
  mapfile -t x < §
  x=$(< §)
  x=$(cat §)
  echo "$(cat §)" > /dev/null
  . §
  source §
  bash §
  sh §
  cat § | head -n 1
  cat <(cat §)
  diff <(sort §) <(sort §)
  python3 -c 'print(open("a.txt").read())'
  node -e 'console.log(require("fs").readFileSync("a.txt"))'
  perl -ne print §
  perl -pe 's/a/b/' §
  ruby -e 'puts File.read("a.txt")'
  dd if=§ status=none
  tar cf - §
  tar tf f.tar
  gzip -c §
  gzip -l z.gz
  xz -c §
  zip -q - §
  unzip -l f.zip
  unzip -p f.zip
  openssl dgst -sha256 §
  openssl base64 -in §
  curl -s file://@/h.txt
  exec 3< §; cat <&3
  cat 0< §
  test § -nt §
  du -s §
  readlink -f §
  basename §
  cd dir && cat x.txt
  sha1sum §
  sha512sum § §
  sha224sum -b §
  sha384sum §
  iconv -f utf-8 -t latin1 §
  ul §
  sdiff -s § §
  diff3 § § §
  bzcat §
  xzcat §
  zstdcat §
  zmore §
  nm §
  objdump -d §
  readelf -h §
  size §
  bzgrep hi §
  xzgrep hi §
  zgrep -c hi § §
  printenv
  compgen -A file
  typeset -p
  sed 'r a.txt' b.txt
  sed '1R list' §
  awk 'BEGIN { while ((getline l < "a.txt") > 0) print l }'
  awk 'BEGIN { "cat b.txt" | getline l; print l }'
  sqlite3 § .tables
  sqlite3 :memory: '.read list'
  tail -q -n 1 § §
  tail -n1 -v §
  head -c1 § § §
  cat -- §
  cat < § §
  cat - § < §
  cat a.txt b.txt dir/x.txt | sort | uniq -c | sort -rn | head -n 3
  grep -rl hi § | head -n 1
  grep -L hi § §
  grep -h -w hi *.txt
  grep --color=never hi §
  grep -rn hi . --include=*.txt
  grep -E 'h|i' -r dir
  grep -q hi § && cat §
  xargs cat < list
  xargs -a list cat
  xargs -I{} cat {} < list
  tar czf - § | wc -c
  tar -tvf f.tar
  zip -q -r - dir | wc -c
  cat §*
  cat dir/* 2> /dev/null
  wc -l < §
  wc -l *.txt
  ls -R | grep x
  cmp a.txt b.txt || diff a.txt b.txt
  comm -3 <(sort a.txt) <(sort b.txt)
  paste -d: <(cat a.txt) <(cat b.txt)
  while read -r x; do cat "$x"; done < list
  for f in *.txt; do cat "$f"; done
  for f in $(cat list); do cat "$f"; done
  f() { cat "$1"; }; f §
  tac § | rev
  split -n 1/2 §
  view -es -u NONE -i NONE -c q §
  ssh-keygen -l -f §
  sort -R § | shuf
  od -c < §
  strings - §
  base64 -d §
  basenc --base64 §
  numfmt < §
  factor < §
`)
