#!/usr/bin/env python3
"""Writes every event that it is told of to a file, one JSON object a line.

A resident hook: JSON-RPC, one message a line on stdin, nothing but answers on stdout. Events are notifications:
nobody waits for them. It ends with its stdin.
"""

import json
import os
import sys
from datetime import datetime, timezone


def open_audit():
    data = os.environ.get("CLAUDE_PLUGIN_DATA")
    path = os.environ.get("AUDIT_FILE") or (data and os.path.join(data, "audit.jsonl"))
    if not path:
        sys.exit("audit-observer: set AUDIT_FILE, the file to write to")
    try:
        os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
        # Events may hold secrets: the file is for its owner alone.
        return os.fdopen(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "ab")
    except OSError as error:
        sys.exit(f"audit-observer: cannot write to {path}: {error.strerror}")


def note(file, event):
    entry = {"time": datetime.now(timezone.utc).isoformat(timespec="milliseconds"), **event}
    try:
        file.write(json.dumps(entry).encode() + b"\n")
        file.flush()
    except OSError as error:
        print(f"audit-observer: an event was lost: {error}", file=sys.stderr)


def answer_to(method):
    if method == "hook.hello":
        return {"result": {"ok": True, "name": "audit-observer"}}
    return {"error": {"code": -32601, "message": f"audit-observer does not know {method}"}}


def main():
    file = open_audit()
    for line in sys.stdin.buffer:
        try:
            message = json.loads(line)
        except (ValueError, RecursionError) as error:
            print(f"audit-observer: skipped a line that is not JSON: {error}", file=sys.stderr)
            continue
        if not isinstance(message, dict):
            continue
        method, params = message.get("method"), message.get("params")
        if method == "hook.event" and isinstance(params, dict):
            note(file, params)
        elif message.get("id"):  # without an id it is a notification
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer_to(method)}), flush=True)


if __name__ == "__main__":
    main()
