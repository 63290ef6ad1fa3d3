#!/usr/bin/env python3
"""Blocks changes to production files.

stdin: a PreToolUse event. Exit 0 lets the file be changed, 2 blocks it, 1 says that it could not be checked.
"""

import json
import os
import sys
from fnmatch import fnmatchcase

# Names of files and folders, wherever they are in the project; * and ? as in a shell.
PROTECTED = (".env.production", "package-lock.json", ".git")


def main():
    try:
        event = json.loads(sys.stdin.buffer.read())
    except ValueError as error:
        sys.exit(f"file-guard: could not read the event: {error}")
    path = path_of(event)
    if path is None or not is_protected(path, event.get("cwd")):
        return
    answer = {
        "decision": "block",
        "reason": f"{path} is a protected file and was not changed. Leave it as it is, or ask the user to change it.",
        "systemMessage": f"Blocked a change to the protected file {path}",
    }
    print(json.dumps(answer))
    sys.exit(2)


def path_of(event):
    """The file that the tool would change; None where there is none."""
    tool_input = event.get("tool_input") if isinstance(event, dict) else None
    if not isinstance(tool_input, dict):
        return None
    paths = (tool_input.get(key) for key in ("file_path", "notebook_path"))
    return next((path for path in paths if isinstance(path, str) and path), None)


def is_protected(path, cwd):
    cwd = cwd if isinstance(cwd, str) else os.getcwd()
    project = os.environ.get("AMPLIFIER_PROJECT_DIR") or cwd
    whole = os.path.join(cwd, path)
    # As it is written, and where it leads: a harmless name may be a link.
    return any(
        fnmatchcase(part.casefold(), name.casefold())
        for resolve in (os.path.abspath, real_path)
        for part in inner_parts(resolve(whole), resolve(project))
        for name in PROTECTED
    )


def real_path(path):
    try:
        return os.path.realpath(path)
    except ValueError:  # a NUL, or half of a character: no file has such a name
        return os.path.abspath(path)


def inner_parts(path, project):
    """The folders above the project do not make a file protected."""
    inside = path.startswith(os.path.join(project, ""))
    return (path[len(project) :] if inside else path).split(os.sep)


if __name__ == "__main__":
    main()
