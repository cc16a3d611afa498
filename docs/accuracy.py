#!/usr/bin/env python3
"""Asks breakeven how close it comes to what was published and measured, and writes docs/accuracy.md.

usage: docs/accuracy.py PROGRAM [--check]

--check only says whether the page is up to date.
"""
import json
import pathlib
import subprocess
import sys

import page

PAGE = pathlib.Path(__file__).with_name("accuracy.md")
# Sources whose every case is worth a row.
CELL_BY_CELL = ["ddl-benchmarks", "espresso", "mergecomp", "user-reports"]


def ask(program, *arguments):
    # Exit status 1 means that a bound is broken: a page all the same, and a failing test elsewhere.
    answer = subprocess.run([program, "validate", "-q", *arguments], capture_output=True, text=True)
    if not answer.stdout:
        sys.exit(answer.stderr)
    return answer.stdout


def content(program):
    sources = json.loads(ask(program, "--format", "json"))["sources"]
    lines = ["# How close predictions come", "",
             "Made by `docs/accuracy.py` from `breakeven validate`; a test keeps it up to date. An error is relative to the stated value, or a",
             "difference in percentage points (pp). Each source's file under `profiles/published/` states its bound: `validate` exits with 1",
             "when it is broken. Sources of kind exact follow from somebody's equations or code and must agree to the printed digits; the",
             "others are other people's runs, asked with what they state, and the misses are shown rather than tuned away.", "",
             ask(program, "--format", "markdown").rstrip("\n"), "", "## The sources", ""]
    for source in sources:
        lines.append(f"- **{source['name']}**: {source['summary']}. {source['source']}.")
    for name in CELL_BY_CELL:
        lines += ["", f"## {name}, case by case", "", ask(program, name, "--format", "markdown").rstrip("\n")]
    return "\n".join(lines) + "\n"


def main():
    page.write_or_check(PAGE, content(sys.argv[1]))


if __name__ == "__main__":
    main()
