#!/bin/sh
# Blocks a Bash command that could destroy a disk, a home folder or the machine.
# stdin: a PreToolUse event. Exit 0 lets the command pass, 2 blocks it, 1 says that it could not be checked.

LC_ALL=C # bytes will do, and no byte sequence is illegal
export LC_ALL

fail() {
  echo "bash-validator: $1" >&2
  exit 1
}

# Only words of our own are printed here: text of the command would have to be escaped for JSON.
block() {
  printf '{"decision":"block","reason":"This command %s and was not run. If it is really wanted, the user can run it.",' "$1"
  printf '"systemMessage":"Blocked a dangerous Bash command: it %s"}\n' "$1"
  exit 2
}

# Some agents send a list of words. A line that ends in a backslash goes on in the next.
command=$(node -p '
  const event = JSON.parse(require("fs").readFileSync(0, "utf8"));
  [event?.tool_input?.command ?? []].flat().join(" ").replace(/\\\n/g, " ")
' 2>/dev/null) || fail 'could not read the event: it must be JSON on stdin, and node must be installed'

# One simple command a line, without quotes: what bash -c "…" and $(…) would run is looked at as well.
lines=$(printf '%s\n' "$command" | tr -d "\"'\\\\" | tr ';&|()`' '\n\n\n\n\n\n') || fail 'could not run tr'

block_if() { # PATTERN WHAT-IT-DOES
  printf '%s\n' "$lines" | grep -Eq -- "$1"
  case $? in
    0) block "$2" ;;
    1) ;;
    *) fail 'could not run grep' ;; # not the same as "found nothing"
  esac
}

begin='(^|[[:space:]/])' # also after sudo, and in /bin/rm
some='[[:space:]](.*[[:space:]])?'
end='([[:space:]]|$)'
recursive='(-[[:alnum:]]*[rR][[:alnum:]]*|--recursive)'
top='(/[^/[:space:]]*|~[^/[:space:]]*|[$][{]?HOME[}]?)/?[*]*'

block_if "${begin}rm${some}${recursive}${some}${top}${end}" 'deletes a top-level folder or a home folder'
block_if "${begin}rm${some}${top}${some}${recursive}${end}" 'deletes a top-level folder or a home folder'
block_if "${begin}dd${some}(if|of)=" 'copies raw data with dd'
block_if "${begin}mkfs([.][[:alnum:]]+)?${end}" 'makes a new file system'
block_if '>[[:space:]]*/dev/(sd|hd|vd|nvme|mmcblk|disk)' 'writes straight onto a disk'

case $(printf '%s' "$command" | tr -d '[:space:]') in
  *':(){:|:&};:'*) block 'is a fork bomb' ;;
esac
exit 0
