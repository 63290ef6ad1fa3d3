#!/bin/sh
# Refuses dangerous commands, and writes outside the project. Needs jq.
# A resident hook: one JSON-RPC request a line on stdin, one answer a line on stdout and nothing else there.
# It is started once, asked again and again, and ends with its stdin.

command -v jq > /dev/null || {
  echo 'review-gate: jq is not installed' >&2
  exit 1
}
project=$(cd -P -- "${AMPLIFIER_PROJECT_DIR:-.}" && pwd -P) || exit 1

arguments='(.params.arguments | if type == "object" then . else error("no arguments") end)'

# An approver must answer: approved or not. [pattern, what the command does] is for the command without quotes
# and backslashes; \u0027 is the single quote, which cannot stand here.
verdict='
  [
    ["\\brm\\b(?=[^;&|\n]*\\s(-\\w*[rR]|--recursive))(?=[^;&|\n]*\\s(/|~|\\$\\{?HOME))", "deletes a folder by its absolute path"],
    ["\\b(mkfs|wipefs|fdisk)\\b", "makes a new file system"],
    ["\\bdd\\b[^;&|\n]*\\sof=/dev/|>\\s*/dev/(sd|hd|vd|nvme|mmcblk|disk)", "writes straight onto a disk"],
    ["\\b(curl|wget)\\b[^;\n]*\\|\\s*(sudo\\s+)?(ba|da|z)?sh\\b", "runs a script from the network that nobody read"],
    ["\\bgit\\s+push\\b[^;&|\n]*\\s(--force(?!-with-lease)|-\\w*f)", "overwrites what others pushed"]
  ] as $dangerous
  | def without($text): split($text) | join("");
  '"$arguments"' | (if has("command") then .command else "" end)
  | (if type == "array" then join(" ") else . end) # some agents send a list of words
  | split("\\\n") | join(" ") | without("\"") | without("\u0027") | without("\\") | . as $command
  | first(($dangerous[] | select(.[0] as $pattern | $command | test($pattern))), null)
  | if . == null then {approved: true}
    else {approved: false, reason: "This command \(.[1]). If it is really wanted, the user can run it."} end'

# The paths that a tool would write, a line each.
written='
  ["write", "edit", "multiedit", "notebookedit", "write_file", "edit_file", "append_file"] as $writers
  | select(.params.tool | ascii_downcase | IN($writers[])) | '"$arguments"'
  | .file_path, .notebook_path, .path | values
  | if type == "string" then . else error("a path is no text") end'

of_request() { # PROGRAM [OPTION…]
  program=$1
  shift
  printf '%s\n' "$line" | jq -cRr "$@" "fromjson | $program"
}

result() { # PROGRAM [OPTION…]
  program=$1
  shift
  of_request "{jsonrpc: \"2.0\", id, result: ($program)}" "$@"
}

error() { # CODE MESSAGE
  of_request '{jsonrpc: "2.0", id, error: {code: $code, message: $message}}' --argjson code "$1" --arg message "$2"
}

# By where it leads: a link may lead out of the project. A link to a file is taken for outside.
is_inside() {
  case $1 in
    '~'*) return 1 ;;
    /*) file=$1 ;;
    *) file=$project/$1 ;;
  esac
  while [ ! -d "$file" ]; do # up to the first folder that is there
    [ ! -L "$file" ] || return 1
    case $file in */..) return 1 ;; esac
    file=$(dirname -- "$file")
  done
  folder=$(cd -P -- "$file" && pwd -P) || return 1
  case $folder/ in "$project"/*) ;; *) return 1 ;; esac
}

before_tool() {
  paths=$(of_request "$written") || return 1
  outside=$(printf '%s\n' "$paths" | while IFS= read -r path; do is_inside "$path" || printf '%s\n' "$path"; done)
  if [ -z "$outside" ]; then
    result '{action: "continue"}'
  else
    reason="$outside is outside the project, and only files in it are written."
    result '{action: "deny_tool", reason: $reason}' --arg reason "$reason"
  fi
}

while IFS= read -r line || [ -n "$line" ]; do
  # Without an id it is a notification.
  method=$(of_request 'objects | select(.id and .id != 0) | .method | tostring' 2> /dev/null) || {
    echo 'review-gate: skipped a line that is not JSON' >&2
    continue
  }
  # An error must reach the engine: it applies onFailure.
  case $method in
    '') ;;
    hook.hello) result '{ok: true, name: "review-gate"}' ;;
    hook.approve_tool) result "$verdict" || error -32000 'could not read the command' ;;
    hook.before_tool) before_tool || error -32000 'could not read the call' ;;
    *) error -32601 "review-gate does not know $method" ;;
  esac
done
