#!/usr/bin/env python3
"""Gives the model a tool that the agent does not have: word_count.

A resident hook: one JSON-RPC request a line on stdin, one answer a line on stdout and nothing else there.
It is started once, asked again and again, and ends with its stdin.
"""

import json
import sys

WORD_COUNT = {
    "type": "function",
    "function": {
        "name": "word_count",
        "description": "Counts the words of a text",
        "parameters": {
            "type": "object",
            "properties": {"text": {"type": "string", "description": "The text"}},
            "required": ["text"],
        },
    },
}


def before_llm(params):
    """The model can only call what is in `tools`."""
    tools = params.get("tools") or []
    if any(tool.get("function", {}).get("name") == "word_count" for tool in tools):
        return {"action": "continue"}
    request = {key: params[key] for key in ("model", "messages", "options") if key in params}
    return {"action": "modify", "request": {**request, "tools": [*tools, WORD_COUNT]}}


def before_tool(params):
    """`respond` is the tool's result; no other tool runs."""
    if params.get("tool") != "word_count":
        return {"action": "continue"}
    text = params["arguments"].get("text")
    if not isinstance(text, str):
        return respond("text must be a string", is_error=True)
    return respond(f"{len(text.split())} words")


def respond(text, is_error=False):
    return {"action": "respond", "result": {"for_llm": text, "for_user": "", "silent": False, "is_error": is_error}}


METHODS = {
    "hook.hello": lambda params: {"ok": True, "name": "tool-provider"},
    "hook.before_llm": before_llm,
    "hook.before_tool": before_tool,
}


def answer_to(request):
    name = str(request.get("method"))
    method = METHODS.get(name)
    if method is None:
        return {"error": {"code": -32601, "message": f"tool-provider does not know {name}"}}
    try:
        return {"result": method(request.get("params", {}))}
    except Exception as error:  # whatever it is, the engine must hear of it: it applies onFailure
        return {"error": {"code": -32000, "message": f"{type(error).__name__}: {error}"}}


def main():
    for line in sys.stdin.buffer:
        try:
            request = json.loads(line)
        except (ValueError, RecursionError) as error:
            print(f"tool-provider: skipped a line that is not JSON: {error}", file=sys.stderr)
            continue
        if isinstance(request, dict) and request.get("id"):  # without an id it is a notification
            print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **answer_to(request)}), flush=True)


if __name__ == "__main__":
    main()
