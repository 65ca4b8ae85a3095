"""The asynchronous client with trio in place of asyncio."""

from __future__ import annotations

import anyio
import pytest

from prism_results import AsyncClient, ConflictError
from tests.conftest import KEY, SOON
from tests.fakefiles import FakeFiles
from tests.serving import Request, serving


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_parts_are_sent_and_lost_answers_repeated(backend: str) -> None:
    fake, lost = FakeFiles(), list[str]()

    def before(request: Request) -> bool:
        if request.method == "PUT" and request.path not in lost:
            lost.append(request.path)
            return False
        return True

    def refuse(request: Request) -> bool:
        request.error(409, "conflict")
        return False

    fake.before = before

    async def main(url: str) -> None:
        async with AsyncClient(url, KEY) as client:
            client._pause = client._poll = SOON
            assert (await client.upload_file(b"a\n" * 16, name="a.csv")).status == "ready"
            assert [one.id async for one in client.list_files()] == ["file-1"]
            fake.before = refuse
            with pytest.raises(ConflictError):
                await client.upload_file(b"b\n", name="b.csv")

    with serving(fake.handle) as url:
        anyio.run(main, url, backend=backend)
    assert len(lost) == 4
    fake.has(b"a\n" * 16)
