"""The examples of the README are run, in their order, against a Prism."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from prism_results import AsyncClient, Client
from tests.conftest import Prism

README = (Path(__file__).resolve().parents[1] / "README.md").read_text()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, prism: Prism) -> Path:
    """A folder and an environment in which a program finds the Prism."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PRISM_URL", prism.url)
    monkeypatch.setenv("PRISM_API_KEY", prism.key)
    return tmp_path


def test_the_examples_of_the_readme_run(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scope: dict[str, object] = {"__name__": "readme"}
    printed: list[str] = []
    for kind, text in re.findall(r"^```(\w+)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL):
        if kind == "python":
            exec(compile(text, "README.md", "exec"), scope)
            printed.append(capsys.readouterr().out)
        elif kind == "text":
            assert printed[-1] == text
    assert len(printed) >= 9
    client = scope["client"]
    assert isinstance(client, Client)
    client.close()
    rows = (folder / "answered.csv").read_text().splitlines()
    assert rows[0].startswith("id,review,prism_row,prism_result_id,prism_status,prism_error,topic")
    assert len(rows) == 3
    assert "Unknown fields" in "".join(printed) or "Missing fields" in "".join(printed)


def test_the_calls_of_the_readme_are_methods() -> None:
    (table,) = re.findall(r"^## Calls\n(.*?)^Each operation", README, re.MULTILINE | re.DOTALL)
    named = set(re.findall(r"`([a-z]+_[a-z_]+)`", table))
    assert len(named) > 40
    for name in named:
        assert hasattr(Client, name), name
        assert hasattr(AsyncClient, name), name
