# A response is judged under the same words as a request.
case $(cat) in
  *unsafe*) echo 'unsafe text' >&2; exit 2 ;;
  *canned*) echo '{"action": "respond", "response": {"role": "assistant", "content": "canned answer"}}' ;;
  *costly*) echo '{"action": "ask_user", "approvalPrompt": "Pay for it?"}' ;;
esac
