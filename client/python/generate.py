"""Writes src/prism_results/_sync, the client that blocks, from _async. With --check it compares instead."""

from __future__ import annotations

import re
import sys
from pathlib import Path

SOURCE = Path(__file__).parent / "src" / "prism_results"
OWN = {"concurrency.py"}
"""What _sync has in a version of its own."""

WORDS = [
    (r"_async\b", "_sync"),
    (r"\bAwaitable\[(\w+(\.\w+)?)\]", r"\1"),
    (r"\bAsyncIterator\b", "Iterator"),
    (r"\bStopAsyncIteration\b", "StopIteration"),
    (r"\bAsyncBaseTransport\b", "BaseTransport"),
    (r"\bAsyncHTTPTransport\b", "HTTPTransport"),
    (r"\bAsync([A-Z]\w*)\b", r"\1"),
    (r"\b__a(enter|exit|iter|next)__\b", r"__\1__"),
    (r"\baclose\b", "close"),
    (r"\baiter_bytes\b", "iter_bytes"),
    (r"\b(async|await) ", ""),
    (r"import Awaitable, ", "import "),
    (r", Awaitable\b", ""),
]


def blocking(text: str) -> str:
    """The text of a module without its asynchronous words."""
    for pattern, word in WORDS:
        text = re.sub(pattern, word, text)
    return "# Written by generate.py; do not edit.\n" + text


def main(check: bool) -> int:
    """Write the modules, or name those that differ."""
    differ = []
    wanted = {path.name: blocking(path.read_text()) for path in (SOURCE / "_async").glob("*.py") if path.name not in OWN}
    for name, text in wanted.items():
        path = SOURCE / "_sync" / name
        if not path.exists() or path.read_text() != text:
            differ.append(name)
            if not check:
                path.write_text(text)
    differ += [path.name for path in (SOURCE / "_sync").glob("*.py") if path.name not in wanted | dict.fromkeys(OWN)]
    if check and differ:
        print("_sync is not that of _async; run generate.py:", ", ".join(sorted(differ)), file=sys.stderr)
    return 1 if check and differ else 0


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
