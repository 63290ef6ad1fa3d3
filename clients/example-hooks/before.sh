# Refuses, rewrites, asks and answers, by what the call says.
case $(cat) in
  *"push --force"*)
    echo "Force pushes are not allowed" >&2
    exit 2 ;;
  *"npm install lodash"*)
    echo '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": {"command": "npm install --ignore-scripts lodash"}}}' ;;
  *deploy*)
    echo '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "ask", "permissionDecisionReason": "Deploy now?"}}' ;;
  *Weather*)
    echo '{"action": "respond", "response": "sunny, from the cache"}' ;;
esac
