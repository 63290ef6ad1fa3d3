#!/bin/sh
# Writes every event that it is told of to a file, one JSON object a line. Needs jq.
# A resident hook: JSON-RPC, one message a line on stdin, nothing but answers on stdout. Events are notifications:
# nobody waits for them. It ends with its stdin.

umask 077 # events may hold secrets: the file is for its owner alone

fail() {
  echo "audit-observer: $1" >&2
  exit 1
}

command -v jq > /dev/null || fail 'jq is not installed'
file=${AUDIT_FILE:-${CLAUDE_PLUGIN_DATA:+$CLAUDE_PLUGIN_DATA/audit.jsonl}}
[ -n "$file" ] || fail 'set AUDIT_FILE, the file to write to'
mkdir -p -- "$(dirname -- "$file")" && true >> "$file" || fail "cannot write to $file"

entry='{time: (now | todate)} + .params'
answer='
  select(.id and .id != 0) # without an id it is a notification
  | {jsonrpc: "2.0", id}
    + if .method == "hook.hello" then {result: {ok: true, name: "audit-observer"}}
      else {error: {code: -32601, message: "audit-observer does not know \(.method)"}}
      end'

of_message() { printf '%s\n' "$line" | jq -cR "fromjson | objects | $1"; }

while IFS= read -r line || [ -n "$line" ]; do
  method=$(of_message '.method' 2> /dev/null) || {
    echo 'audit-observer: skipped a line that is not JSON' >&2
    continue
  }
  case $method in
    '"hook.event"') of_message "$entry" >> "$file" || echo 'audit-observer: an event was lost' >&2 ;;
    *) of_message "$answer" ;;
  esac
done
