"""The package that is installed is whole."""

from __future__ import annotations

from importlib.metadata import distribution

import pytest

import prism_results
from tests.conftest import REPOSITORY

FOLDER = REPOSITORY / "client" / "python"


def test_the_wheel_has_every_module_its_types_and_the_licence() -> None:
    package = distribution("prism-results")
    files = {str(path) for path in package.files or () if path.suffix != ".pyc"}
    sources = FOLDER / "src"
    wanted = {str(path.relative_to(sources)) for path in sources.rglob("*") if path.suffix == ".py" or path.name == "py.typed"}
    assert {path for path in files if path.startswith("prism_results/")} == wanted
    assert any(path.endswith(".dist-info/licenses/LICENSE") for path in files)
    metadata = package.metadata
    assert (metadata["License-Expression"], metadata["Requires-Python"]) == ("Apache-2.0", ">=3.10")
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert "# The Python client of Prism" in str(metadata.get_payload())  # type: ignore[attr-defined]
    assert not str(prism_results.__file__).startswith(str(sources)), "the tests are of the sources"


def test_every_exported_name_is_there() -> None:
    for name in prism_results.__all__:
        assert hasattr(prism_results, name), name
    assert len(set(prism_results.__all__)) == len(prism_results.__all__)


@pytest.mark.parametrize("kind", [prism_results.Client, prism_results.AsyncClient])
def test_every_method_says_what_it_does(kind: type) -> None:
    for name in dir(kind):
        if not name.startswith("_"):
            assert (getattr(kind, name).__doc__ or "").strip(), name
