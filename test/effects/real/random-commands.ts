// Random commands of programs that Debian has, in every form in which a shell can run them. They only touch their own world.

import fc from 'fast-check'

type Text = fc.Arbitrary<string>

/** One template a line. `⏎` is a new line, and `§` a part that is filled in. */
const lines = (text: string): readonly string[] =>
  text
    .split('\n')
    .map((line) => line.trim().replaceAll('⏎', '\n'))
    .filter((line) => line !== '')

const of = (text: string): Text => fc.constantFrom(...lines(text))

/** Each `§` stands for one of the parts, in turn. */
const filled = (template: string, part: Text): Text => {
  const count = template.split('§').length - 1
  return fc
    .array(part, { minLength: count, maxLength: count })
    .map((parts) => template.replace(/§/g, () => parts.shift() ?? ''))
}

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`

// ---- paths in the world that the driver makes for each command; `@` is its home folder -------------------------------

const plainPath = of(String.raw`
  a.txt
  b.txt
  ./a.txt
  dir
  dir/
  dir/x.txt
  dir/sub
  dir/sub/y.txt
  new.txt
  new
  dir/new.txt
  dir/../b.txt
  ../out.txt
  ../other/o.txt
  .hidden
  link
  link/x.txt
  empty
  -odd
  ./-odd
  --
`)
const quotedPath = of(String.raw`
  "c d.txt"
  'c d.txt'
  c\ d.txt
  "a.txt"
  'dir/x.txt'
  $'b.txt'
  $"b.txt"
  a"."txt
  "dir"/x.txt
  'a'.t\xt
`)
const shellPath = of(String.raw`
  *.txt
  dir/*
  dir/*/y.txt
  [ab].txt
  ?.txt
  {a,b}.txt
  dir/{x.txt,sub}
  ~/h.txt
  ~/app/a.txt
  $HOME/h.txt
  "$HOME/app/b.txt"
  ${'$'}{HOME}/h.txt
  @/out.txt
  @/app/dir
  "$PWD"/a.txt
  $(pwd)/b.txt
`)
const path = fc.oneof(
  { weight: 6, arbitrary: plainPath },
  { weight: 2, arbitrary: quotedPath },
  { weight: 2, arbitrary: shellPath },
)

// ---- programs --------------------------------------------------------------------------------------------------------

const CHANGES = lines(String.raw`
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
`)

const READS = lines(String.raw`
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
`)

const change = fc.constantFrom(...CHANGES).chain((template) => filled(template, path))
const looks = fc.constantFrom(...READS).chain((template) => filled(template, path))
const simple = fc.oneof({ weight: 5, arbitrary: change }, { weight: 2, arbitrary: looks })

// ---- forms -----------------------------------------------------------------------------------------------------------

const MOVES = lines(String.raw`
  cd dir
  cd ..
  cd
  cd ~
  cd @/other
  cd nope
  cd empty
  pushd dir > /dev/null
  cd "$HOME"
  cd -P dir
  cd dir/sub
  cd link
  cd -
  cd dir && cd sub
`)

/** `§`: a command. `¤`: the same as one word. */
const FORMS = lines(String.raw`
  §; §
  § && §
  § || §
  §⏎§
  ! §
  ( § )
  { §; }
  ( §; § )
  § &⏎wait
  true && §
  false || §
  time §
  if true; then §; fi
  if §; then §; else §; fi
  if ! §; then §; elif §; then true; fi
  while §; do §; break; done
  until §; do §; break; done
  for i in 1 2; do §; done
  for ((i = 0; i < 2; i++)); do §; done
  case x in x) § ;; esac
  case a.txt in *.md) § ;; *.txt) § ;& *) § ;; esac
  f() { §; }; f
  f() ( § ); f
  function f { §; }; f
  select x in a; do §; break; done <<< 1
  sh -c ¤
  bash -c ¤
  bash -ec ¤
  bash --norc -c ¤
  eval ¤
  env A=1 sh -c ¤
  env -i PATH="$PATH" HOME="$HOME" sh -c ¤
  A=1 §
  A=1 B=2 sh -c ¤
  command §
  env §
  env -u A §
  nice §
  nice -n 5 §
  timeout 5 §
  timeout -k 1 5 §
  env -C dir §
  nohup §
  setsid -w §
  ionice §
  trap ¤ EXIT
  bash <<< ¤
  echo ¤ | sh
  printf '%s\n' ¤ | bash
  printf %s ¤ | bash -s
  sh <<EOF⏎§⏎EOF⏎
  bash <<'EOF'⏎§⏎EOF⏎
  bash -s <<-EOF⏎	§⏎	EOF⏎
  bash <(echo ¤)
  . <(echo ¤)
  source /dev/stdin <<< ¤
  x=$(§)
  x=$(§) && §
  echo "$(§)"
  echo "a$(echo "$(§)")"
  echo ${'`'}§${'`'}
  cat <(§)
  tee >(§) < a.txt
  cat a.txt | §
  § | cat
  § |& cat
  § | §
  builtin eval ¤
  exec bash -c ¤
  stdbuf -o0 §
  xargs -I{} sh -c ¤ <<< x
  echo x | xargs -I{} bash -c ¤
  find . -maxdepth 0 -exec sh -c ¤ \;
  find dir -maxdepth 0 -execdir bash -c ¤ \;
  coproc §; wait
  echo ¤ > s.sh; sh s.sh
  cat > s.sh <<'EOF'⏎§⏎EOF⏎bash s.sh
  [[ -f a.txt ]] && §
  [ -d dir ] && § || §
  (( 1 )) && §
  set -e; §
  shopt -s dotglob; §
  shopt -s nullglob; §
