#!/usr/bin/env python3
"""Refuses dangerous commands, and writes outside the project.

A resident hook: one JSON-RPC request a line on stdin, one answer a line on stdout and nothing else there.
It is started once, asked again and again, and ends with its stdin.
"""

import json
import os
import re
import sys

REST = r"[^;&|\n]*"  # of the same command
# (pattern, what the command does), for the command without quotes and backslashes
DANGEROUS = (
    (rf"\brm\b(?={REST}\s(-\w*[rR]|--recursive))(?={REST}\s(/|~|\$\{{?HOME))", "deletes a folder by its absolute path"),
    (r"\b(mkfs|wipefs|fdisk)\b", "makes a new file system"),
    (rf"\bdd\b{REST}\sof=/dev/|>\s*/dev/(sd|hd|vd|nvme|mmcblk|disk)", "writes straight onto a disk"),
    (r"\b(curl|wget)\b[^;\n]*\|\s*(sudo\s+)?(ba|da|z)?sh\b", "runs a script from the network that nobody read"),
    (rf"\bgit\s+push\b{REST}\s(--force(?!-with-lease)|-\w*f)", "overwrites what others pushed"),
)
WRITERS = {"write", "edit", "multiedit", "notebookedit", "write_file", "edit_file", "append_file"}
PROJECT = os.path.realpath(os.environ.get("AMPLIFIER_PROJECT_DIR") or os.getcwd())


def approve_tool(params):
    """An approver must answer: approved or not. An error blocks the call."""
    command = command_of(params)
    does = next((does for pattern, does in DANGEROUS if re.search(pattern, command)), None)
    if does is None:
        return {"approved": True}
    return {"approved": False, "reason": f"This command {does}. If it is really wanted, the user can run it."}


def command_of(params):
    command = arguments_of(params).get("command", "")
    if isinstance(command, list):  # some agents send a list of words
        command = " ".join(command)
    if not isinstance(command, str):
        raise TypeError("command is no text")
    return re.sub(r"[\"'\\]", "", command.replace("\\\n", " "))


def arguments_of(params):
    if not isinstance(params["arguments"], dict):
        raise TypeError("the call has no arguments")
    return params["arguments"]


def before_tool(params):
    if params["tool"].lower() not in WRITERS:
        return {"action": "continue"}
    arguments = arguments_of(params)
    paths = [arguments[key] for key in ("file_path", "notebook_path", "path") if key in arguments]
    outside = next((path for path in paths if not is_inside(path)), None)
    if outside is None:
        return {"action": "continue"}
    return {"action": "deny_tool", "reason": f"{outside} is outside the project, and only files in it are written."}


def is_inside(path):
    """By where it leads: a link may lead out of the project."""
    if path.startswith("~"):
        return False
    whole = os.path.realpath(os.path.join(PROJECT, path))
    return os.path.commonpath([whole, PROJECT]) == PROJECT


METHODS = {
    "hook.hello": lambda params: {"ok": True, "name": "review-gate"},
    "hook.approve_tool": approve_tool,
    "hook.before_tool": before_tool,
}


def answer_to(request):
    name = str(request.get("method"))
    method = METHODS.get(name)
    if method is None:
        return {"error": {"code": -32601, "message": f"review-gate does not know {name}"}}
    try:
        return {"result": method(request.get("params", {}))}
    except Exception as error:  # whatever it is, the engine must hear of it: it applies onFailure
        return {"error": {"code": -32000, "message": f"{type(error).__name__}: {error}"}}


def main():
    for line in sys.stdin.buffer:
        try:
            request = json.loads(line)
        except (ValueError, RecursionError) as error:
            print(f"review-gate: skipped a line that is not JSON: {error}", file=sys.stderr)
            continue
        if isinstance(request, dict) and request.get("id"):  # without an id it is a notification
            print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **answer_to(request)}), flush=True)


if __name__ == "__main__":
    main()
