"""The blocking client is written from the asynchronous one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1]


def test_the_blocking_client_is_that_of_the_asynchronous_one() -> None:
    subprocess.run([sys.executable, FOLDER / "generate.py", "--check"], check=True)


def test_the_blocking_client_awaits_nothing() -> None:
    for path in (FOLDER / "src" / "prism_results" / "_sync").glob("*.py"):
        words = path.read_text().lower()
        assert "async" not in words, path
        assert "await" not in words, path


def test_the_licence_is_that_of_the_repository() -> None:
    assert (FOLDER / "LICENSE").read_bytes() == (FOLDER.parents[1] / "LICENSE").read_bytes()
