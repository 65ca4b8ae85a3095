"""A real Prism, and clients of both kinds."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal

from prism_results import AsyncClient, Client
from prism_results._core import Pauses
from tests.blocking import blocking
from tests.serving import Handler, serving

REPOSITORY = Path(__file__).resolve().parents[3]
KEY = "prism_0123456789abcdefghijklmnopqrstuvABCDEF"
SOON = Pauses(first=0.001, most=0.002)
"""Pauses of next to no time."""

Connect = Callable[..., Client]


@pytest.fixture(scope="session")
def portal() -> Iterator[BlockingPortal]:
    """An event loop in a thread."""
    with start_blocking_portal("asyncio") as one:
        yield one


@pytest.fixture(params=["blocking", "asynchronous"])
def connect(request: pytest.FixtureRequest, portal: BlockingPortal) -> Iterator[Connect]:
    """Makes a client, of either kind, that pauses for next to no time."""
    with ExitStack() as stack:

        def make(url: str, key: str = KEY, **options: Any) -> Client:
            if request.param == "blocking":
                client = Client(url, key, **options)
            else:
                client = blocking(portal, AsyncClient(url, key, **options))
            client._pause = client._poll = SOON
            return stack.enter_context(client)

        yield make


@pytest.fixture
def serve(connect: Connect) -> Iterator[Callable[[Handler], Client]]:
    """Makes a client of a server that the test is."""
    with ExitStack() as stack:
        yield lambda handle: connect(stack.enter_context(serving(handle)))


@dataclass
class Prism:
    """A running Prism, whose model "broken" refuses every call."""

    url: str
    key: str
    """Of the account demo, with the prism tickets."""
    operate: Callable[..., str]
    """Runs a command of its operator and returns the output."""

    def account(self, name: str) -> str:
        """Make an account, and return a key of it."""
        self.operate("account", "create", name)
        return self.operate("key", "create", "--account", name).strip()


@pytest.fixture(scope="session")
def prism(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prism]:
    """A Prism of the binary PRISM_BIN, or of `make build`, with an empty store and the offline model."""
    binary = os.environ.get("PRISM_BIN") or str(REPOSITORY / "bin" / "prism")
    folder = tmp_path_factory.mktemp("prism")
    with serving(lambda request: request.value(400, {"error": {"message": "no"}})) as upstream:
        models = folder / "models.yaml"
        models.write_text(
            "default: offline\nmodels:\n  - {name: offline, provider: offline, price: {currency: USD, input: 1, output: 2}}\n"
            f"  - {{name: broken, provider: openai-chat, model: none, base_url: {upstream}/v1}}\n"
        )
        settings = {"PRISM_DATA_DIR": str(folder / "store"), "PRISM_MODELS_FILE": str(models), "PRISM_LOG_LEVEL": "warn"}
        listen = {"PRISM_LISTEN": "127.0.0.1:0", "PRISM_ADMIN_LISTEN": "127.0.0.1:0"}

        def operate(*words: str) -> str:
            return subprocess.run([binary, *words], env=settings, capture_output=True, text=True, check=True).stdout

        with (folder / "log").open("wb") as log:
            process = subprocess.Popen([binary, "serve"], env=settings | listen, stdout=subprocess.PIPE, stderr=log, text=True)
        try:
            url = _started(process, folder / "log")
            yield Prism(url, operate("key", "create", "--account", "demo").strip(), operate)
        finally:
            process.terminate()
            process.wait(60)
            if process.stdout:
                process.stdout.close()


def _started(process: subprocess.Popen[str], log: Path) -> str:
    """The address that a start prints."""
    printed = ""
    for line in process.stdout or ():
        printed += line
        if url := re.search(r"listens at (http://\S+)", line):
            return url[1]
    raise AssertionError(f"prism did not start:\n{printed}{log.read_text()}")


@pytest.fixture
def account(prism: Prism, connect: Connect, request: pytest.FixtureRequest) -> Client:
    """A client of an account of its own."""
    return connect(prism.url, prism.account(request.node.name[:190]))
