# The same in Python.
import json
import sys

for line in sys.stdin:
    message = json.loads(line)
    answer = {"jsonrpc": "2.0", "id": message["id"], "result": {"ok": True, "action": "continue"}}
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()
