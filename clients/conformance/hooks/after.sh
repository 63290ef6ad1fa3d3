case $(cat) in
  *lint*) echo '{"systemMessage": "linted", "hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "two warnings"}}' ;;
  *secret*) echo '{"newContent": "redacted"}' ;;
esac
