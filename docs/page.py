"""A page of docs/ that the program's answers fill: written, or with --check only compared."""
import sys


def write_or_check(path, text):
    """Ends with a message when the page at `path` should read `text` and does not."""
    if "--check" not in sys.argv[2:]:
        path.write_text(text, encoding="utf-8")
    elif path.read_text(encoding="utf-8") == text:
        print("up to date")
    else:
        sys.exit(f"{path} is out of date: run {sys.argv[0]} {sys.argv[1]}")
