#!/usr/bin/env python3
"""Checks a Python file after it was written, and tells the agent what is wrong with it in the same turn.

stdin: a PostToolUse event. Exit 0, or 1 if the file could not be checked, which is not the same as clean.
"""

import ast
import json
import os
import re
import sys

MOST = 20  # findings: more would cost context and help nobody


def main():
    try:
        event = json.loads(sys.stdin.buffer.read())
        path = path_of(event)
        if path is None:
            return
        cwd = event.get("cwd")
        with open(os.path.join(cwd if isinstance(cwd, str) else "", path), "rb") as file:
            source = file.read()
    except (OSError, ValueError) as error:
        sys.exit(f"lint-feedback: could not check: {error}")
    findings = check(source, path)
    if not findings:
        return
    more = [f"and {len(findings) - MOST} more"] if len(findings) > MOST else []
    listed = "\n".join(f"- {finding}" for finding in findings[:MOST] + more)
    answer = {
        "contextInjection": f"lint-feedback found in {path}:\n{listed}",
        "systemMessage": f"Found {len(findings)} lint {'issue' if len(findings) == 1 else 'issues'} in {path}",
    }
    print(json.dumps(answer))


def path_of(event):
    """The Python file that was written; None for everything else."""
    tool_input = event.get("tool_input") if isinstance(event, dict) else None
    path = tool_input.get("file_path") if isinstance(tool_input, dict) else None
    return path if isinstance(path, str) and path.endswith(".py") else None


def check(source, path):
    """What is wrong, in the order of lines. To use a linter you have, run it here and return its lines."""
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        return [f"line {error.lineno}: {error.msg}" if error.lineno else error.msg]
    except (ValueError, RecursionError, MemoryError) as error:
        return [str(error) or "nested too deeply to be read"]
    found = list(mistakes(tree))
    if os.path.basename(path) != "__init__.py":  # which imports for others
        found += unused_imports(tree)
    return [f"line {line}: {text}" for line, text in sorted(set(found))]


def mistakes(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler) and node.type is None:
            yield node.lineno, "a bare except also catches KeyboardInterrupt and SystemExit"
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            for default in node.args.defaults + node.args.kw_defaults:
                if isinstance(default, (ast.List, ast.Dict, ast.Set)):
                    yield default.lineno, "a mutable default value is shared by all calls"


def unused_imports(tree):
    """Names in strings count as used: they may be annotations, or stand in __all__."""
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            used.update(re.findall(r"\w+", node.value))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            continue
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                name = alias.asname or alias.name.split(".")[0]
                if name != "*" and name not in used and alias.asname != alias.name:
                    yield node.lineno, f"{name} is imported and not used"


if __name__ == "__main__":
    main()
