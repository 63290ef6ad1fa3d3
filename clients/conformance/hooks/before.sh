# Decides by a word in the payload. slow says in a file that it has started, and never ends.
case $(cat) in
  *forbidden*) echo 'forbidden here' >&2; exit 2 ;;
  *rewritten*) echo '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow", "updatedInput": {"command": "ls -l"}}}' ;;
  *noted*) echo '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": {"command": "ls -n"}, "additionalContext": "numbers only"}}' ;;
  *doubted*) echo '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "ask", "permissionDecisionReason": "Sure?", "updatedInput": {"command": "ls -d"}}}' ;;
  *cached*) echo '{"action": "respond", "response": {"stdout": "from the cache"}}' ;;
  *deploy*) echo '{"action": "ask_user", "approvalPrompt": "Deploy now?", "approvalOptions": ["Allow", "Allow always", "Deny"]}' ;;
  *enough*) echo '{"continue": false, "stopReason": "enough for today"}' ;;
  *disaster*) echo '{"action": "hard_abort", "reason": "stop everything"}' ;;
  *slow*) touch started; exec sleep 600 ;;
esac
