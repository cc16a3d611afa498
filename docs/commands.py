#!/usr/bin/env python3
"""Runs the commands that a page of docs/ shows, and writes what they print below them.

usage: docs/commands.py PROGRAM PAGE.md [--check]

A command is a line of a console block that begins with "$ ", with the lines that a backslash continues; PROGRAM stands in for
"./dev run". Commands run one after the other in a folder of their own, in which docs/ is this one. --check only says whether
the page shows what the commands print.
"""
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

import page

DOCS = pathlib.Path(__file__).parent.resolve()
BLOCK = re.compile(r"(?<=^```console\n).*?(?=^```$)", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ (?:[^\n]*\\\n)*[^\n]*\n", re.MULTILINE)


def printed(program, command, folder):
    line = command.removeprefix("$ ").replace("./dev run", shlex.quote(program))
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    run = subprocess.run(["bash", "-o", "pipefail", "-c", line], cwd=folder, env={**environment, "LC_ALL": "C"},
                         capture_output=True, encoding="utf-8", check=False)
    if run.returncode != 0 or not run.stdout:
        sys.exit(f"{command}exit status {run.returncode}\n{run.stdout}{run.stderr}")
    return "".join(text.rstrip() + "\n" for text in run.stdout.splitlines())


def filled(program, path, folder):
    commands = 0

    def block(match):
        nonlocal commands
        found = COMMAND.findall(match[0])
        commands += len(found)
        return "".join(command + printed(program, command, folder) for command in found)

    text = BLOCK.sub(block, path.read_text(encoding="utf-8"))
    if commands == 0:
        sys.exit(f"{path} shows no command")
    return text


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    path = DOCS / sys.argv[2]
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "docs").symlink_to(DOCS)
        page.write_or_check(path, filled(program, path, folder))


if __name__ == "__main__":
    main()
