"""An agent loop with hooks around every tool call and model call. It runs offline: the model is a script."""

import os
from typing import Any, Dict, Iterator, List

from carabiner import Asked, Carabiner, Finished, Reply, Session

HOOKS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "example-hooks")

CALLS: List[Dict[str, Any]] = [
    {"name": "Bash", "input": {"command": "git push --force"}},
    {"name": "Bash", "input": {"command": "npm install lodash"}},
    {"name": "Bash", "input": {"command": "deploy"}},
    {"name": "Weather", "input": {"city": "Lima"}},
    {"name": "Write", "input": {"file_path": "notes.py", "content": "import os"}},
]


def model(script: Iterator[Dict[str, Any]], request: Dict[str, Any]) -> Dict[str, Any]:
    """Asks for one tool call after the other, and says what hooks have told it."""
    told = [one["content"].split("\n")[1] for one in request["messages"] if one["role"] == "system"]
    for text in told:
        print(f"  injected: {text}")
    return {"role": "assistant", "content": "done", "tool_call": next(script, None)}


def tool(input: Dict[str, Any]) -> str:
    return "ran " + str(input.get("command") or input.get("file_path"))


def ask(asked: Asked) -> Reply:
    print(f"  asked: {asked.prompt} ({', '.join(asked.options)})")
    return {"option": "Allow", "by": "ada"}


def turn(session: Session, prompt: str) -> None:
    script = iter(CALLS)
    messages: List[Dict[str, Any]] = [{"role": "user", "content": prompt}]
    while True:
        answered = session.call_model({"model": "mock", "messages": messages}, lambda request: model(script, request))
        if not isinstance(answered, Finished):
            print(f"the model was not asked: {answered.status}")
            return
        call = answered.result["tool_call"]
        if call is None:
            print(answered.result["content"])
            return
        print(call["name"], *call["input"].values())
        called = session.call_tool(call["name"], call["input"], tool)
        print(f"  {called.status}: {called.for_model}")
        messages.append({"role": "tool", "content": called.for_model})


if __name__ == "__main__":
    # --trust-all, because the example brings its own hooks. Your users review theirs.
    with Carabiner(host="example", approver=ask, args=["--plugin", HOOKS, "--trust-all"]) as carabiner:
        with carabiner.session() as session:
            turn(session, "Ship it")
