#!/usr/bin/env python3
"""Runs the commands that docs/papers.md shows, and writes what they print below them.

usage: docs/papers.py PROGRAM [--check]

A command is a line of a console block that begins with "$ ", with the lines that a backslash continues; PROGRAM stands in for
"./dev run". --check only says whether the page shows what the commands print.
"""
import os
import pathlib
import re
import shlex
import subprocess
import sys

import page

PAGE = pathlib.Path(__file__).with_name("papers.md")
BLOCK = re.compile(r"(?<=^```console\n).*?(?=^```$)", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ (?:[^\n]*\\\n)*[^\n]*\n", re.MULTILINE)


def printed(program, command):
    line = command.removeprefix("$ ").replace("./dev run", shlex.quote(program))
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    run = subprocess.run(["bash", "-o", "pipefail", "-c", line], cwd=PAGE.parent.parent, env={**environment, "LC_ALL": "C"},
                         capture_output=True, encoding="utf-8", check=False)
    if run.returncode != 0 or not run.stdout:
        sys.exit(f"{command}exit status {run.returncode}\n{run.stdout}{run.stderr}")
    return "".join(text.rstrip() + "\n" for text in run.stdout.splitlines())


def filled(program, text):
    commands = 0

    def block(match):
        nonlocal commands
        found = COMMAND.findall(match[0])
        commands += len(found)
        return "".join(command + printed(program, command) for command in found)

    text = BLOCK.sub(block, text)
    if commands == 0:
        sys.exit(f"{PAGE} shows no command")
    return text


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    page.write_or_check(PAGE, filled(program, PAGE.read_text(encoding="utf-8")))


if __name__ == "__main__":
    main()
