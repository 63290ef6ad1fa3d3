// Forms in which a shell runs commands, moves and uses variables.

import { lines } from './templates.js'

export const MOVES = lines(String.raw`
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
export const FORMS = lines(String.raw`
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
  flock new.lock §
  flock new.lock -c ¤
  flock -n new.lock sh -c ¤
  taskset 1 §
  chrt -o 0 §
  prlimit §
  setarch -R §
  time -p §
  env -S §
  printf '%b' ¤ | sh
  printf '%s\n' ¤ > s.sh && bash s.sh
  echo -e ¤ > s.sh; . ./s.sh
  tee s.sh <<< ¤ > /dev/null; bash s.sh
  g() { §; }; f() { g; }; f
  { §; } 2> /dev/null | { §; }
  ( § ) & ( § ) & wait
  x=1; while [ $x -lt 3 ]; do §; x=$((x + 1)); done
  bash -c "$(echo ¤)"
  eval "$(echo ¤)"
  cat <<EOF⏎$(§)⏎EOF⏎
  : ${'$'}{x:=$(§)}
  [ "$(§)" ] || §
  x=( $(§) ); §
  shopt -s nullglob; §
`)

/** `§`: a path. */
export const VARIABLES = lines(String.raw`
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
