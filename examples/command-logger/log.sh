#!/bin/sh
# Appends the Bash command that the agent wants to run to bash-commands.log in the project, one JSON object a line.
# stdin: a PreToolUse event. Exit 0 when it is logged, 1 when it could not be; never 2, which would block the command.

umask 077 # commands may hold secrets: the log is for its owner alone

fail() {
  echo "command-logger: $1" >&2
  exit 1
}

[ -n "${AMPLIFIER_PROJECT_DIR:-}" ] || fail 'AMPLIFIER_PROJECT_DIR is not set'

# JSON, because a line break in a command must not look like another entry.
line=$(node -p '
  const event = JSON.parse(require("fs").readFileSync(0, "utf8"))
  const time = event?.timestamp ?? new Date().toISOString()
  const command = event?.tool_input?.command
  command === undefined ? "" : JSON.stringify({ time, session: event.session_id, command })
' 2>/dev/null) || fail 'could not read the event: it must be JSON on stdin, and node must be installed'

[ -n "$line" ] || exit 0
printf '%s\n' "$line" >> "$AMPLIFIER_PROJECT_DIR/bash-commands.log" || fail 'could not write bash-commands.log'
