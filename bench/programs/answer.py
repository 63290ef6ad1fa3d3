# The same in Python.
import json
import sys

for line in sys.stdin:
    message = json.loads(line)
    result = {"ok": True} if message["method"] == "hook.hello" else {"action": "continue"}
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}) + "\n")
    sys.stdout.flush()