`)

const VARIABLES = lines(String.raw`
  x=§; rm -rf $x
  x=§; rm -rf "$x"
  x=§ y=§; cp -r "$x" "$y"
  for f in § §; do rm -f "$f"; done
  for f in *.txt; do mv "$f" dir; done
  for f in *.txt; do mv "$f" "${'$'}{f%.txt}.md"; done
  for f in dir/*; do cp "$f" "${'$'}{f##*/}.copy"; done
  for f in a b; do rm "$f.txt"; done
  for f in {a,b}.txt; do cat "$f" > "$f.new"; done
  for i in 1 2 3; do touch "n$i"; done
  for i in $(seq 2); do touch new$i; done
  for f in $(ls *.txt); do rm "$f"; done
  d=dir; rm -rf "$d"/x*
  d=dir; touch "$d/new.txt"
  d=dir; cd "$d" && rm -f x.txt
  for d in dir empty; do touch $d/n; done
  for d in dir empty; do ( cd "$d" && touch n ); done
  set -- §; rm -rf "$1"
  set -- § §; for f; do rm -f "$f"; done
  set -- § §; rm -rf "$@"
  set -- § §; shift; rm -rf $*
  f() { rm -rf "$1"; }; f §
  f() { rm -rf "$@"; }; f § §
  f() { local x=$1; rm -rf "$x"; }; f §
  x=(§ §); rm -rf "${'$'}{x[@]}"
  x=(§ §); rm -rf "${'$'}{x[0]}"
  x=(§); x+=(§); rm -rf "${'$'}{x[@]}"
  declare -A m=([a]=§); rm -rf "${'$'}{m[a]}"
  read x <<< §; rm -rf "$x"
  read -r x y <<< 'a.txt b.txt'; rm -f "$y"
  mapfile -t x < list; rm -f "${'$'}{x[@]}"
  export x=§; rm -f $x
  export x=§; sh -c 'rm -f "$x"'
  x=§ sh -c 'rm -rf "$x"'
  x=§ bash -c 'rm -rf $x'
  sh -c 'rm -rf "$1"' _ §
  bash -c 'rm -rf "$@"' _ § §
  sh -c 'rm -rf "$0"' §
  env x=§ bash -c 'touch "$x"'
  ls | while read -r f; do rm -f "$f"; done
  while read -r f; do rm -f "$f"; done < list
  while IFS= read -r f; do touch "$f"; done <<< §
  x=a; rm $x.txt
  x=a.txt; y=$x; rm "$y"
  x=a.txt; y=x; rm "${'$'}{!y}"
  rm "${'$'}{x:-a.txt}"
  rm "${'$'}{x-a.txt}"
  rm "${'$'}{x:=a.txt}"; cat "$x"
  x=1; rm "${'$'}{x:+a.txt}"
  x=a.TXT; rm "${'$'}{x,,}"
  x=b.txt; rm "${'$'}{x/b/a}"
  x=xa.txt; rm "${'$'}{x:1}"
  x=xa.txt; rm "${'$'}{x#x}"
  rm $(echo a.txt)
  rm ${'`'}ls *.txt${'`'}
  f=$(ls | head -n 1); rm -rf "$f"
  f=$(basename dir/a.txt); rm "$f"
  d=$(dirname dir/x.txt); rm -rf "$d"
  printf -v x a.txt; rm "$x"
  x=a; x+=.txt; rm "$x"
  $(echo rm) §
  r=rm; $r §
  c='rm -rf'; $c §
  c="rm -rf §"; eval "$c"
  c='touch new'; bash -c "$c"
  declare x=§; rm -rf "$x"
  IFS=,; x=a.txt,b.txt; rm $x
  alias r=rm⏎r a.txt
  shopt -s expand_aliases⏎alias r='rm -f'⏎r a.txt
  r() { rm "$@"; }; r -rf §
  cat() { rm a.txt; }; cat
  n=1; while [ $n -lt 3 ]; do touch f$n; n=$((n+1)); done
  touch "$(date +%Y).log"
  t=$(mktemp -p .); echo x > "$t"
  rm -rf "$OLDPWD/a.txt" a.txt
  cd dir; rm -rf "$OLDPWD/a.txt"
  cd dir; rm "$PWD/x.txt"
  test -f a.txt && rm a.txt || touch a.txt
`)

const variables = fc.constantFrom(...VARIABLES).chain((template) => filled(template, plainPath))
const moved = fc
  .tuple(fc.constantFrom(...MOVES), fc.constantFrom(' && ', '; ', ' || ', '\n'), simple)
  .map((parts) => parts.join(''))
const PROGRAM = String.raw`
  \rm
  "rm"
  r'm'
  r\m
  /bin/rm
  $"rm"
  $'rm'
  $'\x72m'
  /usr/bin/env rm
  command rm
  command -p rm
  busybox rm
  env -- rm
  exec rm
`
const spelled = fc.tuple(of(PROGRAM), path).map(([rm, target]) => `${rm} -rf ${target}`)

const base = fc.oneof(
  { weight: 10, arbitrary: simple },
  { weight: 3, arbitrary: variables },
  { weight: 2, arbitrary: moved },
  { weight: 1, arbitrary: spelled },
)

/** A form that takes a single program, such as `env`, gets the first words of a list, which bash runs alike. */
const within = (inner: Text): Text =>
  fc
    .tuple(fc.constantFrom(...FORMS), fc.array(inner, { minLength: 3, maxLength: 3 }))
    .map(([form, parts]) => {
      const commands = [...parts]
      return form.replace(/[§¤]/g, (sign) => {
        const text = commands.shift() ?? 'true'
        return sign === '§' ? text : quoted(text)
      })
    })

export const randomCommand: Text = fc.oneof(
  { weight: 6, arbitrary: base },
  { weight: 4, arbitrary: within(base) },
  { weight: 1, arbitrary: within(within(base)) },
)
